//===- Reduction.h - a graph without the nodes that are decided last -------===//
//
// A node with one or two neighbours has, for each of their labels, a cheapest
// label of its own. Without it the graph is smaller, and its best choice is as
// cheap:
//
//   a - n - b     becomes  a - b     costs: the least over the labels of n
//   a - n         becomes  a         the least is added to the labels of a
//   a = b         becomes  a - b     two edges between the same nodes, one
//
// Elementwise chains and what hangs on one value vanish so. The steps for equal
// tables are made once, since the layers of a model repeat them.
//
//   Reduction reduction(graph);
//   Solution solution = solve(reduction.rest(), reduction.restOf(start));
//   reduction.complete(solution.labels)     one label for each node of `graph`
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_SOLVER_REDUCTION_H
#define WEFT_PASSES_SHARDING_SOLVER_REDUCTION_H

#include "weft/passes/sharding/solver/ChoiceGraph.h"

#include <map>
#include <tuple>

namespace weft {

class Reduction {
public:
  explicit Reduction(const ChoiceGraph &graph [[clang::lifetimebound]]);

  /// The graph of the remaining nodes, which may be none.
  const ChoiceGraph &rest() const { return remaining; }
  /// The labels of the remaining nodes.
  std::vector<unsigned> restOf(const std::vector<unsigned> &labels) const;
  /// The cheapest labels of all nodes if the remaining ones have `labels`.
  std::vector<unsigned> complete(const std::vector<unsigned> &labels) const;
  /// What every choice costs in addition to that of the remaining nodes.
  int64_t offset() const { return constant; }

private:
  /// One end of an edge as seen from a node.
  using Places = std::vector<unsigned>;
  using Table = std::shared_ptr<const PairCosts>;
  using Edge = ChoiceGraph::Edge;
  struct Removed {
    unsigned node = 0;
    std::vector<int64_t> costs;
    std::vector<Edge> edges;
  };

  void take(unsigned node);
  void fold(unsigned node);
  void join(unsigned node);
  bool mergeParallel(unsigned node);
  void merge(unsigned first, unsigned second);
  void addEdge(Edge edge);
  void dropEdge(unsigned edge);
  bool isSmall(unsigned node) const;
  unsigned otherEnd(unsigned edge, unsigned node) const;
  void build();

  const ChoiceGraph &graph;
  ChoiceGraph remaining;
  int64_t constant = 0;
  std::vector<std::vector<int64_t>> costs;
  std::vector<Edge> edges;
  std::vector<std::vector<unsigned>> edgesOf;
  std::vector<bool> isGone;
  std::vector<unsigned> waiting;
  std::vector<Removed> removed;       ///< in order of removal
  std::vector<unsigned> numberInRest; ///< only of nodes that remain
  std::map<std::tuple<Table, Places, bool, std::vector<int64_t>, Table, Places,
                      bool>,
           Table>
      joined;
  std::map<std::tuple<Table, Table, Places, Places, Places, Places>, Edge>
      merged;
};

} // namespace weft

#endif // WEFT_PASSES_SHARDING_SOLVER_REDUCTION_H
