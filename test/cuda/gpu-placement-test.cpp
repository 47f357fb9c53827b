//===- gpu-placement-test.cpp - which elements of a tile a thread has -----===//
//
// Placements against the formulas of the PTX ISA, and emitted positions against
// the layout algebra.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/codegen/gpu/Placement.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"

#include "catch2/catch.hpp"

#include <set>

using namespace mlir;
using namespace weft;
using namespace weft::gpu;

/// The sums of mma.m16n8k16: "Matrix Fragments for mma.m16n8k16".
static Placement sumsOfInstruction() {
  return Placement(
      {{kLane, 32}, {kRegister, 4}},
      {{{kRegister, 1, 2}, {kLane, 1, 8}}, {{kLane, 8, 4}, {kRegister, 2, 2}}});
}

TEST_CASE("a lane's sums have the rows and columns of the PTX ISA") {
  Placement sums = sumsOfInstruction();
  std::set<std::pair<int64_t, int64_t>> all;
  for (int64_t lane = 0; lane < 32; ++lane)
    for (int64_t i = 0; i < 4; ++i) {
      int64_t row = sums.at(0, kLane, lane) + sums.at(0, kRegister, i),
              column = sums.at(1, kLane, lane) + sums.at(1, kRegister, i);
      CHECK(row == (i < 2 ? lane / 4 : lane / 4 + 8));
      CHECK(column == lane % 4 * 2 + (i & 1));
      all.emplace(row, column);
    }
  CHECK(all.size() == 16 * 8);
}

/// Computes a value that arithmetic on integers makes from one argument.
static int64_t valueOf(Value value, Value argument, int64_t given) {
  if (value == argument)
    return given;
  llvm::APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  Operation *op = value.getDefiningOp();
  int64_t a = valueOf(op->getOperand(0), argument, given),
          b = valueOf(op->getOperand(1), argument, given);
  if (isa<arith::AddIOp>(op))
    return a + b;
  if (isa<arith::MulIOp>(op))
    return a * b;
  if (isa<arith::DivUIOp>(op))
    return a / b;
  REQUIRE(isa<arith::RemUIOp>(op));
  return a % b;
}

TEST_CASE("emitted positions are those of the layout") {
  MLIRContext context;
  context
      .loadDialect<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect>();
  Location loc = UnknownLoc::get(&context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  elements::LoopNest nest(loc);
  nest.builder.setInsertionPointToStart(module->getBody());
  auto i64 = nest.builder.getI64Type();
  auto function = func::FuncOp::create(nest.builder, loc, "f",
                                       FunctionType::get(&context, {i64}, {}));
  Block *body = function.addEntryBlock();
  nest.builder.setInsertionPointToStart(body);
  Value lane = body->getArgument(0);
  // Rows with digits of one axis apart, and a digit that no coordinate sets.
  Placement apart(
      {{kRound, 2}, {kLane, 24}},
      {{{kLane, 6, 4}, {kRound, 1, 2}, {kLane, 1, 2}}, {{kLane, 2, 3}}});
  for (unsigned dim : {0, 1}) {
    Value emitted = apart.at(nest, dim, {{kLane, lane}});
    for (int64_t at = 0; at < 24; ++at)
      CHECK(valueOf(emitted, lane, at) == apart.at(dim, kLane, at));
  }
  CHECK(apart.at(0, kLane, 23) == 3 * 4 + 1);
  CHECK(apart.at(0, kRound, 1) == 2);
  CHECK(apart.at(1, kLane, 23) == 2);
  CHECK(valueOf(warpOf(nest, lane), lane, 77) == 2);
  CHECK(valueOf(laneOf(nest, lane), lane, 77) == 13);
}
