//===- rules-test.cpp - every op's rule fits it, and layouts follow it ----===//

#include "weft/dialects/weft/RuleVerification.h"
#include "weft/dialects/weft/Weft.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include "catch2/catch.hpp"

using namespace weft;

namespace {
const char *const header = R"(
#mesh = #weft.mesh<"x"=2, "y"=4>
#r = #weft.layout<#mesh, [{}, {}]>
#x = #weft.layout<#mesh, [{"x"}, {}]>
#cx = #weft.layout<#mesh, [{}, {"x"}]>
#y = #weft.layout<#mesh, [{"y"}, {}]>
#xy = #weft.layout<#mesh, [{"x"}, {"y"}]>
#cy = #weft.layout<#mesh, [{}, {"y"}]>
#p = #weft.layout<#mesh, [{}, {}], partial = sum{"y"}>
#px = #weft.layout<#mesh, [{"x"}, {}], partial = sum{"y"}>
#m = #weft.layout<#mesh, [{}, {}], partial = max{"y"}>
#v = #weft.layout<#mesh, [{"x"}]>
#vy = #weft.layout<#mesh, [{"y"}]>
#vp = #weft.layout<#mesh, [{}], partial = sum{"x"}>
#vm = #weft.layout<#mesh, [{}], partial = max{"x"}>
#flat = #weft.layout<#mesh, [{"x", "y"}]>
)";

struct Program {
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;

  explicit Program(const std::string &text) {
    context.loadDialect<WeftDialect, mlir::func::FuncDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    REQUIRE(module);
  }
  /// Returns the reasons why ops' layouts do not follow their rules; empty if
  /// all do.
  std::string disagreements() {
    std::string all;
    module->walk([&](mlir::Operation *op) {
      CHECK(ruleReason(op) == "");
      all += layoutsDisagree(op);
    });
    return all;
  }
  static std::string ruleReason(mlir::Operation *op) {
    auto sharded = llvm::dyn_cast<ShardingRuleOpInterface>(op);
    if (!sharded)
      return {};
    auto shapes = [](mlir::TypeRange types) {
      llvm::SmallVector<llvm::ArrayRef<int64_t>> result;
      for (mlir::Type type : types)
        result.push_back(llvm::cast<mlir::RankedTensorType>(type).getShape());
      return result;
    };
    ShardingRule rule = sharded.getShardingRule();
    return invalidReason(rule, shapes(op->getOperandTypes()),
                         shapes(op->getResultTypes()));
  }
};

/// Returns the reason why the layouts of one op, such as "weft.neg" on types
/// "(...) -> ...", do not follow its rule; empty if they do.
std::string check(const std::string &op, const std::string &types,
                  unsigned operands, const std::string &attributes = "") {
  std::string values;
  size_t open = types.find('('), close = types.rfind(") ->");
  std::string inputs = types.substr(open + 1, close - open - 1);
  std::string text = header + std::string("func.func @f() {\n");
  if (operands)
    text += "%v:" + std::to_string(operands) +
            " = \"test.source\"() : () -> (" + inputs + ")\n";
  for (unsigned i = 0; i < operands; ++i)
    values += (i ? ", %v#" : "%v#") + std::to_string(i);
  text += "%r = \"" + op + "\"(" + values + ") {" + attributes +
          "} : " + types + "\nreturn }\n";
  Program program("module { }");
  program.context.allowUnregisteredDialects();
  program.module =
      mlir::parseSourceString<mlir::ModuleOp>(text, &program.context);
  INFO(text);
  REQUIRE(program.module);
  return program.disagreements();
}
} // namespace

TEST_CASE("layouts that follow the rule agree") {
  const char *dot =
      "lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>";
  CHECK(check("weft.exp", "(tensor<4x8xf32, #xy>) -> tensor<4x8xf32, #xy>",
              1) == "");
  CHECK(
      check(
          "weft.dot",
          "(tensor<4x8xf32, #xy>, tensor<8x6xf32, #y>) -> tensor<4x6xf32, #px>",
          2, dot) == "");
  CHECK(
      check(
          "weft.mul",
          "(tensor<4x8xf32, #px>, tensor<4x8xf32, #x>) -> tensor<4x8xf32, #px>",
          2) == "");
  CHECK(
      check("weft.add",
            "(tensor<4x8xf32, #p>, tensor<4x8xf32, #p>) -> tensor<4x8xf32, #p>",
            2) == "");
  CHECK(check("weft.transpose", "(tensor<4x8xf32, #x>) -> tensor<8x4xf32, #cx>",
              1, "permutation = array<i64: 1, 0>") == "");
  CHECK(check("weft.reduce", "(tensor<4x8xf32, #x>) -> tensor<8xf32, #vm>", 1,
              "kind = #weft<reduce_kind max>, dims = array<i64: 0>") == "");
  CHECK(check("weft.reduce", "(tensor<4x8xf32, #cx>) -> tensor<8xf32, #v>", 1,
              "kind = #weft<reduce_kind max>, dims = array<i64: 0>") == "");
  CHECK(check("weft.broadcast", "(tensor<8xf32, #v>) -> tensor<4x8xf32, #cx>",
              1, "dims = array<i64: 1>") == "");
  CHECK(check("weft.reshape", "(tensor<2x4xf32, #xy>) -> tensor<8xf32, #flat>",
              1) == "");
}

TEST_CASE("layouts that do not follow the rule are refused with the reason") {
  using Catch::Contains;
  const char *dot =
      "lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>";
  CHECK(check("weft.exp", "(tensor<4x8xf32, #x>) -> tensor<4x8xf32, #r>", 1) ==
        "factor 0 of size 4 has axes {\"x\"} in operand 0, but {} in result 0");
  CHECK_THAT(check("weft.exp", "(tensor<4x8xf32, #x>) -> tensor<4x8xf32>", 1),
             Contains("result 0 has no layout"));
  CHECK_THAT(
      check("weft.exp", "(tensor<4x8xf32, #p>) -> tensor<4x8xf32, #p>", 1),
      Contains("reshard it first"));
  CHECK_THAT(
      check("weft.exp", "(tensor<4x8xf32, #m>) -> tensor<4x8xf32, #m>", 1),
      Contains("reshard it first"));
  CHECK_THAT(
      check("weft.neg", "(tensor<4x8xf32, #m>) -> tensor<4x8xf32, #m>", 1),
      Contains("result 0 should be a partial min, but is a partial max"));
  CHECK_THAT(
      check("weft.add",
            "(tensor<4x8xf32, #p>, tensor<4x8xf32, #r>) -> tensor<4x8xf32, #p>",
            2),
      Contains("each device would add all of it"));
  CHECK_THAT(
      check("weft.mul",
            "(tensor<4x8xf32, #p>, tensor<4x8xf32, #p>) -> tensor<4x8xf32, #p>",
            2),
      Contains("reshard one of them"));
  CHECK_THAT(
      check(
          "weft.dot",
          "(tensor<4x8xf32, #cy>, tensor<8x6xf32, #y>) -> tensor<4x6xf32, #r>",
          2, dot),
      Contains("result 0 should be partial over {\"y\"}, but is over {}"));
  CHECK_THAT(
      check(
          "weft.dot",
          "(tensor<4x8xf32, #x>, tensor<8x6xf32, #cx>) -> tensor<4x6xf32, #x>",
          2, dot),
      Contains("has axes {\"x\"} in operand 1, but {} in result 0"));
  CHECK_THAT(
      check(
          "weft.dot",
          "(tensor<4x8xf32, #p>, tensor<8x6xf32, #cy>) -> tensor<4x6xf32, #cy>",
          2, dot),
      Contains("over which an operand is partial"));
  CHECK_THAT(check("weft.reduce", "(tensor<4x8xf32, #x>) -> tensor<8xf32, #vp>",
                   1, "kind = #weft<reduce_kind max>, dims = array<i64: 0>"),
             Contains("should be a partial max, but is a partial sum"));
  CHECK_THAT(check("weft.constant", "() -> tensor<2x2xf32, #x>", 0,
                   "value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>"),
             Contains("cannot be sharded"));
}

TEST_CASE("rules fit ops that change sizes") {
  CHECK(check("weft.slice", "(tensor<4x8xf32>) -> tensor<4x3xf32>", 1,
              "start = array<i64: 0, 1>, limit = array<i64: 4, 7>, stride = "
              "array<i64: 1, 2>") == "");
  CHECK(check("weft.pad", "(tensor<4x8xf32>) -> tensor<5x8xf32>", 1,
              "low = array<i64: 1, 0>, high = array<i64: 0, 0>, interior = "
              "array<i64: 0, 0>") == "");
  CHECK(check("weft.concatenate",
              "(tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<6x8xf32>", 2,
              "dim = 0 : i64") == "");
  CHECK(check("weft.rng_bits", "(tensor<2xui32>) -> tensor<4x8xui32>", 1) ==
        "");
  CHECK(check("weft.iota", "() -> tensor<4x8xi32>", 0, "dim = 1 : i64") == "");
  CHECK(check("weft.dot",
              "(tensor<3x4x5xf32>, tensor<3x5x6xf32>) -> tensor<3x4x6xf32>", 2,
              "lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, "
              "lhs_contract = array<i64: 2>, rhs_contract = array<i64: 1>") ==
        "");
}

TEST_CASE("the accumulator of a scatter counts once") {
  using Catch::Contains;
  const char *rows =
      "kind = #weft<scatter_kind sum>, update_window_dims = array<i64: 1>, "
      "inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = "
      "array<i64: 0>, index_vector_dim = 1 : i64";
  CHECK(check("weft.scatter",
              "(tensor<4x8xf32, #p>, tensor<8xi32, #vy>, tensor<8x8xf32, #y>) "
              "-> tensor<4x8xf32, #p>",
              3, rows) == "");
  CHECK_THAT(
      check("weft.scatter",
            "(tensor<4x8xf32, #r>, tensor<8xi32, #vy>, tensor<8x8xf32, #y>) -> "
            "tensor<4x8xf32, #p>",
            3, rows),
      Contains("operand 0 should be partial over {\"y\"}, but is over {}"));
}

TEST_CASE("the rule of a move has a factor for each dimension of the result") {
  Program program(R"(
func.func @f(%x: tensor<8x6xf32>, %y: tensor<2x8xf32>, %z: tensor<f32>) {
  %r = weft.move %x, %y, %z boxes <[0:8, 0:6] of 0 at [d0, d1], [0:8, 6:2] of 1 at [d1, d0], [0:8, 8:1] of 2 at []> : (tensor<8x6xf32>, tensor<2x8xf32>, tensor<f32>) -> tensor<8x9xf32> {
  ^bb0(%a: tensor<8x6xf32>, %b: tensor<2x8xf32>, %c: tensor<f32>):
    %t = weft.transpose %b [1, 0] : tensor<2x8xf32> -> tensor<8x2xf32>
    %j = weft.concatenate %a, %t dim 1 : (tensor<8x6xf32>, tensor<8x2xf32>) -> tensor<8x8xf32>
    %p = weft.pad %j with %c low [0, 0] high [0, 1] interior [0, 0] : tensor<8x8xf32>, tensor<f32> -> tensor<8x9xf32>
    weft.yield %p : tensor<8x9xf32>
  }
  return
})");
  CHECK(program.disagreements().empty());
  program.module->walk([&](MoveOp op) {
    CHECK(toString(op.getShardingRule()) ==
          "([i, j], [j, i], []) -> ([i, j]) {i=8, j=9} shift={j}");
  });
}

TEST_CASE("numbers that are no boxes") {
  mlir::MLIRContext context;
  context.loadDialect<WeftDialect>();
  std::string message;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &its) {
    message = its.str();
    return mlir::success();
  });
  auto refuse = [&] {
    return mlir::emitError(mlir::UnknownLoc::get(&context));
  };
  CHECK(!BoxesAttr::getChecked(refuse, &context, {0, 1}));
  CHECK(message == "2 numbers are no boxes");
}
