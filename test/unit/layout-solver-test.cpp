//===- layout-solver-test.cpp - choices, cheapest and bounded --------------===//
//
// Small graphs are solved by trying every choice; a solution is valid if it
// costs what its labels cost, and a bound if no choice costs less. Random graphs
// have tables that labels share, forbidden choices and pairs, edges between the
// same nodes, and costs up to 2^54.
// Ladders of nodes with 125 labels are solved by elimination.
//
//===----------------------------------------------------------------------===//

#include "weft/passes/sharding/solver/Elimination.h"
#include "weft/passes/sharding/solver/LeastSums.h"
#include "weft/passes/sharding/solver/Reduction.h"
#include "weft/passes/sharding/solver/Solve.h"
#include "weft/test/unit/RandomGraphs.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <random>

using namespace weft;
using namespace weft::test;

namespace {
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
  constexpr unsigned kGraphs = 10'000;
  for (unsigned seed = 0; seed < kGraphs; ++seed) {
    RandomGraph random(seed);
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
  CHECK(optimal == kGraphs);
  CHECK(passed >= kGraphs * 98 / 100);
}

/// Checks that the solver finds the least cost of a graph, and proves it.
static void checkSolved(const ChoiceGraph &graph, int64_t best) {
  Solution solution =
      solve(graph, std::vector<unsigned>(graph.size()), kToTheEnd);
  CHECK(solution.cost == best);
  CHECK(solution.bound == best);
}

TEST_CASE("graphs of up to 10^6 choices are solved as by trying every one") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    RandomGraph random(seed,
                       {.leastNodes = 8, .nodes = 10, .labels = 4, .band = 3});
    INFO("seed " << seed);
    checkSolved(random.graph, cheapest(random.graph));
  }
}

using Wide128 = __int128;

/// Whether a node has an edge to one behind `last`.
static bool reachesBeyond(const ChoiceGraph &graph, unsigned node,
                          unsigned last) {
  return std::any_of(
      graph.higher(node).begin(), graph.higher(node).end(),
      [&](unsigned edge) { return graph.edges()[edge].second > last; });
}

/// The cost of the cheapest choice, node by node in their order: for the labels of
/// those that have an edge to a later one, what the nodes so far cost at least.
static int64_t cheapestInOrder(const ChoiceGraph &graph) {
  using Labels = std::map<unsigned, unsigned>; // by node
  std::map<Labels, int64_t> least{{{}, 0}};
  for (unsigned node = 0; node < graph.size(); ++node) {
    std::map<Labels, int64_t> next;
    for (const auto &[before, sum] : least)
      for (unsigned label = 0; label < graph.costs(node).size(); ++label) {
        Wide128 cost = Wide128(sum) + graph.costs(node)[label];
        for (unsigned index : graph.lower(node)) {
          const ChoiceGraph::Edge &edge = graph.edges()[index];
          cost += edge.table->at(edge.rowOf[before.at(edge.first)],
                                 edge.columnOf[label]);
        }
        Labels kept;
        for (auto [one, its] : before)
          if (reachesBeyond(graph, one, node))
            kept[one] = its;
        if (reachesBeyond(graph, node, node))
          kept[node] = label;
        auto [entry, fresh] = next.try_emplace(kept, kForbidden);
        entry->second = int64_t(std::min<Wide128>(entry->second, cost));
      }
    least = std::move(next);
  }
  return least.begin()->second;
}

TEST_CASE("graphs of up to 40 nodes are solved as node by node") {
  for (unsigned seed = 0; seed < 500; ++seed) {
    RandomGraph random(seed,
                       {.leastNodes = 20, .nodes = 40, .labels = 6, .band = 3});
    INFO("seed " << seed);
    checkSolved(random.graph, cheapestInOrder(random.graph));
  }
}

TEST_CASE("elimination takes the labels that are left, and knows its limits") {
  for (unsigned seed = 0; seed < 500; ++seed) {
    RandomGraph random(seed);
    std::vector<std::vector<unsigned>> all;
    for (unsigned node = 0; node < random.graph.size(); ++node) {
      all.emplace_back();
      for (unsigned label = 0; label < random.graph.costs(node).size(); ++label)
        all.back().push_back(label);
    }
    INFO("seed " << seed);
    auto labels = eliminate(random.graph, all);
    REQUIRE(labels);
    CHECK(random.graph.costOf(*labels) == cheapest(random.graph));
    // One label of a node: that of the choice.
    all[0] = {(*labels)[0]};
    auto again = eliminate(random.graph, all);
    REQUIRE(again);
    CHECK((*again)[0] == (*labels)[0]);
    CHECK(random.graph.costOf(*again) == random.graph.costOf(*labels));
    CHECK(!eliminate(random.graph, all, {.entries = 0}));
    CHECK(!eliminate(random.graph, all, {.sums = 0}));
  }
}

TEST_CASE("a reduced graph's cheapest choice is completed to a cheapest one") {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    RandomGraph random(seed);
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

/// Two rows of nodes with many labels, each with an edge to the next and to the
/// one below. Labels are places on a grid, and a pair costs what a step along
/// each of its three directions does, as moves between layouts do.
struct Ladder {
  static constexpr unsigned kSide = 5, kLabels = kSide * kSide * kSide;
  explicit Ladder(unsigned length, unsigned seed) : length(length) {
    std::mt19937 numbers(seed);
    std::vector<unsigned> own(kLabels);
    for (unsigned label = 0; label < kLabels; ++label)
      own[label] = label;
    auto moves = std::make_shared<PairCosts>(kLabels, kLabels);
    for (unsigned from = 0; from < kLabels; ++from)
      for (unsigned to = 0; to < kLabels; ++to)
        for (unsigned part = 1; part < kLabels; part *= kSide)
          if (from / part % kSide != to / part % kSide)
            moves->at(from, to) += 10 * part + to / part % kSide;
    table = moves;
    for (unsigned node = 0; node < 2 * length; ++node) {
      std::vector<int64_t> costs(kLabels);
      for (int64_t &cost : costs)
        cost = numbers() % 200;
      graph.addNode(std::move(costs));
      if (node >= 2)
        graph.addEdge(node - 2, own, node, own, table);
      if (node % 2 == 1)
        graph.addEdge(node - 1, own, node, own, table);
    }
  }

  /// The cost of the cheapest choice, node by node: for each pair of labels of
  /// the last two nodes, what the nodes so far cost at least.
  int64_t cheapest() const {
    std::vector<int64_t> least;
    for (unsigned upper = 0; upper < kLabels; ++upper)
      for (unsigned lower = 0; lower < kLabels; ++lower)
        least.push_back(graph.costs(0)[upper] + graph.costs(1)[lower] +
                        table->at(upper, lower));
    for (unsigned node = 2; node < 2 * length; ++node)
      least = after(least, node);
    return *std::min_element(least.begin(), least.end());
  }

  /// `least` with one more node, whose row's last node drops out.
  std::vector<int64_t> after(const std::vector<int64_t> &least,
                             unsigned node) const {
    std::vector<int64_t> next(least.size(), kForbidden);
    for (unsigned out = 0; out < kLabels; ++out)
      for (unsigned kept = 0; kept < kLabels; ++kept)
        for (unsigned in = 0; in < kLabels; ++in) {
          int64_t below = node % 2 == 1 ? table->at(kept, in) : 0;
          int64_t &known = next[kept * kLabels + in];
          known =
              std::min(known, least[out * kLabels + kept] + table->at(out, in) +
                                  below + graph.costs(node)[in]);
        }
    return next;
  }

  unsigned length;
  ChoiceGraph graph;
  std::shared_ptr<const PairCosts> table;
};

TEST_CASE("choices of 125 labels are solved as by elimination") {
  // Message passing has near sweeps between exact ones here, and the reduction
  // joins tables of 125 rows.
  constexpr unsigned kLength = 6;
  for (unsigned seed = 0; seed < 3; ++seed) {
    INFO("seed " << seed);
    Ladder ladder(kLength, seed);
    std::vector<unsigned> start(ladder.graph.size());
    int64_t best = ladder.cheapest();
    Solution exact = solve(ladder.graph, start, kToTheEnd);
    CHECK(exact.cost == best);
    CHECK(exact.bound == best);
    Solution passed = passMessages(ladder.graph, start, kToTheEnd);
    CHECK(passed.cost == ladder.graph.costOf(passed.labels));
    CHECK(passed.cost >= best);
    CHECK(passed.cost <= best + best / 50);
    CHECK(passed.bound <= best);
    CHECK(passed.bound >= best - best / 50);
  }
}

TEST_CASE("near sums are never too low, and equal where nothing changed") {
  std::mt19937 numbers(7);
  constexpr unsigned kRows = kManyRows + 30, kColumns = 90;
  constexpr int64_t kMost = 1000;
  PairCosts table(kRows, kColumns);
  for (int64_t &cost : table.costs)
    cost = numbers() % 500;
  std::vector<int64_t> from(kRows), to(kColumns), near(kColumns);
  for (int64_t &cost : from)
    cost = numbers() % 300;
  SumSources sources;
  leastSums(table, from, kMost, to, sources);
  for (unsigned column = 0; column < kColumns; ++column) {
    int64_t row = sources.rows[column];
    CHECK(sources.costs[column] == table.at(row, column));
    CHECK(to[column] == from[row] + table.at(row, column));
  }
  nearSums(table, from, kMost, near, sources);
  CHECK(near == to);
  for (unsigned row = 0; row < kRows; row += 3)
    from[row] = numbers() % 300;
  leastSums(table, from, kMost, to);
  nearSums(table, from, kMost, near, sources);
  for (unsigned column = 0; column < kColumns; ++column)
    CHECK(near[column] >= to[column]);
  // The cheapest rows are seen at once.
  from[5] = from[50] = -1000;
  leastSums(table, from, kMost, to);
  nearSums(table, from, kMost, near, sources);
  CHECK(near == to);
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
