//===- layout-test.cpp - the layout algebra against index sets ------------===//

#include "weft/layout/Layout.h"
#include "weft/layout/Sizes.h"
#include "weft/test/unit/EveryLayout.h"

#include "catch2/catch.hpp"

#include <limits>
#include <map>
#include <set>

using namespace weft;
using Shape = std::vector<int64_t>;

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

std::set<int64_t> indices(const Box &box, llvm::ArrayRef<int64_t> shape) {
  std::set<int64_t> result{0};
  for (auto [interval, n] : llvm::zip_equal(box, shape)) {
    std::set<int64_t> next;
    for (int64_t base : result)
      for (int64_t i = interval.begin; i < interval.end; ++i)
        next.insert(base * n + i);
    result = next;
  }
  return result;
}

/// Checks that every element is held by as many devices as the layout has
/// copies.
void checkCovers(const Mesh &mesh, const Layout &layout,
                 llvm::ArrayRef<int64_t> shape) {
  std::map<int64_t, int64_t> holders;
  std::vector<int64_t> local = localShape(layout, shape);
  for (int64_t position = 0; position < mesh.size(); ++position) {
    Box box = own(mesh, layout, shape, position);
    for (auto [interval, c] : llvm::zip_equal(box, local)) {
      REQUIRE(interval.begin <= interval.end);
      REQUIRE(interval.size() <= c);
    }
    for (int64_t index : indices(box, shape))
      ++holders[index];
  }
  int64_t shards = 1, elements = 1;
  for (auto [axes, n] : llvm::zip_equal(layout.dims, shape)) {
    shards *= shardCount(axes);
    elements *= n;
  }
  REQUIRE(static_cast<int64_t>(holders.size()) == elements);
  for (auto [index, count] : holders)
    REQUIRE(count == mesh.size() / shards);
}

/// Checks that a layout's text is read as the normalised layout, and is written
/// alike.
void checkText(const Mesh &mesh, const Layout &layout) {
  std::string text = toCommandText(mesh, layout);
  Layout parsed;
  REQUIRE(parseCommandText(text, mesh, parsed) == "");
  REQUIRE(parsed == normalise(mesh, layout));
  REQUIRE(toCommandText(mesh, parsed) ==
          toCommandText(mesh, normalise(mesh, layout)));
}
} // namespace

TEST_CASE("every layout of small meshes covers the tensor") {
  for (const char *text : {"x=3", "x=5", "x=6", "x=7", "x=2,y=4", "x=8",
                           "x=2,y=3", "x=1,y=2", "x=2,y=2,z=2"}) {
    Mesh mesh = meshOf(text);
    std::vector<Layout> layouts = everyLayout(mesh, 2);
    INFO(text << ": " << layouts.size());
    for (const Layout &layout : layouts) {
      INFO(toString(mesh, layout));
      REQUIRE(invalidReason(mesh, layout, 2) == "");
      checkText(mesh, layout);
      for (std::array<int64_t, 2> shape :
           {std::array<int64_t, 2>{7, 5}, {8, 3}, {1, 12}, {0, 4}})
        checkCovers(mesh, layout, shape);
    }
  }
}

TEST_CASE("the lower bound is the largest set of missing elements") {
  for (const char *text : {"x=6", "x=2,y=4", "x=3,y=2"}) {
    Mesh mesh = meshOf(text);
    std::array<int64_t, 2> shape{7, 5};
    std::vector<Layout> layouts = everyLayout(mesh, 2);
    for (const Layout &from : layouts)
      for (const Layout &to : layouts) {
        size_t most = 0;
        for (int64_t p = 0; p < mesh.size(); ++p) {
          std::set<int64_t> held = indices(own(mesh, from, shape, p), shape);
          size_t missing = 0;
          for (int64_t index : indices(own(mesh, to, shape, p), shape))
            missing += !held.count(index);
          most = std::max(most, missing);
        }
        REQUIRE(receiveLowerBound(mesh, from, to, shape) ==
                static_cast<int64_t>(most));
      }
  }
}

TEST_CASE("the worked examples of the header") {
  Mesh mesh = meshOf("data=2,model=4");
  for (int64_t d = 0; d < 8; ++d) {
    int64_t r = d / 4, c = d % 4;
    Layout rows = layoutOf(mesh, "[data,-]");
    CHECK(own(mesh, rows, Shape{16, 10}, d) ==
          Box{{8 * r, 8 * r + 8}, {0, 10}});
    Layout mixed = layoutOf(mesh, "[(model,data)]");
    CHECK(own(mesh, mixed, Shape{8}, d) == Box{{2 * c + r, 2 * c + r + 1}});
    Layout halves = layoutOf(mesh, "[model:(1)2,model:(2)2]");
    CHECK(own(mesh, halves, Shape{2, 2}, d) ==
          Box{{c / 2, c / 2 + 1}, {c % 2, c % 2 + 1}});
  }
  Layout partial = layoutOf(mesh, "[-,-]+sum(model)");
  CHECK(toString(mesh, partial) == "[{}, {}], partial = sum{\"model\"}");
  CHECK(toCommandText(mesh, partial) == "[-,-]+sum(model)");
  CHECK(shardInterval(7, 4, 3) == Interval{6, 7});
  CHECK(shardInterval(3, 5, 4) == Interval{3, 3});
  Mesh uneven = meshOf("a=2,b=3");
  CHECK(own(uneven, layoutOf(uneven, "[(a,b)]"), Shape{7}, 2) == Box{{4, 6}});
}

TEST_CASE("digits join and overlap") {
  Mesh mesh = meshOf("x=6,y=8");
  CHECK(overlaps({0, 1, 2}, {0, 3, 2}));
  CHECK(!overlaps({0, 1, 2}, {0, 2, 3}));
  CHECK(overlaps({1, 1, 8}, {1, 4, 2}));
  CHECK(!overlaps({1, 1, 8}, {0, 1, 6}));
  CHECK(normalise(mesh, SubAxes{{1, 1, 2}, {1, 2, 4}}) == SubAxes{{1, 1, 8}});
  CHECK(normalise(mesh, SubAxes{{1, 2, 4}, {1, 1, 2}}) ==
        SubAxes{{1, 2, 4}, {1, 1, 2}});
  CHECK(layoutOf(mesh, "[(y:(1)2,y:(2)4)]") == layoutOf(mesh, "[y]"));
}

TEST_CASE("refusals name the column and both values") {
  Mesh mesh = meshOf("x=4,y=2");
  auto refusal = [&](const char *text) {
    Layout layout;
    return parseCommandText(text, mesh, layout);
  };
  CHECK(refusal("[x,x]") == "column 6: axis \"x\" is used twice");
  CHECK(refusal("[q]") == "column 2: mesh has no axis 'q', it has x, y");
  CHECK(refusal("x") ==
        "column 1: expected '[' before the first dimension, as in [x,-]");
  CHECK(refusal("[x") ==
        "column 3: expected ']' after a dimension, found the end");
  CHECK(refusal("[x:(3)2]") ==
        "column 9: sub-axis \"x\":(3)2 does not divide the axis of 4");
  CHECK(refusal("[x]+avg(y)") == "column 8: no reduction 'avg', one of sum, "
                                 "max, min, prod, and, or is meant");
  CHECK(refusal("[-] ?") == "column 5: unexpected '?' after the layout");
  Mesh bad;
  CHECK(parseMesh("x=0", bad) ==
        "column 3: expected a number from 1 to 2147483647, found '0'");
  CHECK(parseMesh("x=2,x=2", bad) == "column 8: axis \"x\" is declared twice");
  CHECK(invalidReason(mesh, Layout::replicated(3), 2) ==
        "layout has 3 dimensions, the tensor 2");
  mesh.devices = {0, 1, 2};
  CHECK(mesh.invalidReason() == "mesh of 8 positions names 3 devices");
  CHECK(meshOf("x=1024,y=1024").size() == 1 << 20);
  CHECK(parseMesh("x=1024,y=1025", bad)
            .find("mesh has more than 1048576 devices at axis \"y\"") !=
        std::string::npos);
}

TEST_CASE("shards of the largest dimensions have no negative numbers") {
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  CHECK(shardSize(most, 2) == most / 2 + 1);
  CHECK(shardSize(0, 3) == 0);
  CHECK(shardInterval(0, 3, 1) == Interval{0, 0});
  // The last shard is empty: 5 over 4 is [0, 2) [2, 4) [4, 5) [5, 5).
  CHECK(shardInterval(5, 4, 3) == Interval{5, 5});
  CHECK(shardInterval(most, 2, 1) == Interval{most / 2 + 1, most});
  int64_t shards = 1000, end = 0;
  for (int64_t i = 0; i < shards; ++i) {
    Interval part = shardInterval(most - 1, shards, i);
    REQUIRE(part.begin == end);
    REQUIRE(part.end >= part.begin);
    end = part.end;
  }
  CHECK(end == most - 1);
  CHECK(volume(Box{{0, most}, {0, 2}}) == most);
}

TEST_CASE("tensors that cannot be counted say how many bytes they have") {
  CHECK(oversize(Shape{4611686018427387904, 4}, 4) ==
        "73786976294838206464 bytes, but a tensor has at most "
        "9007199254740992; make a dimension smaller");
  CHECK(oversize(Shape{int64_t(1) << 51}, 4) == "");
  CHECK(oversize(Shape{(int64_t(1) << 51) + 1}, 4) ==
        "9007199254740996 bytes, but a tensor has at most 9007199254740992; "
        "make a dimension smaller");
  CHECK(oversize(Shape{0, int64_t(1) << 62}, 1) ==
        "4611686018427387904 bytes, but a tensor has at most "
        "9007199254740992; make a dimension smaller");
  CHECK(oversize(Shape{}, 16) == "");
  CHECK(tensorBytes(Shape{0, int64_t(1) << 62}, 4) == 0);
  CHECK(saturatingAdd(-2, std::numeric_limits<int64_t>::min()) ==
        std::numeric_limits<int64_t>::min());
  CHECK(saturatingMultiply(-2, std::numeric_limits<int64_t>::max()) ==
        std::numeric_limits<int64_t>::min());
}
