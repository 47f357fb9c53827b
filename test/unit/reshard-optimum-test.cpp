//===- reshard-optimum-test.cpp - every pair against the optimum ----------===//
//
// Each plan is executed on arrays. With exchanges it must move as many bytes as
// the lower bound, without them as many as the best chain of standard
// collectives, which Dijkstra's algorithm finds over all layouts
// (CollectiveGraph.h).
//
//===----------------------------------------------------------------------===//

#include "weft/passes/sharding/resharding/Resharding.h"
#include "weft/test/unit/CollectiveGraph.h"
#include "weft/test/unit/ReshardSimulator.h"

#include "catch2/catch.hpp"

using namespace weft;

namespace {
Mesh meshOf(const char *text) {
  Mesh mesh;
  REQUIRE(parseMesh(text, mesh) == "");
  return mesh;
}

/// Checks plans for elements of one byte, so that bytes are elements, and
/// counts them.
struct Check {
  const Mesh &mesh;
  llvm::ArrayRef<int64_t> shape;
  int64_t pairs = 0, atBound = 0;
  double worst = 1;

  std::string text(const Layout &from, const Layout &to,
                   const ReshardPlan &plan) const {
    std::string result =
        toCommandText(mesh, from) + " -> " + toCommandText(mesh, to) + "\n";
    for (const ReshardStep &step : plan.steps)
      result += stringifyStepKind(step.kind).str() + " " +
                std::to_string(step.bytes) + " " +
                toCommandText(mesh, step.result) + "\n";
    return result;
  }
  ReshardPlan plan(const Layout &from, const Layout &to, bool exchange) const {
    ReshardOptions options;
    options.allowExchange = exchange;
    options.allowPlace = false; // no node of the graph
    options.fewestBytes = options.thorough = true;
    ReshardPlan plan = planReshard(mesh, shape, 1, from, to, options);
    std::string wrong = simulate(mesh, shape, from, to, plan);
    if (!wrong.empty())
      FAIL(text(from, to, plan) << wrong);
    if (!plan.optimal)
      FAIL(text(from, to, plan) << "is not proved optimal");
    return plan;
  }
  void withExchange(const Layout &from, const Layout &to) const {
    ReshardPlan best = plan(from, to, true);
    int64_t bound = receiveLowerBound(mesh, from, to, shape);
    if (best.bytesReceived != bound || best.lowerBound != bound)
      FAIL(text(from, to, best) << best.bytesReceived << " for " << bound);
  }
  void withoutExchange(const Layout &from, const Layout &to, int64_t optimum,
                       const std::string &chain) {
    ReshardPlan best = plan(from, to, false);
    if (best.bytesReceived != optimum)
      FAIL(text(from, to, best)
           << best.bytesReceived << ", the optimum is " << optimum << chain);
    ++pairs;
    atBound += best.bytesReceived == best.lowerBound;
    if (best.lowerBound > 0)
      worst = std::max(worst, double(optimum) / best.lowerBound);
  }
};

/// Checks all pairs of layouts without partial axes.
Check checkEveryPair(const char *text, llvm::ArrayRef<int64_t> shape) {
  Mesh mesh = meshOf(text);
  CollectiveGraph graph(mesh, shape);
  Check check{mesh, shape};
  for (size_t from = 0; from < graph.all().size(); ++from) {
    CollectiveGraph::Distances best = graph.distances(from);
    for (size_t to = 0; to < graph.all().size(); ++to) {
      if (from == to)
        continue;
      check.withExchange(graph.layout(from), graph.layout(to));
      check.withoutExchange(graph.layout(from), graph.layout(to),
                            best.elements[to], graph.chain(from, to, best));
    }
  }
  return check;
}

/// Checks all pairs from a layout that is partial over `summands` to one that
/// is partial over some of them, over some of `made`, over both, or not
/// partial.
Check checkPartial(const char *text, llvm::ArrayRef<int64_t> shape,
                   llvm::ArrayRef<SubAxis> summands,
                   llvm::ArrayRef<SubAxis> made) {
  Mesh mesh = meshOf(text);
  CollectiveGraph graph(mesh, shape, summands, made);
  Check check{mesh, shape};
  for (size_t from = 0; from < graph.all().size(); ++from) {
    if (!graph.isSource(from))
      continue;
    CollectiveGraph::Distances best = graph.distances(from);
    // Nodes with other summands of the source and of the target may have the
    // same layout; the nearest one counts.
    std::map<std::string, size_t> nearest;
    for (size_t to = 0; to < graph.all().size(); ++to) {
      size_t &node = nearest.try_emplace(toString(mesh, graph.layout(to)), to)
                         .first->second;
      if (best.elements[to] < best.elements[node])
        node = to;
    }
    for (const auto &[name, to] : nearest)
      if (!(graph.layout(to) == graph.layout(from)))
        check.withoutExchange(graph.layout(from), graph.layout(to),
                              best.elements[to], graph.chain(from, to, best));
  }
  return check;
}
} // namespace

TEST_CASE("all 11130 pairs of a rank 3 tensor on 2x2x2") {
  Check even = checkEveryPair("x=2,y=2,z=2", {8, 8, 8});
  CHECK(even.pairs == 11130);
  // These plans are at the lower bound of bytes. For the other pairs a chain
  // costs more than an exchange.
  CHECK(even.atBound == 5406);
  CHECK(even.worst < 2.34);
}

TEST_CASE("all 11130 uneven pairs of a rank 3 tensor on 2x2x2") {
  Check odd = checkEveryPair("x=2,y=2,z=2", {5, 7, 3});
  CHECK(odd.pairs == 11130);
}

TEST_CASE("all pairs of a rank 2 tensor on 2x3 and 4x2") {
  for (const char *mesh : {"x=2,y=3", "x=4,y=2"})
    for (std::array<int64_t, 2> shape :
         {std::array<int64_t, 2>{24, 24}, {7, 5}, {2, 9}, {13, 6}}) {
      Check check = checkEveryPair(mesh, shape);
      CHECK(check.pairs > 0);
    }
}

TEST_CASE("partial to everything") {
  SubAxis x{0, 1, 2}, y{1, 1, 2}, z{2, 1, 2};
  for (std::array<int64_t, 2> shape :
       {std::array<int64_t, 2>{8, 8}, {7, 5}, {2, 3}}) {
    checkPartial("x=2,y=2", shape, {x}, {});
    checkPartial("x=2,y=2", shape, {x, y}, {});
    checkPartial("x=2,y=2", shape, {x}, {y});
    checkPartial("x=2,y=2,z=2", shape, {y}, {});
    checkPartial("x=2,y=2,z=2", shape, {x, z}, {});
  }
}
