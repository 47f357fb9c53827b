//===- Pipeline.cpp - the way from one stage to another --------------------===//

#include "weft/compiler/stages/Pipeline.h"

#include "weft/passes/kernels/Passes.h"
#include "weft/passes/planning/Passes.h"
#include "weft/passes/sharding/Passes.h"
#include "weft/passes/training/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace weft;

llvm::ArrayRef<StageInfo> weft::stages() {
  static constexpr StageInfo table[] = {
#define WEFT_STAGE(name, description, holds)                                   \
  {Stage::name, #name, description, holds},
#include "weft/compiler/stages/Stages.def"
  };
  return table;
}

std::optional<Stage> weft::parseStage(llvm::StringRef name) {
  for (const StageInfo &info : stages())
    if (info.name == name)
      return info.stage;
  return std::nullopt;
}

/// The passes that reach a stage from the one before it.
static void addStage(OpPassManager &pm, const PipelineOptions &options,
                     Stage stage) {
  switch (stage) {
  case Stage::imported:
    break;
  case Stage::differentiated:
    pm.addPass(createDifferentiatePass());
    // No type carries a layout yet, so stock passes are safe.
    pm.addPass(createCanonicalizerPass());
    pm.addPass(createCSEPass());
    break;
  case Stage::sharded:
    pm.addPass(createPropagateLayoutsPass());
    if (options.verifyBorders)
      pm.addPass(createVerifyLayoutsPass());
    break;
  case Stage::partitioned:
    pm.addPass(createPartitionPass());
    pm.addPass(createCanonicalizerPass());
    pm.addPass(createCSEPass());
    break;
  case Stage::scheduled:
    pm.addPass(createCombineAllReducesPass());
    break;
  case Stage::kernels:
    pm.addPass(createOutlineKernels());
    pm.addPass(createDeduplicateKernels());
    break;
  case Stage::plan:
    pm.addPass(createPlaceBuffersPass());
    break;
  }
}

void weft::buildPipeline(OpPassManager &pm, const PipelineOptions &options,
                         Stage from, Stage to) {
  for (const StageInfo &info : stages())
    if (info.stage > from && info.stage <= to)
      addStage(pm, options, info.stage);
}

namespace {
struct PipelineFlags : PassPipelineOptions<PipelineFlags> {
  Option<std::string> from{*this, "from", llvm::cl::desc("stage of the input"),
                           llvm::cl::init("imported")};
  Option<std::string> to{*this, "to", llvm::cl::desc("stage to reach"),
                         llvm::cl::init("plan")};
};
} // namespace

void weft::registerPipelines() {
  PassPipelineRegistration<PipelineFlags>(
      "weft-pipeline", "All passes between two stages",
      [](OpPassManager &pm, const PipelineFlags &flags) {
        buildPipeline(pm, {}, parseStage(flags.from).value_or(Stage::imported),
                      parseStage(flags.to).value_or(Stage::plan));
      });
}
