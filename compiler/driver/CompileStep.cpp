//===- CompileStep.cpp - one step of a model to a program image -----------===//

#include "weft/compiler/driver/CompileStep.h"

#include "weft/compiler/codegen/KernelCodegen.h"
#include "weft/compiler/driver/FittingLayouts.h"
#include "weft/compiler/driver/ProgramWork.h"
#include "weft/compiler/explain/ScheduledCost.h"
#include "weft/compiler/program/DeviceCode.h"
#include "weft/compiler/program/SerializePlan.h"
#include "weft/dialects/nest/Nest.h"
#include "weft/dialects/plan/Plan.h"
#include "weft/dialects/weft/VerifySizes.h"
#include "weft/passes/planning/Passes.h"
#include "weft/passes/rings/Passes.h"
#include "weft/passes/training/Passes.h"
#include "weft/runtime/abi/ProgramImage.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace weft;

namespace {
/// Times of stages and their passes, printed to stderr at the end if requested.
class Timing {
public:
  explicit Timing(const CompileOptions &options) {
    manager.setEnabled(options.timing);
    root = manager.getRootScope();
  }
  TimingScope phase(StringRef name) { return root.nest(name); }

private:
  DefaultTimingManager manager;
  TimingScope root;
};
} // namespace

/// Whether the failure is the program's and not Weft's: a size in it is too
/// large, or a pass that is no verifier stopped at valid IR. The error has been
/// reported.
static bool isRefusal(ModuleOp module, const StagePasses &passes) {
  ScopedDiagnosticHandler silent(module.getContext(),
                                 [](Diagnostic &) { return success(); });
  return failed(verifySizes(module)) ||
         (passes.refused() && succeeded(verify(module)));
}

static std::unique_ptr<KernelCodegen> openTarget(ModuleOp module,
                                                 llvm::StringRef target) {
  std::string error;
  auto codegen = openCodegen(target, error);
  if (!codegen)
    module.emitError(error);
  return codegen;
}

/// The resolved target of kernels; empty, after an error, for an unknown name.
static std::string targetOf(ModuleOp module, const CompileOptions &options) {
  if (options.generator)
    return options.generator->target().str();
  std::unique_ptr<KernelCodegen> generator = openTarget(module, options.target);
  return generator ? generator->target().str() : "";
}

/// Whether gathers may be repeated so that the step fits.
static bool limitsMemory(ModuleOp module, const CompileOptions &options) {
  return options.memory || module->hasAttr(kMemoryAttr);
}

/// Notes on the module what passes read there.
static void noteOptions(ModuleOp module, const CompileOptions &options,
                        Stage to) {
  if (options.memory)
    module->setAttr(kMemoryAttr,
                    OpBuilder(module).getI64IntegerAttr(options.memory));
  if (options.microbatches > 1 && options.from < Stage::differentiated)
    module->setAttr(kMicrobatchesAttr,
                    OpBuilder(module).getI64IntegerAttr(options.microbatches));
  if (options.allowMicrobatchStatistics)
    module->setAttr(kMicrobatchStatisticsAttr,
                    UnitAttr::get(module.getContext()));
  if (!options.overlap.empty())
    module->setAttr(kOverlapAttr,
                    OpBuilder(module).getStringAttr(options.overlap));
  if (!options.rings.empty())
    module->setAttr(kRingsAttr, OpBuilder(module).getStringAttr(options.rings));
  if (to == Stage::plan &&
      (!options.expect.empty() || module->hasAttr(kExpectAttr)))
    module->setAttr(kWholeSumsAttr, UnitAttr::get(module.getContext()));
  if (!options.matmulPrecision.empty())
    module->setAttr(nest::kPrecisionAttr,
                    OpBuilder(module).getStringAttr(options.matmulPrecision));
}

/// Runs one pass manager for each stage, so that each has its line in the
/// report.
static LogicalResult runTimed(ModuleOp module, const CompileOptions &options,
                              Stage to, Timing &timing) {
  Stage reached = options.from;
  Progress unwatched;
  Progress &progress = options.progress ? *options.progress : unwatched;
  progress = Progress();
  progress.reached = reached;
  noteOptions(module, options, to);
  // Layouts are priced by the rates of the target's kind, which its name tells.
  std::string target =
      options.generator ? options.generator->target().str() : options.target;
  if (to >= Stage::kernels)
    if (target = targetOf(module, options); target.empty())
      return failure();
  StagePasses own(module.getContext());
  // Kept passes are not timed, as each of their reports would include all
  // earlier runs.
  StagePasses &kept = options.passes && !options.timing ? *options.passes : own;
  bool verifyInput = true;
  std::optional<FittingLayouts> fitting;
  do {
    if (reached == Stage::differentiated && to == Stage::plan && !fitting &&
        limitsMemory(module, options))
      fitting.emplace(module);
    Stage next = reached < to ? Stage(unsigned(reached) + 1) : to;
    TimingScope scope =
        timing.phase("stage " + stages()[unsigned(next)].name.str());
    PassManager &passes = kept.reach(reached, next, verifyInput, target);
    if (options.timing)
      passes.enableTiming(scope);
    verifyInput = false; // the previous stage verified its result
    if (failed(passes.run(module)) || failed(verify(module))) {
      if (options.progress)
        progress.isRefused = isRefusal(module, kept);
      return failure();
    }
    reached = next;
    progress.reached = next;
    if (reached == Stage::scheduled && options.findFixes &&
        !limitsMemory(module, options))
      progress.scheduled = explainScheduled(module);
    if (reached == Stage::plan && fitting && !fitting->isFinal(module))
      reached = Stage::differentiated;
  } while (reached < to);
  FixSearch findFixes;
  if (options.findFixes)
    findFixes = [&](Explanation &explanation) {
      options.findFixes(explanation, progress.scheduled);
    };
  return to == Stage::plan ? checkBudget(module, options.expect, findFixes)
                           : success();
}

LogicalResult weft::runStages(ModuleOp module, const CompileOptions &options,
                              Stage to) {
  Timing timing(options);
  return runTimed(module, options, to, timing);
}

std::optional<Explanation> weft::countStep(ModuleOp module,
                                           const CompileOptions &options) {
  CompileOptions quiet = options;
  quiet.timing = false;
  quiet.progress = nullptr;
  quiet.expect.clear();
  quiet.findFixes = nullptr;
  module->removeAttr(kExpectAttr);
  Stage last = limitsMemory(module, options) ? Stage::plan : Stage::scheduled;
  if (failed(runStages(module, quiet, last)))
    return std::nullopt;
  if (last == Stage::plan)
    return explainProgram(module);
  return explainScheduled(module);
}

FailureOr<std::vector<uint8_t>>
weft::compileProgram(ModuleOp module, const CompileOptions &options) {
  Timing timing(options);
  std::unique_ptr<KernelCodegen> opened;
  if (!options.generator)
    opened = openTarget(module, options.target);
  KernelCodegen *generator =
      options.generator ? options.generator : opened.get();
  if (!generator || failed(runTimed(module, options, Stage::plan, timing)))
    return failure();
  auto programs = llvm::to_vector(module.getOps<plan::ProgramOp>());
  if (programs.size() != 1) {
    module.emitError("expected one public function, found ") << programs.size();
    return failure();
  }
  CompiledKernels code;
  CodegenOptions codegen;
  codegen.cacheDir = options.cacheDirectory;
  codegen.threads = options.threads;
  plan::ProgramOp program = programs.front();
  codegen.isBrief =
      workOfProgram(program) * double(program.getMesh().getMesh().size()) <=
      kBriefWork;
  TimingScope kernels = timing.phase("code of kernels");
  if (failed(generator->compile(module, codegen, code)))
    return failure();
  countOperations(module);
  placeDeviceCode(module, code);
  kernels.stop();
  TimingScope file = timing.phase("program file");
  PlanTexts texts;
  texts.target = generator->target().str();
  texts.metadata = options.metadata;
  auto planBytes = serializePlan(programs.front(), texts);
  if (failed(planBytes))
    return failure();
  return assembleProgramFile(code.sharedObject, *planBytes,
                             generator->runtimeFeatures() | code.features);
}

/// Runs a compilation that ends at stage `last`, and judges it.
static Attempt
attempt(OwningOpRef<ModuleOp> module, CompileOptions options, Stage last,
        llvm::function_ref<LogicalResult(Attempt &, const CompileOptions &)>
            compile) {
  Attempt out;
  out.module = std::move(module);
  options.progress = &out.progress;
  if (succeeded(compile(out, options)))
    out.outcome = Outcome::Done;
  else if (out.progress.isRefused)
    out.outcome = Outcome::Refused;
  else
    out.outcome =
        out.progress.reached < last ? Outcome::Internal : Outcome::OverBudget;
  return out;
}

Attempt weft::attemptStage(OwningOpRef<ModuleOp> module,
                           const CompileOptions &options, Stage to) {
  return attempt(std::move(module), options, to,
                 [&](Attempt &out, const CompileOptions &watched) {
                   return runStages(*out.module, watched, to);
                 });
}

Attempt weft::attemptProgram(OwningOpRef<ModuleOp> module,
                             const CompileOptions &options) {
  return attempt(std::move(module), options, Stage::plan,
                 [](Attempt &out, const CompileOptions &watched) {
                   auto image = compileProgram(*out.module, watched);
                   if (succeeded(image))
                     out.image = std::move(*image);
                   return LogicalResult(image);
                 });
}

/// The kernels of these names, or all if there are none; fails, with a list,
/// for an unknown name.
static FailureOr<SmallVector<func::FuncOp>>
findKernels(ModuleOp module, llvm::ArrayRef<std::string> names) {
  SmallVector<func::FuncOp> all =
      llvm::filter_to_vector(module.getOps<func::FuncOp>(),
                             [](func::FuncOp f) { return isKernel(f); });
  if (names.empty())
    return all;
  SmallVector<func::FuncOp> chosen;
  for (llvm::StringRef name : names) {
    auto found = llvm::find_if(
        all, [&](func::FuncOp kernel) { return kernel.getName() == name; });
    if (found == all.end())
      return module.emitError("no kernel is called '")
             << name << "'; this program has "
             << llvm::join(llvm::map_range(all,
                                           [](func::FuncOp kernel) {
                                             return kernel.getName();
                                           }),
                           ", ");
    chosen.push_back(*found);
  }
  return chosen;
}

FailureOr<std::string>
weft::printKernelAssembly(ModuleOp module, const CompileOptions &options,
                          llvm::ArrayRef<std::string> names) {
  std::unique_ptr<KernelCodegen> generator = openTarget(module, options.target);
  if (!generator || failed(runStages(module, options, Stage::nests)))
    return failure();
  auto kernels = findKernels(module, names);
  std::string text;
  llvm::raw_string_ostream out(text);
  if (failed(kernels) || failed(generator->printAssembly(*kernels, out)))
    return failure();
  return text;
}
