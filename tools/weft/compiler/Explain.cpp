//===- Explain.cpp - weft explain -----------------------------------------===//

#include "weft/base/ClosestName.h"
#include "weft/compiler/explain/KernelTable.h"
#include "weft/compiler/explain/WhyLayout.h"
#include "weft/compiler/report/HtmlReport.h"
#include "weft/tools/weft/compiler/ForeignProgram.h"
#include "weft/tools/weft/compiler/StepCompiler.h"
#include "weft/tools/weft/programs/OutputFile.h"
#include "weft/tools/weft/training/SavedWeights.h"

#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <tuple>

using namespace weft;
using namespace weft::tool;

/// The report without rules and fixes.
static Report reportOf(mlir::ModuleOp module, const ModelFlags &flags) {
  plan::ProgramOp program = *module.getOps<plan::ProgramOp>().begin();
  Report report;
  report.program = llvm::sys::path::filename(flags.model).str();
  report.explanation = explainProgram(program);
  if (llvm::StringRef(compileOptions(flags).target).starts_with("cuda:"))
    report.explanation.mode =
        parseCollectiveMode(flags.collectives).value_or(CollectiveMode::Usual);
  report.mesh = program.getMesh().getMesh();
  report.tensors = tensorLayouts(program);
  report.timeline = timelineOf(program);
  report.limits = limitsOf(module, flags.expect, report.explanation);
  return report;
}

static int print(const Report &report, const ExplainFlags &flags,
                 const std::optional<PipelineReport> &pipeline = {}) {
  if (flags.json) {
    llvm::json::Value all = toJson(report.explanation);
    if (pipeline)
      (*all.getAsObject())["pipeline"] = toJson(*pipeline);
    llvm::outs() << llvm::formatv("{0:2}\n", all);
  } else {
    printText(toText(report.explanation, {.isComplete = flags.all}) +
              (pipeline ? toText(*pipeline) : ""));
  }
  if (flags.html.empty())
    return 0;
  Status written = writeOutputFile(flags.html, toHtml(report));
  return written ? 0 : fail(written.error());
}

/// The flag that reach() sets if a budget is exceeded, so that a page is still
/// made. Null without a page, when the error suffices.
static bool *wanted(bool &isOverBudget, const ExplainFlags &flags) {
  return flags.html.empty() ? nullptr : &isOverBudget;
}

/// Prints the decisions about each kernel, for the target of --target.
static int printKernels(mlir::ModuleOp plan, const ExplainFlags &flags) {
  std::vector<KernelLine> kernels = kernelTable(plan);
  if (flags.json)
    llvm::outs() << llvm::formatv("{0:2}\n", toJson(kernels));
  else
    printText(toText(kernels));
  return 0;
}

/// Prints the origin of the layout of the tensor that --why names.
static int printWhy(mlir::ModuleOp differentiated, const ExplainFlags &flags) {
  std::set<std::string> names;
  std::vector<WhyLayout> values = whyLayouts(
      differentiated, flags.why, compileOptions(flags.model).target, names);
  if (values.empty())
    return fail("--why " + flags.why + ": no such tensor; " +
                suggestion(flags.why, names,
                           "name a weight, an input, the output of a layer or "
                           "a line of the script"));
  if (flags.json)
    llvm::outs() << llvm::formatv("{0:2}\n", toJson(values));
  else
    printText(toText(values));
  return 0;
}

static int explainForeign(const ExplainFlags &flags) {
  auto opened = ForeignProgram::open(flags.model);
  if (!opened)
    return fail(opened.error());
  ForeignProgram *program = opened->get();
  if (!flags.why.empty()) {
    auto module = program->reach(Stage::differentiated);
    return module ? printWhy(**module, flags) : fail(module.error());
  }
  bool isOverBudget = false;
  auto plan = program->reach(Stage::plan, wanted(isOverBudget, flags));
  if (!plan)
    return fail(plan.error());
  if (flags.kernels)
    return printKernels(**plan, flags);
  Report report = reportOf(**plan, flags.model);
  program->findFixes(report.explanation);
  int status = print(report, flags);
  return isOverBudget ? 1 : status;
}

static int explainModel(const ExplainFlags &flags) {
  auto opened = StepCompiler::open(flags.model);
  if (!opened)
    return fail(opened.error());
  StepCompiler *steps = opened->get();
  const auto &[step, batchSize] =
      std::tie(flags.model.step, flags.model.batchSize);
  if (!flags.why.empty()) {
    auto module = steps->reach(step, batchSize, Stage::differentiated);
    return module ? printWhy(**module, flags) : fail(module.error());
  }
  bool isOverBudget = false;
  auto module =
      steps->reach(step, batchSize, Stage::plan, wanted(isOverBudget, flags));
  if (!module)
    return fail(module.error());
  if (flags.kernels)
    return printKernels(**module, flags);
  Report report = reportOf(**module, flags.model);
  steps->explainRules(report.explanation);
  steps->findFixes(report.explanation, step, batchSize);
  steps->explainTensors(report.tensors, batchSize);
  auto pipeline = steps->explainPipeline(step, batchSize);
  if (pipeline)
    report.stages = pipeline->lanes;
  int status = print(report, flags, pipeline);
  return isOverBudget ? 1 : status;
}

int weft::tool::runExplain(const ExplainFlags &given) {
  ExplainFlags flags = given;
  flags.model.openSizes.assign(std::begin(kOpenSizes), std::end(kOpenSizes));
  if (!flags.html.empty())
    if (Status writable = tryOutput(flags.html); !writable)
      return fail(writable.error());
  return namesForeignProgram(flags.model.model) ? explainForeign(flags)
                                                : explainModel(flags);
}
