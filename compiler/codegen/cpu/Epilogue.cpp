//===- Epilogue.cpp - ops on a tile's sums before they are stored ---------===//

#include "weft/compiler/codegen/cpu/Epilogue.h"

#include "weft/compiler/codegen/elements/ScalarOps.h"
#include "weft/dialects/nest/Epilogue.h"

using namespace mlir;
using namespace weft::elements;

namespace weft::cpu {

Epilogue::Epilogue(KernelEmitter &kernel, nest::LoopsOp loops)
    : e(kernel.elements), sums(loops.getNestOp()->getResult(0)),
      values(nest::epilogueOf(loops)),
      isFlat(nest::isFlat(
          values,
          [&](Value value) { return value == sums || e.isInMemory(value); })),
      keepsSums(
          llvm::any_of(llvm::zip_equal(loops.getStored(), loops.getResults()),
                       [&](auto stored) {
                         return std::get<0>(stored) == sums &&
                                !std::get<1>(stored).use_empty();
                       })) {}

/// The position of an element of a row: the row's start plus the column.
ElementIndex Epilogue::indexOf(Value start, Value column, ArrayRef<Value> row) {
  if (isFlat)
    return e.makeFlatIndex(e.add(start, column), e.depth());
  SmallVector<Value> dims(row);
  Value &inner = dims[nest::innermostDim(typeOf(sums))];
  inner = e.add(inner, column);
  return e.makeIndex(dims, e.depth());
}

LogicalResult Epilogue::emit(const SummedTile &tile, Value columns) {
  Value zero = e.constant(0), one = e.constant(1);
  return e.loop(zero, tile.rows, one, [&](Value row) {
    e.markPlain();
    Value start = tile.start(row);
    SmallVector<Value> dims;
    if (!isFlat)
      dims = e.positionsOf(start, typeOf(sums).getShape());
    return e.loop(zero, columns, one, [&](Value column) {
      e.markParallel();
      return emitElement(tile, row, column, start,
                         indexOf(start, column, dims));
    });
  });
}

LogicalResult Epilogue::emitElement(const SummedTile &tile, Value row,
                                    Value column, Value start,
                                    const ElementIndex &index) {
  Type type = typeOf(sums).getElementType();
  Value at = e.add(start, column), waits = e.memoryOf(sums);
  Value sum = e.load(tile.buffer, type, e.add(e.mul(row, tile.width), column));
  if (tile.adds)
    sum = emitCombine(e.builder, e.loc, ReduceKind::Sum, type, sum,
                      e.load(waits, type, at));
  e.setElement(sums, index, sum);
  FailureOr<SmallVector<Value>> results = e.storedElements(values, index);
  if (failed(results))
    return failure();
  if (keepsSums)
    e.store(sum, waits, type, at);
  for (auto [value, result] : llvm::zip_equal(values, *results))
    e.store(result, e.memoryOf(value), typeOf(value).getElementType(), at);
  return success();
}

} // namespace weft::cpu
