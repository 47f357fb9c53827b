//===- interpret-refusals-test.cpp - programs that the interpreter refuses ===//

#include "weft/dialects/coll/Coll.h"
#include "weft/passes/interpret/Interpret.h"
#include "weft/passes/verify/CompareWithGlobal.h"

#include "mlir/Parser/Parser.h"

#include "catch2/catch.hpp"

using namespace mlir;
using namespace weft;
using Catch::Contains;

namespace {

/// A program and the text of its diagnostics.
struct Refused {
  explicit Refused(const std::string &text)
      : handler(&context,
                [this](Diagnostic &diagnostic) { said += diagnostic.str(); }) {
    context.loadDialect<WeftDialect, coll::CollDialect, func::FuncDialect>();
    module = parseSourceString<ModuleOp>(text, &context);
    INFO(said);
    REQUIRE(module);
  }
  func::FuncOp function(llvm::StringRef name) {
    auto found = module->lookupSymbol<func::FuncOp>(name);
    REQUIRE(found);
    return found;
  }
  Tensor zeros(int64_t size) {
    return Tensor(RankedTensorType::get({size}, Float32Type::get(&context)));
  }
  std::string interpreted(const Tensors &arguments) {
    said.clear();
    CHECK(failed(interpretFunction(function("f"), arguments)));
    return said;
  }
  std::string onDevices(llvm::StringRef devices,
                        llvm::ArrayRef<Tensors> arguments) {
    said.clear();
    Mesh mesh;
    REQUIRE(parseMesh(devices, mesh) == "");
    CHECK(failed(interpretDevices(function("f"), mesh, arguments)));
    return said;
  }
  std::string compared() {
    said.clear();
    CHECK(failed(compareWithGlobal(function("global"), function("local"))));
    return said;
  }
  MLIRContext context;
  std::string said;
  ScopedDiagnosticHandler handler;
  OwningOpRef<ModuleOp> module;
};

const char *const kIdentity = "func.func @f(%x: tensor<4xf32>) -> "
                              "tensor<4xf32> {\n  return %x : tensor<4xf32>\n}";

} // namespace

TEST_CASE("the interpreter names arguments that a function does not take") {
  Refused program(kIdentity);
  CHECK_THAT(program.interpreted({}),
             Contains("is given 0 arguments, it takes 1"));
  CHECK_THAT(
      program.interpreted({program.zeros(3)}),
      Contains(
          "is given tensor<3xf32> as argument 0, it takes 'tensor<4xf32>'"));
  CHECK_THAT(program.onDevices("a=2", {{program.zeros(4)}}),
             Contains("is given arguments for 1 devices, the mesh has 2"));
}

TEST_CASE("the interpreter runs bodies of one block only") {
  Refused program("func.func private @f(tensor<4xf32>) -> tensor<4xf32>");
  CHECK_THAT(program.interpreted({program.zeros(4)}),
             Contains("has 0 blocks; a body of 1 can be interpreted"));
}

TEST_CASE("the interpreter ends a recursion") {
  Refused program("func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
                  "  %0 = call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>\n"
                  "  return %0 : tensor<4xf32>\n}");
  CHECK_THAT(
      program.interpreted({program.zeros(4)}),
      Contains("is nested 256 calls deep; recursion cannot be interpreted"));
}

TEST_CASE("the interpreter names an op without a meaning") {
  Refused program("func.func private @loss(tensor<4xf32>) -> tensor<f32>\n"
                  "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
                  "  %0:2 = weft.value_and_grad @loss(%x) wrt [0] : "
                  "(tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>)\n"
                  "  return %0#1 : tensor<4xf32>\n}");
  CHECK_THAT(
      program.interpreted({program.zeros(4)}),
      Contains("'weft.value_and_grad' op has no meaning in the interpreter"));
}

TEST_CASE("a collective runs on the mesh that it names") {
  Refused program(
      "#mesh = #weft.mesh<\"a\"=2>\n"
      "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
      "  %0 = coll.all_reduce sum %x over #mesh [\"a\"] : tensor<4xf32>\n"
      "  return %0 : tensor<4xf32>\n}");
  CHECK_THAT(
      program.onDevices(
          "a=3", {{program.zeros(4)}, {program.zeros(4)}, {program.zeros(4)}}),
      Contains("is over another mesh than the one of 3 devices that the "
               "program runs on"));
}

TEST_CASE(
    "per-device code is part of a global program, and yields true copies") {
  Refused manual(
      "#mesh = #weft.mesh<\"a\"=2>\n#a = #weft.layout<#mesh, [{\"a\"}]>\n#w = "
      "#weft.layout<#mesh, [{}]>\n"
      "func.func @f(%x: tensor<4xf32>) -> tensor<2xi64> {\n"
      "  %0 = weft.manual(%x) from [#a] to [#w] : (tensor<4xf32>) -> "
      "tensor<2xi64> {\n"
      "  ^bb0(%p: tensor<2xf32>):\n"
      "    %c = coll.coordinate over #mesh [\"a\"] : tensor<i64>\n"
      "    %b = weft.broadcast %c dims [] : tensor<i64> -> tensor<2xi64>\n"
      "    weft.yield %b : tensor<2xi64>\n"
      "  }\n"
      "  return %0 : tensor<2xi64>\n}");
  CHECK_THAT(
      manual.interpreted({manual.zeros(4)}),
      Contains(
          "result 0: devices 0 and 1 hold different copies of [0]: 0 != 1"));
  CHECK_THAT(manual.onDevices("a=2", {{manual.zeros(4)}, {manual.zeros(4)}}),
             Contains("is run by each of 2 devices; partition it first"));
}

TEST_CASE("programs with other ports are not compared") {
  std::string global =
      "func.func @global(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
      "  return %x : tensor<4xf32>\n}\n";
  Refused results(global + "func.func @local(%x: tensor<4xf32>) -> "
                           "(tensor<4xf32>, tensor<4xf32>) {\n"
                           "  return %x, %x : tensor<4xf32>, tensor<4xf32>\n}");
  CHECK_THAT(
      results.compared(),
      Contains("has 1 arguments and 2 results, the global program 1 and 1"));
  Refused scalar(
      global +
      "func.func @local(%x: index) -> index {\n  return %x : index\n}");
  CHECK_THAT(scalar.compared(), Contains("argument 0 is no tensor: 'index'"));
  Refused meshes(global + "#a = #weft.layout<#weft.mesh<\"a\"=1>, [{}]>\n"
                          "#b = #weft.layout<#weft.mesh<\"b\"=1>, [{}]>\n"
                          "func.func @local(%x: tensor<4xf32> {weft.layout = "
                          "#a}) -> (tensor<4xf32> {weft.layout = #b}) {\n"
                          "  return %x : tensor<4xf32>\n}");
  CHECK_THAT(meshes.compared(),
             Contains("result 0 lies on another mesh than those before it"));
  Refused types(global +
                "func.func @local(%x: tensor<4xf32>) -> tensor<4xi32> {\n"
                "  %0 = weft.bitcast %x : tensor<4xf32> -> tensor<4xi32>\n"
                "  return %0 : tensor<4xi32>\n}");
  CHECK_THAT(types.compared(),
             Contains("result 0 has type 'tensor<4xi32>', the global program's "
                      "is 'tensor<4xf32>'"));
}

TEST_CASE("the interpreter gives up on loops without end") {
  Refused endless(
      "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
      "  %p = weft.constant dense<true> : tensor<i1>\n"
      "  %r:2 = weft.while(%p, %x) : (tensor<i1>, tensor<4xf32>) -> "
      "(tensor<i1>, tensor<4xf32>) {\n"
      "  ^bb0(%q: tensor<i1>, %v: tensor<4xf32>):\n"
      "    weft.condition %q(%q, %v) : tensor<i1>, tensor<i1>, tensor<4xf32>\n"
      "  } do {\n"
      "  ^bb0(%q: tensor<i1>, %v: tensor<4xf32>):\n"
      "    weft.yield %q, %v : tensor<i1>, tensor<4xf32>\n"
      "  }\n"
      "  return %r#1 : tensor<4xf32>\n}");
  CHECK_THAT(
      endless.interpreted({endless.zeros(4)}),
      Contains("runs more than 1048576 times; the interpreter gives up"));
  Refused overlong(
      "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
      "  %r = weft.for 10000000 (%x) : (tensor<4xf32>) -> tensor<4xf32> {\n"
      "  ^bb0(%i: tensor<i32>, %v: tensor<4xf32>):\n"
      "    weft.yield %v : tensor<4xf32>\n"
      "  }\n"
      "  return %r : tensor<4xf32>\n}");
  CHECK_THAT(
      overlong.interpreted({overlong.zeros(4)}),
      Contains(
          "runs 10000000 times, more than the 1048576 that are interpreted"));
}

TEST_CASE("devices agree on predicates") {
  Refused program(
      "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
      "  %c = coll.coordinate over #weft.mesh<\"a\"=2> [\"a\"] : tensor<i64>\n"
      "  %i = weft.convert %c : tensor<i64> -> tensor<i32>\n"
      "  %r = weft.case %i(%x) : tensor<i32>, (tensor<4xf32>) -> tensor<4xf32> "
      "{\n"
      "  ^bb0(%v: tensor<4xf32>):\n"
      "    weft.yield %v : tensor<4xf32>\n"
      "  }, {\n"
      "  ^bb0(%v: tensor<4xf32>):\n"
      "    weft.yield %v : tensor<4xf32>\n"
      "  }\n"
      "  return %r : tensor<4xf32>\n}");
  CHECK_THAT(program.onDevices("a=2", {{program.zeros(4)}, {program.zeros(4)}}),
             Contains("is decided by 1 on device 1, but by 0 on device 0; a "
                      "predicate must be the same on all"));
}
