//===- collective-bundles-test.cpp - collectives that are combined --------===//

#include "weft/passes/collectives/CollectiveBundles.h"

#include "llvm/ADT/STLExtras.h"

#include <catch2/catch.hpp>

#include <ctime>
#include <map>
#include <random>
#include <set>

using namespace weft;

namespace {

using Graph = std::vector<DependentOp>;

/// Returns how many collectives are left, and checks that all ops can run in
/// that order.
size_t collectivesLeft(const Graph &graph, llvm::ArrayRef<OpBundle> bundles) {
  std::vector<bool> ran(graph.size());
  size_t collectives = 0;
  for (const OpBundle &bundle : bundles) {
    collectives += graph[bundle.front()].kind >= 0;
    for (unsigned op : bundle) {
      REQUIRE_FALSE(ran[op]);
      REQUIRE(graph[op].kind == graph[bundle.front()].kind);
      REQUIRE((graph[op].kind >= 0 || bundle.size() == 1));
      for (unsigned need : graph[op].needs)
        REQUIRE(ran[need]);
    }
    for (unsigned op : bundle)
      ran[op] = true;
  }
  REQUIRE(llvm::count(ran, false) == 0);
  return collectives;
}

size_t collectivesLeft(const Graph &graph) {
  return collectivesLeft(graph, bundleCollectives(graph));
}

/// Counts the collectives that first fit leaves: a collective joins the first
/// bundle of its kind that it does not depend on. The first bundle of several
/// members becomes one op, the ops that depend on it move after it, and the
/// search begins again.
size_t collectivesLeftByFirstFit(Graph graph) {
  struct Bundle {
    std::vector<unsigned> members;
    std::set<unsigned> dependents;
  };
  while (true) {
    std::vector<Bundle> bundles;
    for (unsigned op = 0; op < graph.size(); ++op) {
      bool joined = graph[op].kind < 0;
      for (Bundle &bundle : bundles) {
        if (llvm::any_of(graph[op].needs, [&](unsigned need) {
              return bundle.dependents.count(need) ||
                     llvm::is_contained(bundle.members, need);
            })) {
          bundle.dependents.insert(op);
        } else if (!joined && graph[bundle.members[0]].kind == graph[op].kind) {
          bundle.members.push_back(op);
          joined = true;
        }
      }
      if (!joined)
        bundles.push_back({{op}, {}});
    }
    auto it = llvm::find_if(
        bundles, [](const Bundle &b) { return b.members.size() > 1; });
    if (it == bundles.end())
      return bundles.size();
    // `order` and `late` hold the numbers of ops in the new order; the bundle
    // stands at its last member.
    std::vector<unsigned> order, late;
    unsigned last = it->members.back();
    for (unsigned op = 0; op < graph.size(); ++op)
      if (op < last && it->dependents.count(op))
        late.push_back(op);
      else if (op == last || !llvm::is_contained(it->members, op)) {
        order.push_back(op);
        if (op == last)
          order.insert(order.end(), late.begin(), late.end());
      }
    std::map<unsigned, unsigned> renamed;
    for (unsigned op : order)
      renamed.emplace(op, renamed.size());
    for (unsigned member : it->members)
      renamed[member] = renamed[last];
    Graph next(order.size());
    for (unsigned op = 0; op < graph.size(); ++op) {
      DependentOp &to = next[renamed[op]];
      to.kind = graph[op].kind;
      for (unsigned need : graph[op].needs)
        to.needs.push_back(renamed[need]);
    }
    graph = std::move(next);
  }
}

/// Returns the smallest possible number of collectives, by trying every choice
/// of the kind that runs next.
size_t fewest(const Graph &graph, const std::vector<bool> &ran) {
  std::vector<bool> now = ran;
  std::set<int> kinds;
  for (unsigned op = 0; op < graph.size(); ++op) {
    bool canRun =
        llvm::all_of(graph[op].needs, [&](unsigned need) { return now[need]; });
    if (!now[op] && canRun && graph[op].kind < 0)
      now[op] = true;
    else if (!now[op] && canRun)
      kinds.insert(graph[op].kind);
  }
  size_t best = kinds.empty() ? 0 : graph.size();
  for (int kind : kinds) {
    std::vector<bool> then = now;
    for (unsigned op = 0; op < graph.size(); ++op)
      if (graph[op].kind == kind &&
          llvm::all_of(graph[op].needs,
                       [&](unsigned need) { return now[need]; }))
        then[op] = true;
    best = std::min(best, 1 + fewest(graph, then));
  }
  return best;
}

Graph randomGraph(std::mt19937 &random, unsigned ops, int kinds) {
  Graph graph(ops);
  unsigned most = 1 + random() % 3;
  for (unsigned op = 0; op < ops; ++op) {
    graph[op].kind = random() % 2 ? int(random() % kinds) : -1;
    for (unsigned i = 0; op > 0 && i < random() % (most + 1); ++i)
      graph[op].needs.push_back(random() % op);
  }
  return graph;
}

/// Returns a graph like that of a DenseNet's training step: each layer's mean
/// and variance are summed over the batch and need all layers before; each
/// layer's gradient needs those of all layers after it.
Graph denselyConnected(unsigned layers) {
  Graph graph;
  auto add = [&](llvm::SmallVector<unsigned, 4> needs, int kind) {
    graph.push_back({std::move(needs), kind});
    return unsigned(graph.size() - 1);
  };
  llvm::SmallVector<unsigned, 4> features{add({}, -1)}, gradients;
  for (unsigned layer = 0; layer < layers; ++layer) {
    unsigned joined = add(features, -1);
    unsigned mean = add({add({joined}, -1)}, 0);
    unsigned square = add({add({joined}, -1)}, 0);
    features.push_back(add({joined, mean, square}, -1));
  }
  gradients.push_back(add(features, -1));
  for (unsigned layer = layers; layer-- > 0;) {
    unsigned sum = add(gradients, -1);
    unsigned scale = add({add({sum, features[layer]}, -1)}, 0);
    unsigned offset = add({add({sum}, -1)}, 0);
    add({add({sum, features[layer + 1]}, -1)}, 0); // the kernel's gradient
    gradients.push_back(add({sum, scale, offset}, -1));
  }
  return graph;
}
} // namespace

TEST_CASE("the worked example of the header") {
  Graph graph(5);
  for (unsigned op : {0, 1, 3, 4})
    graph[op].kind = 0;
  graph[2].needs = {1};
  graph[3].needs = {2};
  graph[4].needs = {0};
  CHECK(bundleCollectives(graph) == std::vector<OpBundle>{{0, 1}, {2}, {3, 4}});
}

TEST_CASE("bundles that need each other are not both formed") {
  Graph graph(4);
  graph[0].kind = graph[3].kind = 0;
  graph[1].kind = graph[2].kind = 1;
  graph[1].needs = {0};
  graph[3].needs = {2};
  CHECK(bundleCollectives(graph) == std::vector<OpBundle>{{2}, {0, 3}, {1}});
}

TEST_CASE("no random program has more collectives than by first fit") {
  std::mt19937 random(20261122);
  size_t left = 0, all = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    Graph graph = randomGraph(random, 2 + random() % 40, 1 + random() % 4);
    size_t now = collectivesLeft(graph);
    if (now > collectivesLeftByFirstFit(graph))
      FAIL("trial " << trial << ": " << now << " collectives, by first fit "
                    << collectivesLeftByFirstFit(graph));
    left += now;
    all += llvm::count_if(graph, [](auto &op) { return op.kind >= 0; });
  }
  CHECK(2 * left < all); // most collectives are joined
}

TEST_CASE("one kind has as few collectives as possible, several nearly") {
  std::mt19937 random(22112026);
  size_t least = 0, left = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    int kinds = 1 + random() % 3;
    Graph graph = randomGraph(random, 2 + random() % 10, kinds);
    size_t best = fewest(graph, std::vector<bool>(graph.size()));
    size_t now = collectivesLeft(graph);
    REQUIRE(now >= best);
    if (kinds == 1)
      REQUIRE(now == best);
    least += best;
    left += now;
  }
  CHECK(left <= least + least / 50);
}

TEST_CASE("hundreds of collectives that need each other are bundled at once") {
  // Each layer has its own mean and square, and in the backward pass its scale,
  // offset and the next kernel's gradient.
  Graph small = denselyConnected(12);
  CHECK(collectivesLeft(small) == collectivesLeftByFirstFit(small));
  Graph graph = denselyConnected(121); // 605 collectives
  CHECK(collectivesLeft(graph) == 2 * 121);
  Graph large = denselyConnected(1000); // 5,000 collectives, 1,000,000 needs
  std::clock_t begin = std::clock();
  CHECK(bundleCollectives(large).size() > 0);
  // First fit takes minutes of CPU for the graph of 605 collectives.
  CHECK(double(std::clock() - begin) / CLOCKS_PER_SEC < 5);
}
