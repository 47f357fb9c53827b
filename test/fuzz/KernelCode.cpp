//===- KernelCode.cpp - how often kernels compute a value -----------------===//

#include "weft/compiler/codegen/cpu/KernelEmitter.h"
#include "weft/compiler/codegen/elements/ElementCode.h"
#include "weft/passes/kernels/KernelGroups.h"
#include "weft/passes/kernels/Recomputation.h"
#include "weft/passes/nests/NestChooser.h"
#include "weft/test/fuzz/ProgramCheck.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace weft {

/// The first op that is computed too often, or empty: ops with code of their
/// own at kMostComputed positions at most, sources at most four times for each
/// reader of them.
static std::string excessOf(func::FuncOp kernel,
                            const cpu::KernelEmitter &emitter) {
  std::string excess;
  kernel.walk([&](Operation *op) {
    unsigned found = emitter.elements.computationsOf(op), readers = 0;
    bool isOfWhole = false; // whether an op with its own nest reads the value
    for (Operation *user : op->getUsers()) {
      readers += std::max(emitter.elements.computationsOf(user), 1u);
      isOfWhole |= user->hasTrait<OwnLoopNest>();
    }
    // Readers compute a source several times: a generator reads both words of
    // its key, a gather the index vectors.
    unsigned most = isElementSource(op) ? 4 * readers : kMostComputed;
    if (excess.empty() && found > most && !isOfWhole)
      excess = "kernel '" + kernel.getName().str() + "' computes " +
               op->getName().getStringRef().str() + " at " +
               std::to_string(found) + " positions instead of at most " +
               std::to_string(most);
  });
  return excess;
}

/// Emits each kernel of a copy; false if one has no code.
static bool emitAll(
    ModuleOp kernels,
    llvm::function_ref<void(func::FuncOp, const cpu::KernelEmitter &)> look) {
  kernels.getContext()
      ->loadDialect<arith::ArithDialect, complex::ComplexDialect,
                    math::MathDialect, nest::NestDialect, scf::SCFDialect,
                    vector::VectorDialect, LLVM::LLVMDialect>();
  DialectRegistry nests;
  elements::registerElementCode(nests);
  kernels.getContext()->appendDialectRegistry(nests);
  OwningOpRef<ModuleOp> module(kernels.clone());
  CpuTarget target = *CpuTarget::fromName("cpu:generic");
  nest::TargetLimits limits = *nest::targetLimits(target.name);
  for (auto kernel : llvm::to_vector(module->getOps<func::FuncOp>())) {
    if (!isKernel(kernel))
      continue;
    NestChooser chooser(kernel, limits, nest::MatmulPrecision::F32);
    chooser.choose();
    cpu::KernelEmitter emitter(kernel, target);
    if (failed(emitter.emit()))
      return false;
    look(kernel, emitter);
  }
  return true;
}

std::string excessOfCode(ModuleOp kernels) {
  std::string why;
  bool done = emitAll(
      kernels, [&](func::FuncOp kernel, const cpu::KernelEmitter &emitter) {
        if (why.empty())
          why = excessOf(kernel, emitter);
      });
  return done ? why : "a kernel has no code";
}

uint64_t computationsIn(ModuleOp kernels) {
  uint64_t total = 0;
  emitAll(kernels, [&](func::FuncOp kernel, const cpu::KernelEmitter &emitter) {
    kernel.walk(
        [&](Operation *op) { total += emitter.elements.computationsOf(op); });
  });
  return total;
}

} // namespace weft
