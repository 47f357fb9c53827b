//===- mesh-part-test.cpp - values on parts of the mesh -------------------===//

#include "weft/layout/ExchangeTraffic.h"
#include "weft/passes/sharding/resharding/ReshardCache.h"
#include "weft/test/unit/ReshardSimulator.h"

#include "catch2/catch.hpp"

#include <random>

using namespace weft;

namespace {
Mesh meshOf(const char *text) {
  Mesh mesh;
  REQUIRE(parseMesh(text, mesh) == "");
  return mesh;
}

Layout layoutOf(const Mesh &mesh, const std::string &text) {
  Layout layout;
  REQUIRE(parseCommandText(text, mesh, layout) == "");
  return layout;
}

std::string refusal(const Mesh &mesh, const char *text) {
  Layout layout;
  return parseCommandText(text, mesh, layout);
}
} // namespace

TEST_CASE("only the devices of a part hold a value") {
  Mesh mesh = meshOf("branch=2,data=4");
  Layout layout = layoutOf(mesh, "[data,-]@branch=1");
  CHECK(toString(mesh, layout) == "[{\"data\"}, {}], at = {\"branch\" = 1}");
  CHECK(toCommandText(mesh, layout) == "[data,-]@branch=1");
  for (int64_t position = 0; position < 8; ++position)
    CHECK(holds(mesh, layout, position) == (position >= 4));
  std::vector<int64_t> shape = {8, 3};
  CHECK(own(mesh, layout, shape, 5)[0] == Interval{2, 4});
  CHECK(sizeOf(mesh.axes, layout.part) == 4);
  CHECK(includes({}, layout.part));
  CHECK(!includes(layout.part, {}));
  CHECK(onPart(layoutOf(mesh, "[(branch,data),-]"), layout.part) == layout);
}

TEST_CASE("a part of an axis of one coordinate is the whole mesh") {
  Mesh mesh = meshOf("one=1,data=4");
  CHECK(layoutOf(mesh, "[data]@one=0") == layoutOf(mesh, "[data]"));
}

TEST_CASE("parts that do not fit the mesh are refused") {
  Mesh mesh = meshOf("branch=2,data=4");
  CHECK(refusal(mesh, "[data]@branch=2") ==
        "column 16: axis \"branch\" has 2 coordinates, 0 to 1; the part has "
        "coordinate 2");
  CHECK(refusal(mesh, "[data]@data=0") ==
        "column 14: layout uses axis \"data\", of which its part has one "
        "coordinate only: \"data\"=0");
  CHECK(refusal(mesh, "[data]@branch=0@branch=1") ==
        "column 25: part has the coordinates 0 and 1 along axis \"branch\"");
  CHECK(refusal(mesh, "[data]@branch=x") ==
        "column 15: expected a coordinate, found 'x'");
}

TEST_CASE("a value moves between parts by one exchange, or by none") {
  Mesh mesh = meshOf("branch=2,data=4");
  auto steps = [&](const char *from, const char *to) {
    ReshardPlan plan =
        planReshard(mesh, {16, 8}, 4, layoutOf(mesh, from), layoutOf(mesh, to));
    CHECK(plan.optimal);
    std::string text;
    for (const ReshardStep &step : plan.steps)
      text += stringifyStepKind(step.kind).str() + " " +
              std::to_string(step.bytes) + "; ";
    return text;
  };
  CHECK(steps("[data,-]@branch=0", "[data,-]@branch=1") == "exchange 128; ");
  CHECK(steps("[data,-]@branch=0", "[-,-]@branch=1") == "exchange 512; ");
  CHECK(steps("[data,-]", "[data,-]@branch=1") == "");
  CHECK(steps("[-,-]", "[data,-]@branch=1") == "slice 0; ");
  CHECK(steps("[(branch,data),-]", "[data,-]@branch=1") == "exchange 128; ");
  CHECK(steps("[data,-]@branch=0", "[data,-]") == "exchange 128; ");
  CHECK(steps("[data,-]@branch=0", "[-,data]@branch=0") == "all_to_all 96; ");
  CHECK(steps("[-,-]+sum(data)@branch=0", "[data,-]@branch=1") ==
        "reduce_scatter 384; exchange 128; ");
}

TEST_CASE("random moves between parts are right, at the lower bound") {
  std::mt19937 random(7);
  auto upTo = [&](int64_t n) { return int64_t(random() % uint64_t(n)); };
  int between = 0;
  for (int round = 0; round < 2000; ++round) {
    Mesh mesh = meshOf(round % 2 ? "a=2,b=3,c=2" : "a=3,b=4");
    std::vector<int64_t> shape = {1 + upTo(9), 1 + upTo(7)};
    auto draw = [&] {
      Layout layout = Layout::replicated(2);
      for (uint32_t axis = 0; axis < mesh.axes.size(); ++axis)
        if (int64_t choice = upTo(5); choice < 2)
          layout.dims[size_t(choice)].push_back(fullAxis(mesh, axis));
        else if (choice == 2)
          layout.part.push_back({axis, upTo(mesh.axes[axis].size)});
      return layout;
    };
    Layout from = draw(), to = draw();
    if (upTo(4) == 0)
      for (uint32_t axis = 0; axis < mesh.axes.size(); ++axis)
        if (Layout partial = from; !fixes(from.part, axis)) {
          partial.partial = {fullAxis(mesh, axis)};
          if (invalidReason(mesh, partial, 2).empty())
            from = partial;
        }
    ReshardPlan plan = planReshard(mesh, shape, 4, from, to);
    INFO(toCommandText(mesh, from) << " -> " << toCommandText(mesh, to));
    REQUIRE(simulate(mesh, shape, from, to, plan) == "");
    // Summands in place of shards spare the busiest device, not bytes in all.
    plan = planReshard(mesh, shape, 4, from, to,
                       {.allowPlace = false, .fewestBytes = true});
    REQUIRE(simulate(mesh, shape, from, to, plan) == "");
    if (!from.isPartial()) {
      REQUIRE(plan.lowerBound == 4 * receiveLowerBound(mesh, from, to, shape));
      if (from.part != to.part) {
        REQUIRE(plan.bytesReceived == plan.lowerBound);
        ++between;
      }
    }
  }
  CHECK(between > 500);
}
