//===- interpret-test.cpp - meanings, against closed forms and JAX --------===//
//
// Figures of JAX were computed with jax 0.10.2 in float32.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/coll/Coll.h"
#include "weft/passes/interpret/Interpret.h"
#include "weft/passes/training/Passes.h"
#include "weft/passes/verify/CompareWithGlobal.h"
#include "weft/test/unit/ParsedProgram.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include "catch2/catch.hpp"

#include <cmath>

using namespace mlir;
using namespace weft;

namespace {

struct Program : test::ParsedProgram {
  using ParsedProgram::ParsedProgram;
  func::FuncOp entry() { return *module->getOps<func::FuncOp>().begin(); }
  Type f32() { return Float32Type::get(&context); }
  Tensors run(const Tensors &arguments) {
    FailureOr<Tensors> results = interpretFunction(entry(), arguments);
    REQUIRE(succeeded(results));
    return *results;
  }
};

std::vector<double> reals(const Tensor &tensor) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.size(); ++i)
    values.push_back(tensor.real(i));
  return values;
}

std::vector<int64_t> integers(const Tensor &tensor) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < tensor.size(); ++i)
    values.push_back(tensor.integer(i));
  return values;
}

void checkClose(const Tensor &tensor, std::vector<double> expected) {
  REQUIRE(tensor.size() == static_cast<int64_t>(expected.size()));
  for (int64_t i = 0; i < tensor.size(); ++i)
    CHECK(tensor.real(i) == Approx(expected[i]).epsilon(2e-6));
}

/// Runs one op on the devices of a mesh of 4; locals[d] is the tensor of device
/// d.
Tensors onFour(const std::string &op, const std::string &from,
               const std::string &to,
               const std::vector<std::vector<double>> &locals) {
  Program program("#mesh = #weft.mesh<\"a\"=4>\n"
                  "func.func @f(%x: " +
                  from + ") -> " + to + " {\n  %0 = " + op + " : " + from +
                  " -> " + to + "\n  return %0 : " + to + "\n}");
  Mesh mesh;
  REQUIRE(parseMesh("a=4", mesh) == "");
  auto type = cast<RankedTensorType>(program.entry().getArgumentTypes()[0]);
  llvm::SmallVector<Tensors> arguments;
  for (const auto &local : locals)
    arguments.push_back(
        {Tensor::ofReals(type.getShape(), type.getElementType(), local)});
  auto results = interpretDevices(program.entry(), mesh, arguments);
  REQUIRE(succeeded(results));
  Tensors tensors;
  for (Tensors &device : *results)
    tensors.push_back(device[0]);
  return tensors;
}

} // namespace

TEST_CASE("elements round and wrap to their type") {
  MLIRContext context;
  Builder b(&context);
  CHECK(integers(Tensor::ofIntegers({2}, b.getIntegerType(8), {200, -129})) ==
        std::vector<int64_t>{-56, 127});
  CHECK(integers(Tensor::ofIntegers({1}, b.getIntegerType(8, false), {300})) ==
        std::vector<int64_t>{44});
  CHECK(reals(Tensor::ofReals({1}, b.getF32Type(), {0.1}))[0] ==
        static_cast<double>(0.1f));
  CHECK(Tensor::ofReals({1}, b.getF32Type(), {1}).bits(0) == 0x3f800000);
  CHECK(reals(Tensor::ofReals({1}, b.getBF16Type(), {1.00390625}))[0] == 1.0);
}

TEST_CASE("random bits are those of JAX") {
  Program program("func.func @f(%k: tensor<2xui32>) -> tensor<4x5xui32> {\n"
                  "  %0 = weft.rng_bits %k : tensor<2xui32> -> "
                  "tensor<4x5xui32>\n  return %0 : tensor<4x5xui32>\n}");
  Type ui32 = IntegerType::get(&program.context, 32, IntegerType::Unsigned);
  auto bits = [&](int64_t k0, int64_t k1) {
    return integers(program.run({Tensor::ofIntegers({2}, ui32, {k0, k1})})[0]);
  };
  std::vector<int64_t> zero = bits(0, 0), answer = bits(0, 42);
  CHECK(std::vector(zero.begin(), zero.begin() + 3) ==
        std::vector<int64_t>{4070199207, 4202968722, 1427181096});
  CHECK(std::vector(answer.begin(), answer.begin() + 4) ==
        std::vector<int64_t>{2098992034, 2919706841, 2646866425, 2409546199});
  CHECK(std::vector(answer.end() - 2, answer.end()) ==
        std::vector<int64_t>{316699916, 3339862105});
}

TEST_CASE("a dot with batch dimensions is the sum it stands for") {
  Program program(
      "func.func @f(%x: tensor<2x3x4xf32>, %y: tensor<4x5x2xf32>) -> "
      "tensor<2x3x5xf32> {\n  %0 = weft.dot %x, %y batch [0] x [2] contract "
      "[2] x [0] : tensor<2x3x4xf32>, tensor<4x5x2xf32> -> "
      "tensor<2x3x5xf32>\n  return %0 : tensor<2x3x5xf32>\n}");
  Tensor x = drawTensor(RankedTensorType::get({2, 3, 4}, program.f32()),
                        Draw::Integers, 1);
  Tensor y = drawTensor(RankedTensorType::get({4, 5, 2}, program.f32()),
                        Draw::Integers, 2);
  Tensor result = program.run({x, y})[0];
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t m = 0; m < 3; ++m)
      for (int64_t n = 0; n < 5; ++n) {
        double sum = 0;
        for (int64_t k = 0; k < 4; ++k)
          sum += x.real((b * 3 + m) * 4 + k) * y.real((k * 5 + n) * 2 + b);
        CHECK(result.real((b * 3 + m) * 5 + n) == sum);
      }
}

TEST_CASE("uneven shards are padded with NaN and gather to the whole tensor") {
  MLIRContext context;
  Mesh mesh;
  REQUIRE(parseMesh("a=2,b=3", mesh) == "");
  for (const char *text : {"[a,b]", "[(a,b),-]", "[-,(b,a)]", "[b,-]"}) {
    Layout layout;
    REQUIRE(parseCommandText(text, mesh, layout) == "");
    Tensor global =
        drawTensor(RankedTensorType::get({7, 5}, Float32Type::get(&context)),
                   Draw::Reals, 3);
    Tensors locals = shardTensor(mesh, layout, global);
    Tensor back;
    CHECK(gatherTensor(mesh, layout, {7, 5}, locals, back) == "");
    CHECK(reals(back) == reals(global));
  }
  Layout rows;
  REQUIRE(parseCommandText("[a]", mesh, rows) == "");
  Tensors locals = shardTensor(
      mesh, rows, Tensor::ofReals({3}, Float32Type::get(&context), {1, 2, 3}));
  CHECK(reals(locals[0]) == std::vector<double>{1, 2});
  CHECK(locals[3].real(0) == 3);
  CHECK(std::isnan(locals[3].real(1)));
  locals[1].setReal(0, 9);
  Tensor back;
  CHECK(gatherTensor(mesh, rows, {3}, locals, back) ==
        "devices 0 and 1 hold different copies of [0]: 1 != 9");
}

TEST_CASE("collectives agree with CollOps.td") {
  using V = std::vector<double>;
  std::vector<V> two = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};
  Tensors gathered = onFour("coll.all_gather %x dim 0 over #mesh [\"a\"]",
                            "tensor<2xf32>", "tensor<7xf32>", two);
  CHECK(reals(gathered[2]) == V{1, 2, 3, 4, 5, 6, 7});
  std::vector<V> five(4, V{1, 2, 3, 4, 5});
  Tensors scattered =
      onFour("coll.reduce_scatter sum %x dim 0 over #mesh [\"a\"]",
             "tensor<5xf32>", "tensor<2xf32>", five);
  CHECK(reals(scattered[1]) == V{12, 16});
  CHECK(scattered[2].real(0) == 20);
  CHECK(std::isnan(scattered[2].real(1)));
  CHECK(std::isnan(scattered[3].real(0)));
  Tensors sliced = onFour("coll.slice %x dim 0 over #mesh [\"a\"]",
                          "tensor<5xf32>", "tensor<2xf32>", five);
  CHECK(reals(sliced[1]) == V{3, 4});
  // The tensor is 4x4 with element 10 row + column; it moves from rows to
  // columns.
  Tensors moved = onFour(
      "coll.all_to_all %x split 1 concat 0 over #mesh [\"a\"]",
      "tensor<1x4xf32>", "tensor<4x1xf32>",
      {{0, 1, 2, 3}, {10, 11, 12, 13}, {20, 21, 22, 23}, {30, 31, 32, 33}});
  CHECK(reals(moved[2]) == V{2, 12, 22, 32});
  Tensors exchanged = onFour(
      "coll.exchange %x of [4, 4] from <#mesh, [{\"a\"}, "
      "{}]> to <#mesh, [{}, {\"a\"}]>",
      "tensor<1x4xf32>", "tensor<4x1xf32>",
      {{0, 1, 2, 3}, {10, 11, 12, 13}, {20, 21, 22, 23}, {30, 31, 32, 33}});
  CHECK(reals(exchanged[3]) == V{3, 13, 23, 33});
}

namespace {

/// Returns the results of `step`, the gradients of @loss, for these arguments;
/// each is a shape and its values.
Tensors
gradientsOf(const std::string &loss, const std::string &step,
            std::vector<std::pair<std::vector<int64_t>, std::vector<double>>>
                arguments) {
  Program program(step + "\n" + loss);
  PassManager pm(&program.context);
  pm.addPass(createDifferentiatePass());
  REQUIRE(succeeded(pm.run(*program.module)));
  Tensors tensors;
  for (auto &[shape, values] : arguments)
    tensors.push_back(Tensor::ofReals(shape, program.f32(), values));
  return program.run(tensors);
}

} // namespace

TEST_CASE("gradients of functions of one variable are JAX's") {
  std::string loss = "func.func private @loss(%x: tensor<4xf32>) -> "
                     "tensor<f32> {\n  %s0 = weft.neg %x : tensor<4xf32>\n";
  int count = 0;
  for (const char *op : {"exp", "expm1", "log", "log1p", "sqrt", "rsqrt",
                         "tanh", "logistic", "erf", "relu", "abs", "floor"}) {
    std::string n = std::to_string(count++), next = std::to_string(count);
    loss += "  %v" + n + " = weft." + op + " %x : tensor<4xf32>\n  %s" + next +
            " = weft.add %s" + n + ", %v" + n + " : tensor<4xf32>\n";
  }
  loss += "  %r = weft.reduce sum %s12 dims [0] : tensor<4xf32> -> "
          "tensor<f32>\n  return %r : tensor<f32>\n}";
  Tensors g = gradientsOf(
      loss,
      "func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %l, %g = "
      "weft.value_and_grad @loss(%x) wrt [0] : (tensor<4xf32>) -> "
      "(tensor<f32>, tensor<4xf32>)\n  return %g : tensor<4xf32>\n}",
      {{{4}, {0.5, 1.25, 2.0, 0.75}}});
  checkClose(g[0], {8.157236099243164, 10.004613876342773, 16.984535217285156,
                    8.40372371673584});
}

TEST_CASE("gradients of functions of two variables are JAX's, ties by half") {
  std::string loss = R"(
    func.func private @loss(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<f32> {
      %0 = weft.mul %x, %y : tensor<4xf32>
      %1 = weft.div %x, %y : tensor<4xf32>
      %2 = weft.max %x, %y : tensor<4xf32>
      %3 = weft.min %x, %y : tensor<4xf32>
      %4 = weft.pow %x, %y : tensor<4xf32>
      %5 = weft.add %0, %1 : tensor<4xf32>
      %6 = weft.add %5, %2 : tensor<4xf32>
      %7 = weft.add %6, %3 : tensor<4xf32>
      %8 = weft.add %7, %4 : tensor<4xf32>
      %9 = weft.sub %8, %y : tensor<4xf32>
      %r = weft.reduce sum %9 dims [0] : tensor<4xf32> -> tensor<f32>
      return %r : tensor<f32>
    })";
  Tensors g = gradientsOf(
      loss, R"(
    func.func @step(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
      %l, %g:2 = weft.value_and_grad @loss(%x, %y) wrt [0, 1]
        : (tensor<4xf32>, tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>, tensor<4xf32>)
      return %g#0, %g#1 : tensor<4xf32>, tensor<4xf32>
    })",
      {{{4}, {0.5, 1.25, 2.0, 0.75}}, {{4}, {1.5, -0.5, 2.0, 1.0}}});
  checkClose(g[0], {4.2273268699646, -1.8577709197998047, 7.5, 4.0});
  checkClose(g[1], {0.03271329402923584, -3.5504140853881836, 4.272588729858398,
                    -0.21576154232025146});
}

TEST_CASE("gradients of dots, reductions and moves are JAX's") {
  std::string loss = R"(
    func.func private @loss(%w: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<f32> {
      %a = weft.constant dense<[[1.0, 2.0], [2.0, -1.0], [0.5, 0.0]]> : tensor<3x2xf32>
      %0 = weft.dot %a, %w contract [1] x [0] : tensor<3x2xf32>, tensor<2x3xf32> -> tensor<3x3xf32>
      %1 = weft.broadcast %b dims [1] : tensor<3xf32> -> tensor<3x3xf32>
      %h = weft.add %0, %1 : tensor<3x3xf32>
      %m = weft.reduce max %h dims [1] : tensor<3x3xf32> -> tensor<3xf32>
      %t = weft.transpose %h [1, 0] : tensor<3x3xf32> -> tensor<3x3xf32>
      %s = weft.slice %t from [0, 0] to [3, 3] by [2, 1] : tensor<3x3xf32> -> tensor<2x3xf32>
      %c = weft.concatenate %s, %h dim 0 : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<5x3xf32>
      %f = weft.reshape %c : tensor<5x3xf32> -> tensor<15xf32>
      %q = weft.dot %f, %f contract [0] x [0] : tensor<15xf32>, tensor<15xf32> -> tensor<f32>
      %m2 = weft.mul %m, %m : tensor<3xf32>
      %m3 = weft.mul %m2, %m : tensor<3xf32>
      %r = weft.reduce sum %m3 dims [0] : tensor<3xf32> -> tensor<f32>
      %l = weft.add %q, %r : tensor<f32>
      return %l : tensor<f32>
    })";
  Tensors g =
      gradientsOf(loss, R"(
    func.func @step(%w: tensor<2x3xf32>, %b: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>) {
      %l, %g:2 = weft.value_and_grad @loss(%w, %b) wrt [0, 1]
        : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<f32>, tensor<2x3xf32>, tensor<3xf32>)
      return %g#0, %g#1 : tensor<2x3xf32>, tensor<3xf32>
    })",
                  {{{2, 3}, {-2, -1, 0, 1, 2, 3}}, {{3}, {0.5, -1, 0.25}}});
  checkClose(g[0], {-35.0, -17.5, 166.15625, 22.0, 18.0, 272.6875});
  checkClose(g[1], {-18.0, -9.0, 155.0625});
}
TEST_CASE("a partitioned program is compared with the global one") {
  auto text = [](const char *kind) {
    return std::string(R"(
    #mesh = #weft.mesh<"a"=4>
    func.func @global(%x: tensor<8x2xf32>) -> tensor<2xf32> {
      %0 = weft.reduce sum %x dims [0] : tensor<8x2xf32> -> tensor<2xf32>
      return %0 : tensor<2xf32>
    }
    func.func @local(%x: tensor<2x2xf32> {weft.layout = #weft.layout<#mesh, [{"a"}, {}]>, weft.global_type = tensor<8x2xf32>})
        -> (tensor<2xf32> {weft.layout = #weft.layout<#mesh, [{}]>, weft.global_type = tensor<2xf32>}) {
      %0 = weft.reduce sum %x dims [0] : tensor<2x2xf32> -> tensor<2xf32>
      %1 = coll.all_reduce )") +
           kind + R"( %0 over #mesh ["a"] : tensor<2xf32>
      return %1 : tensor<2xf32>
    })";
  };
  Program right(text("sum"));
  CHECK(succeeded(
      compareWithGlobal(right.function("global"), right.function("local"))));
  Program wrong(text("max"));
  std::string message;
  ScopedDiagnosticHandler handler(&wrong.context, [&](Diagnostic &diagnostic) {
    message += diagnostic.str();
  });
  CHECK(failed(
      compareWithGlobal(wrong.function("global"), wrong.function("local"))));
  CHECK_THAT(message, Catch::Contains("result 0 differs at [0]: the global "
                                      "program gives"));
}
