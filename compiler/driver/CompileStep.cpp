//===- CompileStep.cpp - one step of a model to a program image ------------===//

#include "weft/compiler/driver/CompileStep.h"

#include "weft/compiler/codegen/cpu/CompileKernels.h"
#include "weft/compiler/program/SerializePlan.h"
#include "weft/dialects/plan/Plan.h"
#include "weft/runtime/abi/ProgramImage.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace weft;

LogicalResult weft::runStages(ModuleOp module, const CompileOptions &options,
                              Stage to) {
  PassManager pm(module.getContext());
  if (options.timing)
    pm.enableTiming();
  buildPipeline(pm, {}, options.from, to);
  return pm.run(module);
}

FailureOr<std::vector<uint8_t>>
weft::compileProgram(ModuleOp module, const CompileOptions &options) {
  if (failed(runStages(module, options, Stage::plan)))
    return failure();
  auto programs = llvm::to_vector(module.getOps<plan::ProgramOp>());
  if (programs.size() != 1) {
    module.emitError("expected one public function, found ") << programs.size();
    return failure();
  }
  std::optional<CpuTarget> target = options.target == "native"
                    ? std::optional(CpuTarget::host())
                    : CpuTarget::fromName(options.target);
  if (!target) {
    module.emitError("unknown target \"")
        << options.target << "\"; use native, cpu:avx512, cpu:avx2 or "
                             "cpu:generic";
    return failure();
  }
  llvm::SmallVector<char> object;
  CodegenOptions codegen;
  codegen.cacheDir = options.cacheDirectory;
  codegen.threads = options.threads;
  if (failed(compileKernels(module, *target, codegen, object)))
    return failure();
  PlanTexts texts;
  texts.target = target->name;
  texts.metadata = options.metadata;
  auto planBytes = serializePlan(programs.front(), texts);
  if (failed(planBytes))
    return failure();
  return assembleProgramFile(object, *planBytes, target->runtimeFeatures);
}
