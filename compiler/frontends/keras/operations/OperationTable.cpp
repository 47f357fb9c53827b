//===- OperationTable.cpp - the functions of keras.ops --------------------===//

#include "weft/compiler/frontends/keras/operations/Operation.h"

using namespace weft::keras;

const Table<Layer> &weft::keras::operationTable() {
  static const Table<Layer> table = [] {
    std::vector<TableRow> rows;
    for (auto family :
         {elementwiseOperations, trigonometricOperations, binaryOperations,
          logicalOperations, reductionOperations, cumulativeOperations,
          shapeOperations, joiningOperations, indexingOperations,
          contractionOperations, activationOperations, networkOperations,
          imageOperations})
      for (OperationRow &row : family())
        rows.push_back(
            {row.name, [row] { return std::make_shared<Operation>(row); }});
    return Table<Layer>{{"operation", "operations", std::move(rows)}};
  }();
  return table;
}
