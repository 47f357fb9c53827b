//===- partition-meaning-test.cpp - device programs mean the global one ---===//
//
// Partitioned programs have the results of the global ones on several meshes,
// with NaN in all padding.

#include "weft/passes/interpret/Interpret.h"
#include "weft/test/unit/PartitionPasses.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace weft;
using namespace mlir;

namespace {
/// A train step of two layers for 7 samples, with a loss, two gradients and one
/// slot.
constexpr const char *trainStep = R"(
module attributes {weft.mesh = #mesh} {
  func.func @train(
      %w1: tensor<5x6xf32> {weft.name = "d1/kernel", weft.role = "weight", weft.donated = 0 : i64, weft.layout = #w1},
      %w2: tensor<6x3xf32> {weft.name = "d2/kernel", weft.role = "weight", weft.donated = 1 : i64, weft.layout = #w2},
      %m1: tensor<5x6xf32> {weft.name = "m", weft.role = "slot", weft.donated = 2 : i64, weft.layout = #m1},
      %x: tensor<7x5xf32> {weft.role = "input", weft.layout = #x},
      %y: tensor<7x3xf32> {weft.role = "label", weft.layout = #x})
      -> (tensor<5x6xf32>, tensor<6x3xf32>, tensor<5x6xf32>, tensor<f32>) {
    %zero = weft.constant dense<0.0> : tensor<7x6xf32>
    %lr1 = weft.constant dense<0.5> : tensor<5x6xf32>
    %0 = weft.dot %x, %w1 contract [1] x [0] : tensor<7x5xf32>, tensor<5x6xf32> -> tensor<7x6xf32>
    %1 = weft.relu %0 : tensor<7x6xf32>
    %2 = weft.dot %1, %w2 contract [1] x [0] : tensor<7x6xf32>, tensor<6x3xf32> -> tensor<7x3xf32>
    %d = weft.sub %2, %y : tensor<7x3xf32>
    %sq = weft.mul %d, %d : tensor<7x3xf32>
    %loss = weft.reduce sum %sq dims [0, 1] : tensor<7x3xf32> -> tensor<f32>
    %g2 = weft.dot %1, %d contract [0] x [0] : tensor<7x6xf32>, tensor<7x3xf32> -> tensor<6x3xf32>
    %w2n = weft.sub %w2, %g2 : tensor<6x3xf32>
    %dh = weft.dot %d, %w2 contract [1] x [1] : tensor<7x3xf32>, tensor<6x3xf32> -> tensor<7x6xf32>
    %p = weft.compare gt %0, %zero : tensor<7x6xf32>, tensor<7x6xf32> -> tensor<7x6xi1>
    %dr = weft.select %p, %dh, %zero : tensor<7x6xi1>, tensor<7x6xf32>, tensor<7x6xf32> -> tensor<7x6xf32>
    %g1 = weft.dot %x, %dr contract [0] x [0] : tensor<7x5xf32>, tensor<7x6xf32> -> tensor<5x6xf32>
    %m1n = weft.add %m1, %g1 : tensor<5x6xf32>
    %u1 = weft.mul %m1n, %lr1 : tensor<5x6xf32>
    %w1n = weft.sub %w1, %u1 : tensor<5x6xf32>
    return %w1n, %w2n, %m1n, %loss : tensor<5x6xf32>, tensor<6x3xf32>, tensor<5x6xf32>, tensor<f32>
  }
})";

struct Setting {
  const char *mesh, *w1, *w2, *m1, *x;
};

std::string programText(const Setting &s) {
  std::string text = std::string("#mesh = #weft.mesh<") + s.mesh + ">\n";
  auto alias = [&](const char *name, const char *dims) {
    text += std::string("#") + name + " = #weft.layout<#mesh, " + dims + ">\n";
  };
  alias("w1", s.w1);
  alias("w2", s.w2);
  alias("m1", s.m1);
  alias("x", s.x);
  return text + trainStep;
}

Tensors someArguments(func::FuncOp function) {
  Tensors arguments;
  int64_t state = 1;
  for (Type type : function.getArgumentTypes()) {
    Tensor tensor(cast<RankedTensorType>(type));
    for (int64_t i = 0; i < tensor.size(); ++i) {
      state = (state * 75 + 74) % 65537;
      tensor.setReal(i, double(state) / 65537 - 0.5);
    }
    arguments.push_back(tensor);
  }
  return arguments;
}

void partition(ModuleOp module) {
  PassManager pm(module.getContext());
  test::addPartitionWithMoves(pm);
  REQUIRE(succeeded(pm.run(module)));
}

Layout portLayout(Attribute attribute) {
  return cast<LayoutAttr>(attribute).getLayout();
}

/// Returns the gathered results of the partitioned function.
Tensors runOnDevices(func::FuncOp function, const Mesh &mesh,
                     llvm::ArrayRef<Tensor> arguments,
                     llvm::ArrayRef<Tensor> like) {
  llvm::SmallVector<Tensors> locals(mesh.size());
  for (unsigned i = 0; i < arguments.size(); ++i) {
    Layout layout = portLayout(function.getArgAttr(i, kLayoutAttr));
    Tensors shards = shardTensor(mesh, layout, arguments[i]);
    for (int64_t device = 0; device < mesh.size(); ++device)
      locals[device].push_back(shards[device]);
  }
  auto results = interpretDevices(function, mesh, locals);
  REQUIRE(succeeded(results));
  Tensors gathered;
  for (unsigned i = 0; i < like.size(); ++i) {
    Layout layout = portLayout(function.getResultAttr(i, kLayoutAttr));
    Tensors shards;
    for (const Tensors &device : *results)
      shards.push_back(device[i]);
    Tensor global;
    REQUIRE(gatherTensor(mesh, layout, like[i].getShape(), shards, global) ==
            "");
    gathered.push_back(global);
  }
  return gathered;
}
} // namespace

TEST_CASE("a partitioned train step gives the global results") {
  Setting s = GENERATE(
      Setting{"\"d\"=1", "[{}, {}]", "[{}, {}]", "[{}, {}]", "[{\"d\"}, {}]"},
      Setting{"\"d\"=3", "[{}, {}]", "[{}, {}]", "[{}, {}]", "[{\"d\"}, {}]"},
      Setting{"\"d\"=6", "[{}, {}]", "[{}, {}]", "[{\"d\"}, {}]",
              "[{\"d\"}, {}]"},
      Setting{"\"d\"=3", "[{\"d\"}, {}]", "[{}, {\"d\"}]", "[{\"d\"}, {}]",
              "[{\"d\"}, {}]"},
      Setting{"\"d\"=2, \"m\"=4", "[{}, {\"m\"}]", "[{}, {}]", "[{}, {\"m\"}]",
              "[{\"d\"}, {}]"},
      Setting{"\"d\"=2, \"m\"=4", "[{\"m\"}, {}]", "[{\"m\"}, {\"d\"}]",
              "[{}, {}]", "[{\"d\"}, {\"m\"}]"},
      Setting{"\"d\"=2, \"m\"=3", "[{}, {\"d\", \"m\"}]", "[{\"m\"}, {}]",
              "[{\"m\"}, {}]", "[{}, {}]"});
  CAPTURE(s.mesh, s.w1, s.w2, s.m1, s.x);
  MLIRContext context;
  context.loadDialect<WeftDialect, coll::CollDialect, func::FuncDialect>();
  auto module = parseSourceString<ModuleOp>(programText(s), &context);
  REQUIRE(module);
  auto function = *module->getOps<func::FuncOp>().begin();
  Tensors arguments = someArguments(function);
  auto expected = interpretFunction(function, arguments);
  REQUIRE(succeeded(expected));
  partition(*module);
  Mesh mesh = (*module)->getAttrOfType<MeshAttr>(kMeshAttr).getMesh();
  Tensors found = runOnDevices(*module->getOps<func::FuncOp>().begin(), mesh,
                               arguments, *expected);
  for (unsigned i = 0; i < found.size(); ++i)
    for (int64_t e = 0; e < found[i].size(); ++e)
      REQUIRE(found[i].real(e) ==
              Approx((*expected)[i].real(e)).margin(1e-5).epsilon(1e-5));
}

namespace {
/// A program that moves its inputs, which are zeros of both signs, by sums over
/// devices: a look-up of rows that other devices have, blocks that lie in two
/// shards or reach beyond the tensor, and sharded updates.
constexpr const char *zeros = R"(
module attributes {weft.mesh = #mesh} {
  func.func @main(
      %x: tensor<7x2xf32> {weft.role = "input", weft.layout = #rows},
      %c: tensor<7xcomplex<f32>> {weft.role = "input", weft.layout = #split},
      %z: tensor<7x2xf32> {weft.role = "input", weft.layout = #whole},
      %u: tensor<4x2xf32> {weft.role = "input", weft.layout = #rows})
      -> (tensor<5x2xf32>, tensor<3x2xf32>, tensor<4x3x2xf32>, tensor<4x3x2xf32>, tensor<5xcomplex<f32>>, tensor<7x2xf32>) {
    %i = weft.constant dense<[6, 0, 3, 9, 2]> : tensor<5xi32>
    %j = weft.constant dense<[1, 6, -1, 3]> : tensor<4xi32>
    %two = weft.constant dense<2> : tensor<i32>
    %none = weft.constant dense<0> : tensor<i32>
    %rows = weft.gather %x at %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 2>} : tensor<7x2xf32>, tensor<5xi32> -> tensor<5x2xf32>
    %block = weft.dynamic_slice %x at (%two, %none) : (tensor<7x2xf32>, tensor<i32>, tensor<i32>) -> tensor<3x2xf32>
    %moved = weft.gather %x at %j {offset_dims = array<i64: 1, 2>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 3, 2>} : tensor<7x2xf32>, tensor<4xi32> -> tensor<4x3x2xf32>
    %cut = weft.gather %x at %j {offset_dims = array<i64: 1, 2>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 3, 2>, absent_outside} : tensor<7x2xf32>, tensor<4xi32> -> tensor<4x3x2xf32>
    %pairs = weft.gather %c at %i {offset_dims = array<i64>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1>} : tensor<7xcomplex<f32>>, tensor<5xi32> -> tensor<5xcomplex<f32>>
    %sums = weft.scatter sum %z at %j with %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : tensor<7x2xf32>, tensor<4xi32>, tensor<4x2xf32> -> tensor<7x2xf32>
    return %rows, %block, %moved, %cut, %pairs, %sums : tensor<5x2xf32>, tensor<3x2xf32>, tensor<4x3x2xf32>, tensor<4x3x2xf32>, tensor<5xcomplex<f32>>, tensor<7x2xf32>
  }
})";

/// Returns the signs of the real and the imaginary part of a zero, such as "-
/// +".
std::string signsOf(const Tensor &tensor, int64_t i) {
  std::complex<double> zero = tensor.number(i);
  REQUIRE(zero == 0.0);
  auto sign = [](double part) { return std::signbit(part) ? "-" : "+"; };
  return std::string(sign(zero.real())) + " " + sign(zero.imag());
}
} // namespace

TEST_CASE("zeros keep their signs by way of other devices") {
  int64_t devices = GENERATE(1, 2, 3, 4, 7, 8);
  CAPTURE(devices);
  MLIRContext context;
  context.loadDialect<WeftDialect, coll::CollDialect, func::FuncDialect>();
  std::string text = "#mesh = #weft.mesh<\"d\"=" + std::to_string(devices) +
                     ">\n" +
                     "#rows = #weft.layout<#mesh, [{\"d\"}, {}]>\n"
                     "#split = #weft.layout<#mesh, [{\"d\"}]>\n"
                     "#whole = #weft.layout<#mesh, [{}, {}]>\n" +
                     zeros;
  auto module = parseSourceString<ModuleOp>(text, &context);
  REQUIRE(module);
  auto function = *module->getOps<func::FuncOp>().begin();
  Tensors arguments;
  for (Type type : function.getArgumentTypes()) {
    arguments.emplace_back(cast<RankedTensorType>(type));
    Tensor &argument = arguments.back();
    for (int64_t i = 0; i < argument.size(); ++i) // two of three are -0
      argument.setNumber(i, {i % 3 ? -0.0 : 0.0, i % 2 ? -0.0 : 0.0});
  }
  auto expected = interpretFunction(function, arguments);
  REQUIRE(succeeded(expected));
  partition(*module);
  Mesh mesh = (*module)->getAttrOfType<MeshAttr>(kMeshAttr).getMesh();
  Tensors found = runOnDevices(*module->getOps<func::FuncOp>().begin(), mesh,
                               arguments, *expected);
  for (unsigned i = 0; i < found.size(); ++i)
    for (int64_t e = 0; e < found[i].size(); ++e) {
      CAPTURE(i, e);
      CHECK(signsOf(found[i], e) == signsOf((*expected)[i], e));
    }
}
