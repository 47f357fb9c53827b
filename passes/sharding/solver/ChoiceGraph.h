//===- ChoiceGraph.h - choices with costs of single ones and of pairs ------===//
//
// Plain C++, no IR. Worked example: two ops and the value between them. The
// first op may run by rows or by columns (labels 0 and 1), so may the second,
// and the value may lie by rows or by columns. A change costs 72, and the
// second op costs 10 more by columns:
//
//   ChoiceGraph graph;
//   unsigned first = graph.addNode({0, 0}), value = graph.addNode({0, 0});
//   unsigned second = graph.addNode({0, 10});
//   auto change = std::make_shared<PairCosts>(2, 2);   0 72 / 72 0
//   graph.addEdge(first, {0, 1}, value, {0, 1}, change);
//   graph.addEdge(value, {0, 1}, second, {0, 1}, change);
//
// The cheapest choice is all by rows, at 0. Each edge says which row and column
// of its table a label stands for, so that labels with one layout of a tensor
// share a row, and the edges of all layers of a model share tables.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_SOLVER_CHOICEGRAPH_H
#define WEFT_PASSES_SHARDING_SOLVER_CHOICEGRAPH_H

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace weft {

/// The cost of what may not be chosen.
constexpr int64_t kForbidden = std::numeric_limits<int64_t>::max();

/// The cost of each pair of a row and a column. Costs are not negative.
struct PairCosts {
  unsigned rows = 0, columns = 0;
  std::vector<int64_t> costs;

  PairCosts(unsigned rows, unsigned columns)
      : rows(rows), columns(columns), costs(size_t(rows) * columns) {}
  int64_t at(unsigned row, unsigned column) const {
    return costs[size_t(row) * columns + column];
  }
  const int64_t *rowAt(unsigned row) const {
    return costs.data() + size_t(row) * columns;
  }
  int64_t &at(unsigned row, unsigned column) {
    return costs[size_t(row) * columns + column];
  }
};

/// The table with rows and columns exchanged.
PairCosts transposed(const PairCosts &table);

class ChoiceGraph {
public:
  struct Edge {
    unsigned first = 0, second = 0;        ///< first < second
    std::vector<unsigned> rowOf, columnOf; ///< one for each label
    std::shared_ptr<const PairCosts> table;
  };

  /// Adds a node with one cost for each of its labels, at least one.
  unsigned addNode(std::vector<int64_t> costs);
  /// Adds to the cost of a label; what is forbidden stays so.
  void addCost(unsigned node, unsigned label, int64_t cost);
  /// Adds the costs of pairs of two different nodes: those of the labels' row
  /// and column.
  void addEdge(unsigned rowNode, std::vector<unsigned> rowOf,
               unsigned columnNode, std::vector<unsigned> columnOf,
               const std::shared_ptr<const PairCosts> &table);

  size_t size() const { return nodes.size(); }
  const std::vector<int64_t> &costs(unsigned node) const { return nodes[node]; }
  const std::vector<Edge> &edges() const { return allEdges; }
  /// The numbers of the edges of a node, to lower nodes and to higher ones.
  const std::vector<unsigned> &lower(unsigned node) const {
    return lowerEdges[node];
  }
  const std::vector<unsigned> &higher(unsigned node) const {
    return higherEdges[node];
  }
  /// The cost of one label for each node; kForbidden if some of it is.
  int64_t costOf(const std::vector<unsigned> &labels) const;

private:
  std::vector<std::vector<int64_t>> nodes;
  std::vector<Edge> allEdges;
  std::vector<std::vector<unsigned>> lowerEdges, higherEdges;
};

} // namespace weft

#endif // WEFT_PASSES_SHARDING_SOLVER_CHOICEGRAPH_H
