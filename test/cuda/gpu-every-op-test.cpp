//===- gpu-every-op-test.cpp - each op's code for GPUs --------------------===//
//
// Compiles every case of OpCases.h and its derivative to kernels for sm_80. The
// PTX machine runs them without a finding; results are compared with JAX's.
//
// WEFT_OP_CASE=pad gpu-every-op-test   runs the cases whose name starts with pad
//
//   weft compile model.keras --step train --devices cuda:1 --emit=kernels > step.mlir
//   WEFT_KERNELS=step.mlir gpu-every-op-test '[kernels]'
//
// runs each kernel of a program on random numbers, and compares the results
// with the interpreter's.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/codegen/elements/ElementCode.h"
#include "weft/passes/sharding/Passes.h"
#include "weft/passes/training/Passes.h"
#include "weft/test/cuda/DeviceOps.h"
#include "weft/test/unit/OpCases.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include "catch2/catch.hpp"

#include <cstdlib>
#include <set>

using namespace mlir;
using namespace weft;

namespace {
MLIRContext &context() {
  static MLIRContext *shared = [] {
    auto *made = new MLIRContext(MLIRContext::Threading::DISABLED);
    DialectRegistry registry;
    elements::registerElementCode(registry);
    made->appendDialectRegistry(registry);
    made->loadDialect<WeftDialect, func::FuncDialect>();
    return made;
  }();
  return *shared;
}

OwningOpRef<ModuleOp> parsed(const std::string &text) {
  INFO(text);
  auto module = parseSourceString<ModuleOp>(text, &context());
  REQUIRE(module);
  return module;
}

std::string nameOf(const OpCase &c) {
  std::string name = c.name;
  llvm::replace(name, '-', '_');
  return name;
}

void check(DeviceOps &ops, const std::string &name, const Tensors &inputs,
           const Tensors &expected, double tolerance) {
  Tensors found;
  for (const Tensor &tensor : expected)
    found.emplace_back(tensor.getType());
  CHECK(ops.run(name, inputs, found) == "");
  for (size_t i = 0; i < expected.size(); ++i) {
    INFO("result " << i);
    CHECK(difference(found[i], expected[i], tolerance) == "");
  }
}
} // namespace

TEST_CASE("every op that kernels hold has a case") {
  std::set<std::string> found;
  for (const OpCase &c : opCases())
    parsed(programOf(c))->walk([&](Operation *op) {
      found.insert(op->getName().getStringRef().str());
    });
  for (RegisteredOperationName name : context().getRegisteredOperations())
    if (name.getDialectNamespace() == "weft" &&
        name.getStringRef() !=
            ConstrainOp::getOperationName() && // in no kernel
        (name.hasTrait<OpTrait::Elementwise>() ||
         name.hasTrait<KeepsPositions>() || name.hasTrait<MovesElements>() ||
         name.hasTrait<GeneratesElements>() || name.hasTrait<ReductionNest>() ||
         name.hasTrait<ContractionNest>() || name.hasTrait<OwnLoopNest>())) {
      INFO(name.getStringRef().str());
      CHECK((found.count(name.getStringRef().str()) ||
             std::getenv("WEFT_OP_CASE")));
    }
}

TEST_CASE("the GPU's code gives JAX's outputs") {
  std::string text;
  for (const OpCase &c : opCases())
    text += programOf(c, nameOf(c));
  auto module = parsed(text);
  PassManager pm(&context());
  pm.addPass(createDissolveMovesPass()); // no kernel holds a move
  REQUIRE(succeeded(pm.run(*module)));
  DeviceOps ops(*module);
  REQUIRE(ops.refusal() == "");
  size_t walked = 0;
  for (const OpCase &c : opCases()) {
    INFO(c.name << ": " << c.body);
    if (!ops.isStraight(nameOf(c))) {
      CHECK(hasRegions(c)); // a loop or branch: the runtime walks through it
      ++walked;
      continue;
    }
    check(ops, nameOf(c), tensorsOf(context(), c.args, c.inputs),
          tensorsOf(context(), c.results, c.outputs), 2 * c.tolerance);
  }
  CHECK(walked <= opCases().size() / 10);
}

TEST_CASE("derivatives on the GPU are JAX's") {
  for (const OpCase &c : opCases()) {
    if (c.wrt.empty())
      continue;
    INFO("gradient of " << c.name << ": " << c.body);
    auto module = parsed(gradientOf(c));
    PassManager pm(&context());
    pm.addPass(createDifferentiatePass());
    pm.addPass(createSymbolDCEPass());
    REQUIRE(succeeded(pm.run(*module)));
    DeviceOps ops(*module);
    CHECK(ops.refusal() == "");
    if (!ops.refusal().empty() || !ops.isStraight("main"))
      continue;
    check(ops, "main", gradientInputs(context(), c),
          gradientResults(context(), c), 4 * c.tolerance);
  }
}

TEST_CASE("a program's kernels give the interpreter's results",
          "[.][kernels]") {
  const char *file = std::getenv("WEFT_KERNELS");
  REQUIRE(file);
  auto module = parseSourceFile<ModuleOp>(file, &context());
  REQUIRE(module);
  OwningOpRef<ModuleOp> reference(module->clone());
  DeviceOps ops(*module, /*isOutlined=*/true);
  REQUIRE(ops.refusal() == "");
  uint64_t state = 1;
  for (auto kernel : reference->getOps<func::FuncOp>()) {
    if (!isKernel(kernel))
      continue;
    std::string text;
    llvm::raw_string_ostream(text) << kernel;
    INFO(text.substr(0, 4000));
    Tensors inputs, found;
    for (Type type : kernel.getArgumentTypes()) {
      Tensor &tensor = inputs.emplace_back(cast<RankedTensorType>(type));
      for (int64_t i = 0; i < tensor.size(); ++i) {
        state = state * 6364136223846793005 + 1442695040888963407;
        if (tensor.isFloat())
          tensor.setReal(i, double(state >> 40) / double(1 << 23) - 1);
        else
          tensor.setInteger(i, int64_t(state >> 40) % 2);
      }
    }
    auto expected = interpretFunction(kernel, inputs);
    REQUIRE(succeeded(expected));
    for (const Tensor &tensor : *expected)
      found.emplace_back(tensor.getType());
    CHECK(ops.runKernel(kernel.getName().str(), inputs, found) == "");
    for (size_t i = 0; i < found.size(); ++i)
      CHECK(difference(found[i], (*expected)[i], 1e-5) == "");
  }
}
