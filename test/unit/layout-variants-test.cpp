//===- layout-variants-test.cpp - layouts with one axis moved -------------===//

#include "weft/compiler/explain/LayoutVariants.h"

#include "catch2/catch.hpp"

using namespace weft;

static std::string variantsOf(const char *text) {
  Mesh mesh;
  REQUIRE(parseMesh("a=2,b=2", mesh) == "");
  Layout layout;
  REQUIRE(parseCommandText(text, mesh, layout) == "");
  std::string all;
  for (const Layout &variant : layoutVariants(mesh, layout, {0, 1})) {
    CHECK(invalidReason(mesh, variant, 2) == "");
    all += toCommandText(mesh, variant) + " ";
  }
  return all;
}

TEST_CASE("an axis goes to each other place") {
  CHECK(variantsOf("[a,-]") == "[-,a] [-,-] [(a,b),-] [a,b] ");
}

TEST_CASE("an axis over which there are partial sums goes nowhere") {
  CHECK(variantsOf("[-,-]+sum(a)") == "[b,-]+sum(a) [-,b]+sum(a) ");
  CHECK(variantsOf("[b,-]+sum(a)") == "[-,b]+sum(a) [-,-]+sum(a) ");
}
