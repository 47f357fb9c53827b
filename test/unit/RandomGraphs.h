//===- RandomGraphs.h - random graphs of choices, and their optimum ---------===//
//
//   RandomGraph random(seed, {.nodes = 12, .labels = 6});
//   cheapest(random.graph)      by trying every choice
//
// Tables are shared by labels, some choices and pairs are forbidden, there are
// edges between the same nodes, and costs go up to 2^54.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_UNIT_RANDOMGRAPHS_H
#define WEFT_TEST_UNIT_RANDOMGRAPHS_H

#include "weft/passes/sharding/solver/ChoiceGraph.h"

#include <algorithm>
#include <memory>
#include <random>
#include <utility>

namespace weft::test {

struct RandomSize {
  unsigned leastNodes = 2, nodes = 7, labels = 4; ///< at most
  /// The most nodes between the ends of an edge; 0: any.
  unsigned band = 0;
};

/// A random graph and the first choice of each node.
struct RandomGraph {
  explicit RandomGraph(unsigned seed, RandomSize size = {}) : numbers(seed) {
    large = below(3) == 0;
    mostLabels = size.labels;
    unsigned nodes = size.leastNodes + below(size.nodes - size.leastNodes + 1);
    unsigned edges = below(2 * nodes);
    for (unsigned node = 0; node < nodes; ++node)
      addNode();
    for (unsigned edge = 0; edge < edges; ++edge) {
      unsigned one = below(nodes);
      addEdge(one,
              size.band ? (one + 1 + below(size.band)) % nodes : below(nodes));
    }
  }
  unsigned below(unsigned limit) { return numbers() % limit; }
  int64_t cost(unsigned oneIn) {
    if (below(oneIn) == 0)
      return kForbidden;
    return large ? int64_t(numbers()) << 22 : below(100);
  }
  void addNode() {
    std::vector<int64_t> costs{int64_t(below(100))};
    for (unsigned more = below(mostLabels); more > 0; --more)
      costs.push_back(cost(20));
    graph.addNode(std::move(costs));
  }
  std::vector<unsigned> places(unsigned node, unsigned count) {
    std::vector<unsigned> all;
    for (size_t label = 0; label < graph.costs(node).size(); ++label)
      all.push_back(below(count));
    return all;
  }
  void addEdge(unsigned a, unsigned b) {
    if (a == b)
      return;
    unsigned rows = 1 + below(graph.costs(a).size());
    unsigned columns = 1 + below(graph.costs(b).size());
    auto table = std::make_shared<PairCosts>(rows, columns);
    for (int64_t &one : table->costs)
      one = cost(15);
    std::vector<unsigned> rowOf = places(a, rows);
    graph.addEdge(a, rowOf, b, places(b, columns), table);
  }

  std::mt19937 numbers;
  bool large = false;
  unsigned mostLabels = 4;
  ChoiceGraph graph;
};

/// The cost of the cheapest choice, by trying all.
inline int64_t cheapest(const ChoiceGraph &graph) {
  std::vector<unsigned> labels(graph.size());
  int64_t least = kForbidden;
  for (;;) {
    least = std::min(least, graph.costOf(labels));
    unsigned node = 0;
    while (node < graph.size() && ++labels[node] == graph.costs(node).size())
      labels[node++] = 0;
    if (node == graph.size())
      return least;
  }
}

} // namespace weft::test

#endif // WEFT_TEST_UNIT_RANDOMGRAPHS_H
