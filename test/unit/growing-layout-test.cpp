//===- growing-layout-test.cpp - a layout that grows by another's axes ----===//

#include "weft/passes/sharding/propagation/GrowingLayout.h"
#include "weft/test/unit/OneOp.h"

using namespace weft;
using namespace weft::test;

namespace {
struct Case {
  const char *axes, *more, *grown;
  const char *forbiddenAxes = "[-]";
  std::vector<int64_t> mustDivide = {}; ///< the shape, if axes must divide it
  bool fixed = false;
  uint64_t open = 0;
};

constexpr uint64_t kFirst = 1, kSecond = 2;

// The cases are on a mesh of a=8, b=2, c=3.
const Case kCases[] = {
    {"[-,-]", "[a,b]", "[a,b]"},
    {"[a,-]", "[-,b]", "[a,b]"},
    {"[a,-]", "[(a,b),c]", "[(a,b),c]"},
    {"[-,-]", "[(a,b,c),-]", "[(a,b,c),-]"},
    // The layout already has as much as the other, or more.
    {"[a,b]", "[a,b]", "[a,b]"},
    {"[(a,b),-]", "[a,-]", "[(a,b),-]"},
    {"[a,b]", "[-,-]", "[a,b]"},
    // The other's axis does not continue the layout.
    {"[a,-]", "[b,-]", "[a,-]"},
    {"[a,-]", "[(b,a),-]", "[a,-]"},
    {"[(a,b),-]", "[(a,c,b),-]", "[(a,b),-]"},
    // Another dimension has some of the axes: those major to them are taken,
    // those minor are not.
    {"[a,-]", "[-,a]", "[a,-]"},
    {"[a,-]", "[-,(b,a,c)]", "[a,b]"},
    {"[a,-]", "[-,(a,b)]", "[a,-]"},
    // Some axes are digits of axis a.
    {"[a:(1)2,-]", "[-,a:(2)4]", "[a:(1)2,a:(2)4]"},
    {"[a:(1)2,-]", "[(a:(1)2,b),a:(2)2]", "[(a:(1)2,b),a:(2)2]"},
    {"[a:(1)2,-]", "[a,-]", "[a:(1)2,-]"},
    {"[a:(1)4,-]", "[-,a:(2)2]", "[a:(1)4,-]"},
    // Some axes are in forbiddenAxes, whole or in part.
    {"[-,-]", "[a,b]", "[-,b]", "[a]"},
    {"[-,-]", "[(b,a,c),-]", "[b,-]", "[a]"},
    {"[-,-]", "[a:(1)2,a:(2)2]", "[-,a:(2)2]", "[a:(1)2]"},
    {"[-,-]", "[a:(1)2,-]", "[-,-]", "[a]"},
    {"[b,-]", "[(b,c),-]", "[b,-]", "[(a,c)]"},
    // The layout is annotated: closed, except for open dimensions.
    {"[-,-]", "[a,b]", "[-,-]", "[-]", {}, true},
    {"[a,-]", "[(a,b),c]", "[a,-]", "[-]", {}, true},
    {"[-,-]", "[a,b]", "[a,-]", "[-]", {}, true, kFirst},
    {"[a,-]", "[(a,b),c]", "[a,c]", "[-]", {}, true, kSecond},
    {"[a,-]", "[(a,b),c]", "[(a,b),c]", "[-]", {}, true, kFirst | kSecond},
    {"[-,-]", "[a,b]", "[-,-]", "[a]", {}, true, kFirst},
    // With mustDivide, an axis is taken only if it splits the dimension without
    // padding.
    {"[-,-]", "[a,b]", "[a,b]", "[-]", {8, 6}},
    {"[-,-]", "[a,b]", "[-,b]", "[-]", {12, 6}},
    {"[-,-]", "[(b,a),c]", "[b,c]", "[-]", {12, 6}},
    {"[b,-]", "[(b,c),-]", "[b,-]", "[-]", {8, 6}},
    {"[b,-]", "[(b,c),-]", "[(b,c),-]", "[-]", {12, 6}},
    {"[-,-]", "[a,-]", "[a,-]", "[-]", {0, 6}},
};
} // namespace

TEST_CASE("a layout takes the axes of another that continue it") {
  Mesh mesh = meshOf("a=8,b=2,c=3");
  for (const Case &it : kCases) {
    INFO(it.axes << " by " << it.more << ", forbiddenAxes " << it.forbiddenAxes
                 << ", fixed " << it.fixed << ", open " << it.open);
    GrowingLayout value;
    value.layout = layoutOf(mesh, it.axes);
    value.forbiddenAxes = axesOf(mesh, it.forbiddenAxes)[0];
    value.mustDivide = it.mustDivide;
    value.fixed = it.fixed;
    value.open = it.open;
    Layout before = value.layout, more = layoutOf(mesh, it.more);
    CHECK(value.extend(more) == (value.layout != before));
    CHECK(toCommandText(mesh, value.layout) == it.grown);
    CHECK_FALSE(value.extend(more)); // a second time changes nothing
  }
}

TEST_CASE("dimensions beyond the 64th are never open") {
  Mesh mesh = meshOf("a=8");
  Layout more = Layout::replicated(66);
  more.dims[65] = axesOf(mesh, "[a]")[0];
  GrowingLayout value;
  value.layout = Layout::replicated(66);
  value.fixed = true;
  value.open = ~uint64_t(0);
  CHECK_FALSE(value.extend(more));
  value.fixed = false;
  CHECK(value.extend(more));
  CHECK(value.layout == more);
}

TEST_CASE("layouts that say nothing, and layouts that may grow") {
  Mesh mesh = meshOf("a=8");
  auto value = [&](const char *axes, bool fixed, uint64_t open) {
    GrowingLayout made;
    made.layout = layoutOf(mesh, axes);
    made.fixed = fixed;
    made.open = open;
    return made;
  };
  CHECK(value("[a,-]", false, 0).saysNothing());
  CHECK(value("[-,-]", true, kFirst | kSecond).saysNothing());
  CHECK(value("[-,-]", true, ~uint64_t(0)).saysNothing());
  CHECK_FALSE(value("[-,-]", true, kFirst).saysNothing());
  CHECK_FALSE(value("[a,-]", true, kFirst | kSecond).saysNothing());
  CHECK(value("[a,-]", false, 0).isOpen());
  CHECK(value("[a,-]", true, kSecond).isOpen());
  CHECK_FALSE(value("[a,-]", true, 0).isOpen());
}
