//===- layout-solver-test.cpp - choices, cheapest and bounded --------------===//
//
// Small graphs are solved by trying every choice; a solution is valid if it
// costs what its labels cost, and a bound if no choice costs less. Random graphs
// have tables that labels share, forbidden choices and pairs, edges between the
// same nodes, and costs up to 2^54.
//
//===----------------------------------------------------------------------===//

#include "weft/passes/sharding/solver/Reduction.h"
#include "weft/passes/sharding/solver/Solve.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

using namespace weft;

namespace {
/// A random graph and the first choice of each node.
struct Random {
  explicit Random(unsigned seed) : numbers(seed) {
    large = below(3) == 0;
    unsigned nodes = 2 + below(6), edges = below(2 * nodes);
    for (unsigned node = 0; node < nodes; ++node)
      addNode();
    for (unsigned edge = 0; edge < edges; ++edge)
      addEdge(below(nodes), below(nodes));
  }
  unsigned below(unsigned limit) { return numbers() % limit; }
  int64_t cost(unsigned oneIn) {
    if (below(oneIn) == 0)
      return kForbidden;
    return large ? int64_t(numbers()) << 22 : below(100);
  }
  void addNode() {
    std::vector<int64_t> costs{int64_t(below(100))};
    for (unsigned more = below(4); more > 0; --more)
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
  ChoiceGraph graph;
};

/// The cost of the cheapest choice, by trying all.
int64_t cheapest(const ChoiceGraph &graph) {
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

constexpr SolveLimits kToTheEnd = {.sweeps = 64, .gapBits = 60};
} // namespace

TEST_CASE("the example of ChoiceGraph.h is solved and proved") {
  ChoiceGraph graph;
  unsigned first = graph.addNode({0, 0}), value = graph.addNode({0, 0});
  unsigned second = graph.addNode({0, 10});
  auto change = std::make_shared<PairCosts>(2, 2);
  change->at(0, 1) = change->at(1, 0) = 72;
  graph.addEdge(first, {0, 1}, value, {0, 1}, change);
  graph.addEdge(value, {0, 1}, second, {0, 1}, change);
  Solution solution = solve(graph, {1, 1, 1});
  CHECK(solution.labels == std::vector<unsigned>{0, 0, 0});
  CHECK(solution.cost == 0);
  CHECK(solution.bound == 0);
  CHECK(graph.costOf({1, 1, 1}) == 10);
  // A chain is reduced to nothing.
  CHECK(Reduction(graph).rest().size() == 0);
}

TEST_CASE("a start that is as cheap as any choice is kept") {
  ChoiceGraph graph;
  graph.addNode({5, 5});
  CHECK(solve(graph, {1}).labels == std::vector<unsigned>{1});
}

TEST_CASE("random graphs are solved as by trying every choice") {
  unsigned optimal = 0, passed = 0;
  constexpr unsigned kGraphs = 6000;
  for (unsigned seed = 0; seed < kGraphs; ++seed) {
    Random random(seed);
    const ChoiceGraph &graph = random.graph;
    int64_t best = cheapest(graph);
    std::vector<unsigned> start(graph.size());
    INFO("seed " << seed);
    Solution solution = solve(graph, start, kToTheEnd);
    REQUIRE(solution.cost == graph.costOf(solution.labels));
    REQUIRE(solution.cost >= best);
    REQUIRE(solution.bound <= best);
    optimal += solution.cost == best;
    // Message passing alone bounds as well.
    Solution alone = passMessages(graph, start, kToTheEnd);
    REQUIRE(alone.cost == graph.costOf(alone.labels));
    REQUIRE(alone.cost >= best);
    REQUIRE(alone.bound <= best);
    passed += alone.cost == best;
  }
  CHECK(optimal >= kGraphs - 5);
  CHECK(passed >= kGraphs * 98 / 100);
}

TEST_CASE("a reduced graph's cheapest choice is completed to a cheapest one") {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    Random random(seed);
    Reduction reduction(random.graph);
    const ChoiceGraph &rest = reduction.rest();
    int64_t best = cheapest(random.graph);
    INFO("seed " << seed);
    int64_t restBest = cheapest(rest);
    if (best == kForbidden)
      continue;
    REQUIRE(restBest + reduction.offset() == best);
    Solution solution =
        passMessages(rest, std::vector<unsigned>(rest.size()), kToTheEnd);
    std::vector<unsigned> all = reduction.complete(solution.labels);
    REQUIRE(random.graph.costOf(all) ==
            (solution.cost == kForbidden ? kForbidden
                                         : solution.cost + reduction.offset()));
  }
}

TEST_CASE("the gap closes along a long chain of loops") {
  // 2,000 squares in a row: each node wants its neighbours' label, and the two
  // ends want different ones.
  ChoiceGraph graph;
  auto differ = std::make_shared<PairCosts>(3, 3);
  for (unsigned row = 0; row < 3; ++row)
    for (unsigned column = 0; column < 3; ++column)
      differ->at(row, column) = row == column ? 0 : 10;
  constexpr unsigned kSquares = 2000;
  const std::vector<unsigned> same{0, 1, 2};
  graph.addNode({0, 1000, 1000});
  graph.addNode({0, 1000, 1000});
  for (unsigned square = 1; square <= kSquares; ++square) {
    bool isLast = square == kSquares;
    unsigned a = graph.addNode({isLast * 1000, 1, isLast ? 0 : 1});
    unsigned b = graph.addNode({isLast * 1000, 1, isLast ? 0 : 1});
    graph.addEdge(a - 2, same, a, same, differ);
    graph.addEdge(b - 2, same, b, same, differ);
    graph.addEdge(a, same, b, same, differ);
  }
  Solution solution =
      solve(graph, std::vector<unsigned>(graph.size()), kToTheEnd);
  CHECK(solution.cost == 20);
  CHECK(solution.bound >= 19);
}
