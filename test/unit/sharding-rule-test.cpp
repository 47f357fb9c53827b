//===- sharding-rule-test.cpp - rules and projections ---------------------===//

#include "weft/dialects/weft/rules/RuleParts.h"
#include "weft/test/unit/EveryLayout.h"

#include "catch2/catch.hpp"

#include <numeric>

using namespace weft;

namespace {
Mesh meshOf(const char *text) {
  Mesh mesh;
  REQUIRE(parseMesh(text, mesh) == "");
  return mesh;
}

std::string reshape(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to) {
  ShardingRule rule = reshapeRule(from, to);
  llvm::ArrayRef<int64_t> operands[] = {from}, results[] = {to};
  CHECK(invalidReason(rule, operands, results) == "");
  return toString(rule);
}

int64_t elements(llvm::ArrayRef<int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1),
                         std::multiplies<>());
}

/// Returns the flat indices of a box of a small tensor, in order.
std::vector<int64_t> flat(const Box &box, llvm::ArrayRef<int64_t> shape) {
  std::vector<int64_t> result{0};
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    std::vector<int64_t> next;
    for (int64_t base : result)
      for (int64_t i = box[dim].begin; i < box[dim].end; ++i)
        next.push_back(base * shape[dim] + i);
    result = next;
  }
  return result;
}
} // namespace

TEST_CASE("a contraction prints its factors") {
  ShardingRule rule;
  rule.factors = {{128}, {784, FactorKind::Reduce}, {10}};
  rule.operands = {{{0}, {1}}, {{1}, {2}}};
  rule.results = {{{0}, {2}}};
  CHECK(toString(rule) ==
        "([i, j], [j, k]) -> ([i, k]) {i=128, j=784, k=10} reduce={j}");
  rule.factors[1].reduce = ReduceKind::Max;
  CHECK(toString(rule) ==
        "([i, j], [j, k]) -> ([i, k]) {i=128, j=784, k=10} reduce=max{j}");
  int64_t lhs[] = {128, 784}, rhs[] = {784, 11}, out[] = {128, 10};
  llvm::ArrayRef<int64_t> operands[] = {lhs, rhs}, results[] = {out};
  CHECK(invalidReason(rule, operands, results) ==
        "operand 1 dimension 1: has size 11, its factors 10");
}

TEST_CASE("elementwise rules share factors by position") {
  CHECK(toString(elementwiseRule({4, 8}, {2, 0}, 1)) ==
        "([i, j], []) -> ([i, j]) {i=4, j=8}");
}

TEST_CASE("reshapes share the greatest common blocks") {
  CHECK(reshape({4, 28, 28}, {4, 784}) ==
        "([i, j, k]) -> ([i, jk]) {i=4, j=28, k=28}");
  CHECK(reshape({12, 2}, {4, 6}) == "([ij, k]) -> ([i, jk]) {i=4, j=3, k=2}");
  CHECK(reshape({1, 6}, {6, 1, 1}) == "([-, i]) -> ([i, -, -]) {i=6}");
  CHECK(reshape({6, 4}, {4, 6}) ==
        "([ij, -]) -> ([ij, -]) {i=2, j=12} shift={j}");
  CHECK(reshape({3, 2, 5}, {2, 3, 5}) ==
        "([i, -, j]) -> ([i, -, j]) {i=6, j=5} shift={i}");
  CHECK(reshape({}, {1}) == "([]) -> ([-]) {}");
  CHECK(reshape({0, 4}, {2, 0}) == "([-, -]) -> ([-, -]) {}");
}

TEST_CASE("dimensions of several factors take the axes that divide") {
  ShardingRule rule = reshapeRule({4, 28, 28}, {4, 784});
  auto project = [&](const char *axes, const char *text) {
    Mesh mesh = meshOf(axes);
    Layout layout;
    REQUIRE(parseCommandText(text, mesh, layout) == "");
    FactorShardings f = projectToFactors(mesh, rule, rule.results[0], layout);
    Layout back = projectToTensor(mesh, rule, rule.operands[0], f.axes);
    return toCommandText(mesh, back) + (f.exact ? "" : " inexact");
  };
  CHECK(project("x=4", "[-,x]") == "[-,x,-]");
  CHECK(project("x=8", "[-,x]") == "[-,x:(1)4,-] inexact");
  CHECK(project("x=4,y=7", "[-,(x,y)]") == "[-,(x,y),-]");
  CHECK(project("x=56", "[-,x]") == "[-,x:(1)28,x:(28)2]");
  CHECK(project("x=3,y=2", "[x,y]") == "[x,y,-]");
}

// A reshape is local where the projection is exact and only pass factors are
// sharded: each device's elements are the same, in the same order.
TEST_CASE("exact projections of reshapes need no communication") {
  using Shape = std::vector<int64_t>;
  for (const auto &[from, to] :
       std::vector<std::pair<Shape, Shape>>{{{4, 6}, {24}},
                                            {{24}, {4, 6}},
                                            {{12, 2}, {4, 6}},
                                            {{2, 3, 4}, {6, 4}},
                                            {{6, 4}, {4, 6}},
                                            {{8, 3}, {2, 12}}})
    for (const char *text : {"x=2,y=2", "x=4", "x=6", "x=2,y=3", "x=8"}) {
      Mesh mesh = meshOf(text);
      ShardingRule rule = reshapeRule(from, to);
      REQUIRE(elements(from) == elements(to));
      for (const Layout &layout : everyLayout(mesh, from.size())) {
        FactorShardings f =
            projectToFactors(mesh, rule, rule.operands[0], layout);
        bool shift = false;
        for (unsigned i = 0; i < rule.factors.size(); ++i)
          shift |=
              rule.factors[i].kind == FactorKind::Shift && !f.axes[i].empty();
        if (!f.exact || shift)
          continue;
        Layout result = projectToTensor(mesh, rule, rule.results[0], f.axes);
        // A minor factor alone cannot be written in the merged dimension.
        if (!isEven(layout, from) ||
            projectToFactors(mesh, rule, rule.results[0], result).axes !=
                f.axes)
          continue;
        INFO(text << ' ' << toString(mesh, layout) << " -> "
                  << toString(mesh, result));
        Layout there = projectToTensor(mesh, rule, rule.operands[0], f.axes);
        CHECK(there == layout);
        for (int64_t p = 0; p < mesh.size(); ++p)
          CHECK(flat(own(mesh, layout, from, p), from) ==
                flat(own(mesh, result, to, p), to));
      }
    }
}

TEST_CASE("the reduction that a partial operand passes to the result") {
  auto passed = [](Linearity linearity, ReduceKind kind) {
    auto result = passedReduction(linearity, kind);
    return result ? std::string(stringifyReduceKind(*result)) : "none";
  };
  CHECK(passed(Linearity::Linear, ReduceKind::Sum) == "sum");
  CHECK(passed(Linearity::JointlyLinear, ReduceKind::Sum) == "sum");
  CHECK(passed(Linearity::Linear, ReduceKind::Max) == "none");
  CHECK(passed(Linearity::Rising, ReduceKind::Sum) == "none");
  CHECK(passed(Linearity::Rising, ReduceKind::Max) == "max");
  CHECK(passed(Linearity::Rising, ReduceKind::Min) == "min");
  CHECK(passed(Linearity::Falling, ReduceKind::Max) == "min");
  CHECK(passed(Linearity::Falling, ReduceKind::Min) == "max");
  CHECK(passed(Linearity::Linear | Linearity::Falling, ReduceKind::Sum) ==
        "sum");
  CHECK(passed(Linearity::Rising, ReduceKind::Prod) == "none");
  CHECK(passed(Linearity::Falling, ReduceKind::And) == "none");
  for (ReduceKind kind : {ReduceKind::Sum, ReduceKind::Max, ReduceKind::Min,
                          ReduceKind::Prod, ReduceKind::And, ReduceKind::Or}) {
    CHECK(passed(Linearity::Moving, kind) == stringifyReduceKind(kind));
    CHECK(passed(Linearity::None, kind) == "none");
  }
}

TEST_CASE("parts of a rule") {
  ShardingRule rule;
  rule.factors.assign(4, {8, FactorKind::Pass});
  rule.operands = {{{0}, {1}}, {{2}, {3}}};
  rule.results = {{{0}, {1}}, {{2}, {3}}};
  using Parts = llvm::SmallVector<unsigned>;
  CHECK(partsOfFactors(rule) == Parts{0, 0, 1, 1});
  std::vector<RulePart> parts = splitRule(rule, partsOfFactors(rule));
  REQUIRE(parts.size() == 2);
  CHECK(toString(parts[1].rule) == "([i, j]) -> ([i, j]) {i=8, j=8}");
  CHECK(parts[1].tensors == Parts{1, 3});
  CHECK(parts[1].factors == Parts{2, 3});

  // A factor that is reduced makes all results partial.
  rule.factors[3].kind = FactorKind::Reduce;
  rule.results = {{{0}, {1}}, {{2}}};
  CHECK(partsOfFactors(rule) == Parts{0, 0, 0, 0});
  CHECK(splitRule(rule, partsOfFactors(rule)).empty());
  // Sums of both operands are one number.
  rule.factors.assign(2, {8, FactorKind::Reduce});
  rule.operands = {{{0}}, {{1}}};
  rule.results = {{}};
  CHECK(partsOfFactors(rule) == Parts{0, 0});
  // A factor that is never sharded needs no part.
  rule.factors = {{8, FactorKind::Pass}, {8, FactorKind::Replicated}};
  rule.results = {{{0}}};
  CHECK(partsOfFactors(rule) == Parts{0, 0});
  // Tensors without factors are the last part.
  rule.factors.assign(2, {8, FactorKind::Pass});
  rule.operands = {{}, {{0}}, {{1}}};
  rule.results = {{{0}}, {{1}}};
  parts = splitRule(rule, partsOfFactors(rule));
  REQUIRE(parts.size() == 3);
  CHECK(parts[2].tensors == Parts{0});
  CHECK(parts[1].tensors == Parts{2, 4});
}
