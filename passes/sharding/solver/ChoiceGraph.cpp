//===- ChoiceGraph.cpp - choices with costs of single ones and of pairs ----===//

#include "weft/passes/sharding/solver/ChoiceGraph.h"
#include "weft/base/Saturating.h"

#include <utility>

using namespace weft;

unsigned ChoiceGraph::addNode(std::vector<int64_t> costs) {
  nodes.push_back(std::move(costs));
  lowerEdges.emplace_back();
  higherEdges.emplace_back();
  return nodes.size() - 1;
}

void ChoiceGraph::addCost(unsigned node, unsigned label, int64_t cost) {
  int64_t &sum = nodes[node][label];
  sum = saturatingAdd(sum, cost);
}

PairCosts weft::transposed(const PairCosts &table) {
  PairCosts turned(table.columns, table.rows);
  for (unsigned row = 0; row < table.rows; ++row)
    for (unsigned column = 0; column < table.columns; ++column)
      turned.at(column, row) = table.at(row, column);
  return turned;
}

void ChoiceGraph::addEdge(unsigned rowNode, std::vector<unsigned> rowOf,
                          unsigned columnNode, std::vector<unsigned> columnOf,
                          const std::shared_ptr<const PairCosts> &table) {
  if (rowNode > columnNode) {
    addEdge(columnNode, std::move(columnOf), rowNode, std::move(rowOf),
            std::make_shared<PairCosts>(transposed(*table)));
    return;
  }
  higherEdges[rowNode].push_back(allEdges.size());
  lowerEdges[columnNode].push_back(allEdges.size());
  allEdges.push_back(
      {rowNode, columnNode, std::move(rowOf), std::move(columnOf), table});
}

int64_t ChoiceGraph::costOf(const std::vector<unsigned> &labels) const {
  int64_t cost = 0;
  for (unsigned node = 0; node < nodes.size(); ++node)
    cost = saturatingAdd(cost, nodes[node][labels[node]]);
  for (const Edge &edge : allEdges)
    cost =
        saturatingAdd(cost, edge.table->at(edge.rowOf[labels[edge.first]],
                                           edge.columnOf[labels[edge.second]]));
  return cost;
}
