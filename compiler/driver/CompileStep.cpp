//===- CompileStep.cpp - one step of a model to a program image -----------===//

#include "weft/compiler/driver/CompileStep.h"

#include "weft/compiler/codegen/cpu/CompileKernels.h"
#include "weft/compiler/program/SerializePlan.h"
#include "weft/dialects/plan/Plan.h"
#include "weft/runtime/abi/ProgramImage.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"

using namespace mlir;
using namespace weft;

namespace {
/// Times of stages and their passes, printed to stderr at the end where asked
/// for.
class Timing {
public:
  explicit Timing(const CompileOptions &options) {
    manager.setEnabled(options.timing);
    root = manager.getRootScope();
  }
  TimingScope part(StringRef name) { return root.nest(name); }

private:
  DefaultTimingManager manager;
  TimingScope root;
};
} // namespace

/// One pass manager a stage, so that each has its line in the report.
static LogicalResult runTimed(ModuleOp module, const CompileOptions &options,
                              Stage to, Timing &timing) {
  Stage reached = options.from;
  PipelineOptions pipeline;
  do {
    Stage next = reached < to ? Stage(unsigned(reached) + 1) : to;
    TimingScope scope =
        timing.part("stage " + stages()[unsigned(next)].name.str());
    PassManager pm(module.getContext());
    pm.enableTiming(scope);
    buildPipeline(pm, pipeline, reached, next);
    pipeline.verifyInput = false; // the stage before ended with it
    if (failed(pm.run(module)))
      return failure();
    reached = next;
    if (options.reached)
      *options.reached = next;
  } while (reached < to);
  return success();
}

LogicalResult weft::runStages(ModuleOp module, const CompileOptions &options,
                              Stage to) {
  Timing timing(options);
  return runTimed(module, options, to, timing);
}

FailureOr<std::vector<uint8_t>>
weft::compileProgram(ModuleOp module, const CompileOptions &options) {
  Timing timing(options);
  if (failed(runTimed(module, options, Stage::plan, timing)))
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
        << options.target
        << "\"; use native, cpu:avx512, cpu:avx2 or "
           "cpu:generic";
    return failure();
  }
  llvm::SmallVector<char> object;
  CodegenOptions codegen;
  codegen.cacheDir = options.cacheDirectory;
  codegen.threads = options.threads;
  TimingScope kernels = timing.part("code of kernels");
  if (failed(compileKernels(module, *target, codegen, object)))
    return failure();
  kernels.stop();
  TimingScope file = timing.part("program file");
  PlanTexts texts;
  texts.target = target->name;
  texts.metadata = options.metadata;
  auto planBytes = serializePlan(programs.front(), texts);
  if (failed(planBytes))
    return failure();
  return assembleProgramFile(object, *planBytes, target->runtimeFeatures);
}
