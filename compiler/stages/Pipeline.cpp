//===- Pipeline.cpp - the way from one stage to another -------------------===//

#include "weft/compiler/stages/Pipeline.h"

#include "weft/compiler/explain/Budget.h"
#include "weft/compiler/stages/VerifyStage.h"
#include "weft/passes/collectives/Passes.h"
#include "weft/passes/kernels/Passes.h"
#include "weft/passes/nests/Passes.h"
#include "weft/passes/planning/Passes.h"
#include "weft/passes/rings/Passes.h"
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

std::string weft::unknownStage(llvm::StringRef name) {
  std::string known;
  for (const StageInfo &info : stages())
    known += (known.empty() ? "" : ", ") + info.name.str();
  return "no such stage: '" + name.str() + "'; use one of " + known;
}

std::string weft::invalidOrder(Stage from, Stage to) {
  if (from <= to)
    return "";
  return "stage '" + stages()[unsigned(to)].name.str() + "' comes before '" +
         stages()[unsigned(from)].name.str() +
         "'; passes only lead to later stages";
}

/// Adds the verifiers that run after a stage.
static void addBorder(OpPassManager &pm, Stage stage) {
  pm.addPass(createVerifyStagePass(stage));
  if (stage == Stage::sharded)
    pm.addPass(createVerifyLayoutsPass());
}

/// Adds the passes from the previous stage to this stage.
static void addStage(OpPassManager &pm, Stage stage,
                     const PipelineOptions &options) {
#define WEFT_PASS(of, pass)                                                    \
  if (stage == Stage::of)                                                      \
    pm.addPass(pass);
#include "weft/compiler/stages/Stages.def"
}

void weft::buildPipeline(OpPassManager &pm, const PipelineOptions &options,
                         Stage from, Stage to) {
  if (options.verifyBorders && options.verifyInput)
    addBorder(pm, from);
  for (const StageInfo &info : stages()) {
    if (info.stage <= from || info.stage > to)
      continue;
    addStage(pm, info.stage, options);
    if (options.verifyBorders)
      addBorder(pm, info.stage);
    if (options.checkBudget && info.stage == Stage::plan)
      pm.addPass(createCheckBudgetPass());
  }
}

namespace {
struct PipelineFlags : PassPipelineOptions<PipelineFlags> {
  Option<std::string> from{*this, "from", llvm::cl::desc("stage of the input"),
                           llvm::cl::init("imported")};
  Option<std::string> to{*this, "to", llvm::cl::desc("stage to reach"),
                         llvm::cl::init("plan")};
  Option<std::string> target{
      *this, "target", llvm::cl::desc("for which kernels are made: cpu:avx2"),
      llvm::cl::init("cpu:generic")};
};
} // namespace

/// Fills the pass manager, or reports an unknown stage, or that no passes lead
/// from one stage to the other.
static LogicalResult
addPipeline(OpPassManager &pm, StringRef text,
            function_ref<LogicalResult(const Twine &)> refuse) {
  PipelineFlags flags;
  if (failed(flags.parseFromString(text)))
    return failure();
  std::optional<Stage> from = parseStage(flags.from), to = parseStage(flags.to);
  if (!from || !to)
    return refuse(unknownStage(from ? flags.to : flags.from));
  if (std::string why = invalidOrder(*from, *to); !why.empty())
    return refuse(why);
  PipelineOptions options;
  options.target = flags.target;
  buildPipeline(pm, options, *from, *to);
  return success();
}

void weft::registerPipelines() {
  registerVerifyStagePass();
  registerCheckBudgetPass();
  registerPassPipeline(
      "weft-pipeline", "All passes between two stages", addPipeline,
      [](function_ref<void(const mlir::detail::PassOptions &)> show) {
        show(PipelineFlags());
      });
}
