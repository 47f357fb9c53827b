//===- resharding-test.cpp - plans executed on arrays ---------------------===//

#include "weft/layout/ExchangeTraffic.h"
#include "weft/passes/sharding/resharding/ReshardCache.h"
#include "weft/test/unit/EveryLayout.h"
#include "weft/test/unit/ReshardSimulator.h"

#include "catch2/catch.hpp"

#include <algorithm>
#include <ctime>
#include <functional>
#include <numeric>
#include <random>

using namespace weft;

namespace {
Mesh meshOf(const char *text) {
  Mesh mesh;
  REQUIRE(parseMesh(text, mesh) == "");
  return mesh;
}

Layout layoutOf(const Mesh &mesh, const char *text) {
  Layout layout;
  REQUIRE(parseCommandText(text, mesh, layout) == "");
  return layout;
}

std::string describe(const Mesh &mesh, const ReshardPlan &plan) {
  std::string text;
  for (const ReshardStep &step : plan.steps)
    text += stringifyStepKind(step.kind).str() + " " +
            std::to_string(step.bytes) + " " +
            toCommandText(mesh, step.result) + "\n";
  return text;
}

/// Checks that the plan is right on arrays and moves no less than the bound.
ReshardPlan checkPlan(const Mesh &mesh, llvm::ArrayRef<int64_t> shape,
                      const Layout &from, const Layout &to, bool exchange) {
  ReshardOptions options;
  options.allowExchange = exchange;
  ReshardPlan plan = planReshard(mesh, shape, 4, from, to, options);
  INFO(toCommandText(mesh, from) << " -> " << toCommandText(mesh, to) << "\n"
                                 << describe(mesh, plan));
  std::string wrong = simulate(mesh, shape, from, to, plan);
  if (!wrong.empty())
    FAIL(wrong);
  if (plan.bytesReceived < plan.lowerBound)
    FAIL("bytes " << plan.bytesReceived << " below bound " << plan.lowerBound);
  if (!from.isPartial() && !to.isPartial() &&
      plan.lowerBound != 4 * receiveLowerBound(mesh, from, to, shape))
    FAIL("bound " << plan.lowerBound);
  for (const ReshardStep &step : plan.steps)
    if (step.kind == ReshardStepKind::Exchange && !exchange)
      FAIL("an exchange that is not allowed");
  return plan;
}
} // namespace

TEST_CASE("the worked example of the header") {
  Mesh mesh = meshOf("x=4,y=2");
  Layout from = layoutOf(mesh, "[y,-,x]"), to = layoutOf(mesh, "[-,(x,y),-]");
  ReshardPlan plan = checkPlan(mesh, {16, 16, 16}, from, to, true);
  CHECK(plan.bytesReceived == 1792);
  CHECK(plan.lowerBound == 1792);
  CHECK(plan.optimal);
  ReshardPlan chain = checkPlan(mesh, {16, 16, 16}, from, to, false);
  CHECK(chain.bytesReceived == 2560);
  CHECK(describe(mesh, chain) == "all_to_all 1536 [y,x,-]\n"
                                 "all_to_all 1024 [-,(x,y),-]\n");
}

TEST_CASE("one standard collective is preferred to an exchange") {
  Mesh mesh = meshOf("x=2,y=2,z=2");
  auto kinds = [&](const char *from, const char *to) {
    ReshardPlan plan = checkPlan(mesh, {16, 16, 16}, layoutOf(mesh, from),
                                 layoutOf(mesh, to), true);
    std::string text;
    for (const ReshardStep &step : plan.steps)
      text += stringifyStepKind(step.kind).str() + " " +
              std::to_string(step.bytes) + "; ";
    return text;
  };
  // The bytes are those of the best plan of each row, which XLA finds for some
  // of them.
  CHECK(kinds("[x,y,-]", "[y,x,-]") == "permute 4096; ");
  CHECK(kinds("[(x,y),-,-]", "[(y,x),-,-]") == "permute 4096; ");
  CHECK(kinds("[x,-,-]", "[-,x,-]") == "all_to_all 4096; ");
  CHECK(kinds("[(x,y),-,-]", "[-,(x,y),-]") == "all_to_all 3072; ");
  CHECK(kinds("[x,y,z]", "[z,x,y]") == "permute 2048; ");
  CHECK(kinds("[x,-,-]", "[y,-,-]") == "permute 8192; ");
  CHECK(kinds("[(x,y),-,-]", "[x,-,-]") == "all_gather 4096; ");
  CHECK(kinds("[-,-,-]", "[-,(x,z),y]") == "slice 0; slice 0; ");
  CHECK(kinds("[y,-,x]", "[-,(x,y),-]") == "exchange 3072; ");
  CHECK(kinds("[(x,y),-,-]", "[y,-,-]") == "exchange 8192; ");
  CHECK(kinds("[x,y,-]", "[(x,z,y),-,-]") == "slice 0; all_to_all 1024; ");
}

TEST_CASE("partial sources and targets") {
  Mesh mesh = meshOf("x=4,y=2");
  auto kinds = [&](const char *from, const char *to) {
    ReshardPlan plan = checkPlan(mesh, {16, 8}, layoutOf(mesh, from),
                                 layoutOf(mesh, to), true);
    std::string text;
    for (const ReshardStep &step : plan.steps)
      text += stringifyStepKind(step.kind).str() + " " +
              std::to_string(step.bytes) + "; ";
    return text + std::to_string(plan.lowerBound);
  };
  // The copies over y could share the work: an element needs 2 messages on
  // the way to its first total and 8 to reach all, (2 + 8) * 512 B / 8.
  CHECK(kinds("[-,-]+sum(x)", "[-,-]") == "all_reduce 768; 640");
  CHECK(kinds("[y,-]+sum(x)", "[y,-]") == "all_reduce 384; 384");
  CHECK(kinds("[y,-]+sum(x)", "[(y,x),-]") == "reduce_scatter 192; 192");
  CHECK(kinds("[-,-]+sum(x)", "[x,-]") == "reduce_scatter 384; 256");
  CHECK(kinds("[-,-]+sum(x)", "[x:(1)2,x:(2)2]") ==
        "reduce_scatter 256; reduce_scatter 128; 256");
  CHECK(kinds("[-,-]", "[-,-]+sum(x)") == "make_partial 0; 0");
  CHECK(kinds("[y,-]+sum(x)", "[y,-]+sum(x)") == "0");
  CHECK(kinds("[(x,y),-]", "[-,x]+sum(y)") ==
        "exchange 112; make_partial 0; 112");
  CHECK(kinds("[y,-]+sum(x)", "[-,y]+sum(x)") == "all_to_all 128; 128");
}

TEST_CASE("one row for all devices is no message to each of them") {
  Mesh mesh = meshOf("x=4,y=2");
  ReshardPlan plan = checkPlan(mesh, {1, 8}, layoutOf(mesh, "[x,-]"),
                               layoutOf(mesh, "[-,-]"), true);
  CHECK(describe(mesh, plan) == "place 0 [-,-]+sum(x)\n"
                                "all_reduce 48 [-,-]\n");
  // An exchange, in which a holder sends three rows, receives less.
  plan = planReshard(mesh, {1, 8}, 4, layoutOf(mesh, "[x,-]"),
                     layoutOf(mesh, "[-,-]"), {.fewestBytes = true});
  CHECK(describe(mesh, plan) == "exchange 32 [-,-]\n");
  CHECK(plan.steps[0].moved == 96);
}

TEST_CASE("every pair with partial sums on small meshes") {
  for (const char *text : {"x=2,y=2", "x=4"}) {
    Mesh mesh = meshOf(text);
    std::vector<Layout> layouts;
    for (const Layout &layout : everyLayout(mesh, 2)) {
      layouts.push_back(layout);
      for (const SubAxis &digit : everyDigit(mesh, true)) {
        Layout partial = layout;
        partial.partial.push_back(digit);
        if (invalidReason(mesh, partial, 2).empty())
          layouts.push_back(partial);
      }
    }
    for (const Layout &from : layouts)
      for (const Layout &to : layouts)
        for (std::array<int64_t, 2> shape :
             {std::array<int64_t, 2>{8, 4}, {7, 5}, {3, 2}})
          for (bool exchange : {false, true})
            checkPlan(mesh, shape, from, to, exchange);
  }
}

TEST_CASE("random pairs of a rank 3 tensor on 2x2x2") {
  Mesh mesh = meshOf("x=2,y=2,z=2");
  std::vector<Layout> layouts = everyLayout(mesh, 3);
  CHECK(layouts.size() == 106); // 106 * 105 = 11,130 pairs
  std::mt19937 random(7);
  int64_t shape[] = {16, 16, 16}, odd[] = {5, 7, 3};
  for (int i = 0; i < 1500; ++i) {
    const Layout &from = layouts[random() % layouts.size()];
    const Layout &to = layouts[random() % layouts.size()];
    ReshardPlan plan = checkPlan(mesh, shape, from, to, true);
    CHECK(plan.bytesReceived == plan.lowerBound);
    CHECK(plan.optimal);
    if (i % 5 == 0)
      checkPlan(mesh, odd, from, to, true);
    if (i % 5 == 1)
      checkPlan(mesh, shape, from, to, false);
    if (i % 5 == 2)
      checkPlan(mesh, odd, from, to, false);
  }
}

TEST_CASE("all pairs of a rank 2 tensor on 2x3 and 4x2, even and uneven") {
  for (const char *text : {"x=2,y=3", "x=4,y=2", "x=6", "x=5"}) {
    Mesh mesh = meshOf(text);
    std::vector<Layout> layouts = everyLayout(mesh, 2);
    for (const Layout &from : layouts)
      for (const Layout &to : layouts)
        for (std::array<int64_t, 2> shape :
             {std::array<int64_t, 2>{24, 24}, {7, 5}, {2, 9}}) {
          ReshardPlan plan = checkPlan(mesh, shape, from, to, true);
          // Where shards have more padding than elements, what the busiest
          // device sends decides.
          bool isScarce = false;
          for (size_t dim = 0; dim < shape.size(); ++dim) {
            int64_t count = shardCount(from.dims[dim]);
            isScarce |= shardSize(shape[dim], count) * count > 2 * shape[dim];
          }
          if (plan.bytesReceived != plan.lowerBound && !isScarce)
            FAIL(text << " " << toCommandText(mesh, from) << " -> "
                      << toCommandText(mesh, to) << " " << plan.bytesReceived
                      << " for " << plan.lowerBound << "\n"
                      << describe(mesh, plan));
          checkPlan(mesh, shape, from, to, false);
        }
  }
}

TEST_CASE("a plan without any search is right as well") {
  Mesh mesh = meshOf("x=2,y=3");
  std::vector<Layout> layouts = everyLayout(mesh, 2);
  ReshardOptions options;
  options.allowExchange = false;
  options.searchBudget = 0;
  int64_t shape[] = {7, 5};
  for (const Layout &from : layouts)
    for (const Layout &to : layouts) {
      ReshardPlan plan = planReshard(mesh, shape, 4, from, to, options);
      std::string wrong = simulate(mesh, shape, from, to, plan);
      if (!wrong.empty())
        FAIL(toCommandText(mesh, from)
             << " -> " << toCommandText(mesh, to) << ": " << wrong);
    }
}

TEST_CASE("a way that comes back to a layout goes on from there") {
  // With five axes not all plans are tried. A good one slices dimension 0 over
  // a and gathers it again, before dimension 1 is gathered.
  Mesh mesh = meshOf("a=2,b=2,c=2,d=2,e=2");
  for (bool exchange : {false, true})
    checkPlan(mesh, {2, 9}, layoutOf(mesh, "[-,(c,d)]"),
              layoutOf(mesh, "[-,-]+sum(a,b,e)"), exchange);
}

TEST_CASE("random pairs on five axes, even and uneven") {
  Mesh mesh = meshOf("a=2,b=2,c=2,d=2,e=2");
  std::mt19937 random(11);
  auto draw = [&] {
    Layout layout = Layout::replicated(2);
    for (unsigned axis = 0; axis < mesh.axes.size(); ++axis)
      if (unsigned place = random() % 4; place < 3)
        (place < 2 ? layout.dims[place] : layout.partial)
            .push_back(fullAxis(mesh, axis));
    return normalise(mesh, layout);
  };
  for (int i = 0; i < 400; ++i) {
    Layout from = draw(), to = draw();
    for (std::array<int64_t, 2> shape :
         {std::array<int64_t, 2>{2, 9}, {7, 5}, {32, 32}})
      checkPlan(mesh, shape, from, to, random() % 2 == 0);
  }
}

TEST_CASE("a plan is made once and is always the same") {
  Mesh mesh = meshOf("x=4,y=2,z=2");
  Layout from = layoutOf(mesh, "[y,-,x]"), to = layoutOf(mesh, "[-,(x,y),z]");
  ReshardCache cache(mesh);
  const ReshardPlan *plan = &cache.plan({16, 16, 16}, 4, from, to);
  CHECK(describe(mesh, *plan) ==
        describe(mesh, planReshard(mesh, {16, 16, 16}, 4, from, to)));
  CHECK(plan == &cache.plan({16, 16, 16}, 4, from, to));
  CHECK(cache.size() == 1);
  cache.plan({16, 16, 16}, 2, from, to);
  cache.plan({16, 16, 8}, 4, from, to);
  cache.plan({16, 16, 16}, 4, to, from);
  CHECK(cache.size() == 4);
}

/// Computes the elements that each device sends, shard by shard: its holders
/// serve the other devices in turn, those that need the most first.
static std::vector<int64_t> sentInTurn(const Mesh &mesh, const Layout &from,
                                       const Layout &to,
                                       llvm::ArrayRef<int64_t> shape) {
  SubAxes axes;
  for (const SubAxes &dim : from.dims)
    llvm::append_range(axes, dim);
  std::vector<int64_t> sent(mesh.size(), 0);
  for (int64_t shard = 0; shard < shardCount(axes); ++shard) {
    std::vector<int64_t> holders, requests;
    for (int64_t p = 0; p < mesh.size(); ++p)
      if (coordinate(mesh, p, axes) == shard)
        holders.push_back(p);
    for (int64_t p = 0; p < mesh.size(); ++p)
      if (coordinate(mesh, p, axes) != shard)
        requests.push_back(volume(intersect(
            own(mesh, to, shape, p), own(mesh, from, shape, holders.front()))));
    llvm::sort(requests, std::greater<>());
    for (auto [turn, elements] : llvm::enumerate(requests))
      sent[holders[turn % holders.size()]] += elements;
  }
  return sent;
}

TEST_CASE("an exchange is sent by the holders in turn") {
  Mesh two = meshOf("data=2");
  int64_t seven[] = {7};
  CHECK(mostSent(two, layoutOf(two, "[data]"), layoutOf(two, "[-]"), seven) ==
        4);
  // No device lacks an element.
  CHECK(mostSent(two, layoutOf(two, "[-]"), layoutOf(two, "[data]"), seven) ==
        0);
  // Each half is held twice: device (0, 0) serves the first device of row 1,
  // device (0, 1) the second.
  Mesh four = meshOf("a=2,b=2");
  int64_t eight[] = {8};
  CHECK(mostSent(four, layoutOf(four, "[a]"), layoutOf(four, "[-]"), eight) ==
        4);
  // Four of five rows of devices lack the element, which both devices of the
  // first row have.
  Mesh five = meshOf("a=5,b=2");
  int64_t one[] = {1};
  CHECK(mostSent(five, layoutOf(five, "[a]"), layoutOf(five, "[-]"), one) == 4);
}

TEST_CASE("mostSent is the maximum over all devices") {
  for (const char *text : {"a=2,b=2", "a=3,b=2", "a=12", "a=2,b=3,c=2"}) {
    Mesh mesh = meshOf(text);
    for (const llvm::SmallVector<int64_t, 4> &shape :
         {llvm::SmallVector<int64_t, 4>{7}, {1}, {24}, {0, 4}, {5, 3}, {4, 9}})
      for (const Layout &from : everyLayout(mesh, shape.size()))
        for (const Layout &to : everyLayout(mesh, shape.size())) {
          if (from.isPartial() || to.isPartial())
            continue;
          std::vector<int64_t> sent = sentInTurn(mesh, from, to, shape);
          int64_t lacking = 0;
          for (int64_t p = 0; p < mesh.size(); ++p) {
            Box wanted = own(mesh, to, shape, p);
            lacking += volume(wanted) -
                       volume(intersect(wanted, own(mesh, from, shape, p)));
          }
          REQUIRE(std::accumulate(sent.begin(), sent.end(), int64_t(0)) ==
                  lacking);
          int64_t most = mostSent(mesh, from, to, shape);
          if (most != *std::max_element(sent.begin(), sent.end()))
            FAIL(text << " " << toCommandText(mesh, from) << " -> "
                      << toCommandText(mesh, to) << ": " << most << ", not "
                      << *std::max_element(sent.begin(), sent.end()));
        }
  }
}

TEST_CASE("the bound counts the elements of all devices, 2^63 of them too") {
  Mesh mesh = meshOf("a=256,b=256");
  int64_t shape[] = {int64_t(1) << 47};
  ReshardPlan plan = planReshard(mesh, shape, 4, layoutOf(mesh, "[-]+sum(a)"),
                                 layoutOf(mesh, "[-]"), {});
  // 254 of 256 summands are added on the way, each by one of 65,536 devices.
  CHECK(plan.lowerBound == 4 * (shape[0] + 254 * (shape[0] >> 16)));
  CHECK(plan.bytesReceived >= plan.lowerBound);
}

TEST_CASE("65,536 devices are counted as fast as a few") {
  Mesh mesh = meshOf("a=256,b=256");
  int64_t shape[] = {100000, 1000};
  std::clock_t begin = std::clock();
  for (const char *from : {"[a,-]", "[b,a]", "[(a,b),-]", "[-,(b,a)]"})
    for (const char *to : {"[-,-]", "[a,b]", "[-,(a,b)]", "[(b,a),-]"})
      CHECK(mostSent(mesh, layoutOf(mesh, from), layoutOf(mesh, to), shape) >=
            0);
  // A loop over all pairs of a device and a shard would take 4,000,000,000
  // steps each time.
  CHECK(double(std::clock() - begin) / CLOCKS_PER_SEC < 10);
}
