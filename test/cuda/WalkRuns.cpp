//===- WalkRuns.cpp - kernels whose walk is written by hand ---------------===//

#include "weft/test/cuda/WalkRuns.h"

#include "weft/compiler/codegen/elements/ElementCode.h"
#include "weft/dialects/nest/Nest.h"

#include "mlir/Parser/Parser.h"

#include "catch2/catch.hpp"

using namespace mlir;
using namespace weft;

static MLIRContext &kernelContext() {
  static MLIRContext *shared = [] {
    auto *made = new MLIRContext(MLIRContext::Threading::DISABLED);
    DialectRegistry registry;
    elements::registerElementCode(registry);
    registry.insert<nest::NestDialect>();
    made->appendDialectRegistry(registry);
    made->loadDialect<WeftDialect, func::FuncDialect, nest::NestDialect>();
    return made;
  }();
  return *shared;
}

std::string weft::kernelOf(const std::string &arguments,
                           const std::string &result, const std::string &walk,
                           const std::string &body) {
  return "func.func private @k(" + arguments + ") -> " + result +
         " attributes {nest.kernel = #nest.kernel<target = \"cuda:sm_80\">, "
         "weft.kernel = #weft.kernel<general>} {\n  %r = nest.loops #nest." +
         walk + " to [#nest.place<result 0>] {\n" + body + "  } : " + result +
         "\n  return %r : " + result + "\n}\n";
}

/// Sets a float, an integer that wraps around, or a complex number whose
/// imaginary part is 1 - 2 * number.
static void setNumber(Tensor &tensor, int64_t i, double number) {
  if (tensor.isComplex())
    tensor.setNumber(i, {number, 1 - 2 * number});
  else if (tensor.isFloat())
    tensor.setReal(i, number);
  else
    tensor.setInteger(i, int64_t(number));
}

/// Random inputs: integers from -4 to 4, or reals.
static Tensors inputsOf(func::FuncOp kernel, bool areWhole) {
  Tensors inputs;
  uint64_t state = 1;
  for (Type type : kernel.getArgumentTypes()) {
    Tensor &tensor = inputs.emplace_back(cast<RankedTensorType>(type));
    for (int64_t i = 0; i < tensor.size(); ++i) {
      state = state * 6364136223846793005 + 1442695040888963407;
      setNumber(tensor, i,
                areWhole ? double(int64_t(state >> 33) % 9 - 4)
                         : double(state >> 40) / double(1 << 23) - 1);
    }
  }
  return inputs;
}

Run weft::runKernel(const std::string &text, bool areWhole,
                    llvm::function_ref<void(std::string &)> edit) {
  auto module = parseSourceString<ModuleOp>(text, &kernelContext());
  if (!module)
    return {"does not parse", {}, {}};
  auto kernel = *module->getOps<func::FuncOp>().begin();
  Tensors inputs = inputsOf(kernel, areWhole);
  auto expected = interpretFunction(kernel, inputs);
  Tensors found;
  found.emplace_back(cast<RankedTensorType>(kernel.getResultTypes()[0]));
  DeviceOps ops(*module, /*isOutlined=*/true, edit);
  Run run{ops.refusal(), {}, expected->front()};
  ops.setMostBlocks(2); // a block takes several tiles
  if (run.problem.empty())
    run.problem = ops.runKernel("k", inputs, found);
  run.found = found.front();
  return run;
}

size_t weft::differences(const Tensor &a, const Tensor &b) {
  size_t count = 0;
  for (int64_t i = 0; i < a.size(); ++i)
    count += !a.equals(i, b, i);
  return count;
}

void weft::checkExact(const std::string &text) {
  INFO(text);
  Run run = runKernel(text);
  REQUIRE(run.problem == "");
  CHECK(differences(run.found, run.expected) == 0);
}

size_t weft::countOf(const std::string &text, const std::string &word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string::npos;
       at = text.find(word, at + 1))
    ++count;
  return count;
}

size_t weft::checkNeeded(const std::string &text, const std::string &word) {
  size_t count = 0;
  for (size_t number = 0; number == 0 || number < count; ++number) {
    Run run = runKernel(text, true, [&](std::string &ptx) {
      count = countOf(ptx, word);
      size_t at = ptx.find(word);
      for (size_t i = 0; i < number; ++i)
        at = ptx.find(word, at + 1);
      if (at != std::string::npos)
        ptx.erase(at, ptx.find('\n', at) - at);
    });
    INFO(word << " " << number << " of " << count << " is left out");
    bool isFound = run.problem != "" || differences(run.found, run.expected);
    CHECK(isFound == (count > 0));
  }
  return count;
}
