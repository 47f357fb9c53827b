//===- Compile.cpp - weft compile -----------------------------------------===//

#include "weft/base/StepKind.h"
#include "weft/passes/sharding/Passes.h"
#include "weft/tools/weft/compiler/ForeignProgram.h"
#include "weft/tools/weft/compiler/ReadIr.h"
#include "weft/tools/weft/compiler/StepCompiler.h"
#include "weft/tools/weft/compiler/VerifyStages.h"
#include "weft/tools/weft/programs/OutputFile.h"
#include "weft/tools/weft/programs/StepArchive.h"
#include "weft/tools/weft/training/SavedWeights.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace weft;
using namespace weft::tool;

static constexpr const char *kVerifiesOne =
    "--verify compares the stages of one step; choose it with --step";

/// What --emit calls the graph of layouts, which is asked at `differentiated`.
static constexpr const char *kLayouts = "layouts";

/// The stage that a flag names; nothing after a printed error.
static std::optional<Stage> stageOf(const char *flag, const std::string &name) {
  std::optional<Stage> stage = parseStage(name);
  if (!stage)
    fail(std::string(flag) + ": " + unknownStage(name));
  return stage;
}

static int writeOutput(const CompileFlags &flags, const std::string &bytes) {
  if (flags.out.empty() || flags.out == "-") {
    llvm::outs() << bytes;
    return 0;
  }
  Status written = writeOutputFile(flags.out, bytes);
  return written ? 0 : fail(written.error());
}

/// The module's text with aliases for mesh and layouts, which `<<` leaves out.
static std::string textOf(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text + "\n";
}

/// Refuses flags that a file of IR, which has its model, layouts and batch,
/// cannot take.
static bool refuseModelFlags(const CompileFlags &flags) {
  const char *flag = flags.model.ofSources();
  if (!flag)
    flag = flags.verify                 ? "--verify"
           : flags.model.seed           ? "--seed"
           : flags.model.namesBatchSize ? "--batch-size"
           : flags.model.namesStep      ? "--step"
                                        : nullptr;
  if (flag)
    fail(std::string(flag) + " has no effect on IR of the stage '" +
         flags.from + "'; leave it out, or compile the model without --from");
  return flag != nullptr;
}

/// Writes the module of a stage, or the graph of its layouts.
static int writeModule(const CompileFlags &flags, mlir::ModuleOp module) {
  if (flags.emit == kLayouts) {
    mlir::PassManager passes(module.getContext());
    passes.addPass(
        createListLayoutChoicesPass({compileOptions(flags.model).target}));
    if (failed(passes.run(module)))
      return 1;
  }
  return writeOutput(flags, textOf(module));
}

/// Compiles a file of IR at some stage.
static int compileFrom(const CompileFlags &flags, std::optional<Stage> to) {
  std::optional<Stage> from = stageOf("--from", flags.from);
  if (!from || refuseModelFlags(flags))
    return 2;
  bool assembly = flags.emit == "assembly";
  if (to || assembly)
    if (std::string why = invalidOrder(*from, to.value_or(Stage::nests));
        !why.empty())
      return failUsage("--emit " + flags.emit + ": " + why);
  auto text = readTextFile(flags.model.model);
  if (!text)
    return fail(text.error());
  Session session(printed(flags.model.model));
  auto module = parseIr(*text, flags.model.model, session.context());
  if (!module)
    return 1;
  CompileOptions options = compileOptions(flags.model);
  options.from = *from;
  options.expect = flags.model.expect;
  if (to)
    return failed(runStages(*module, options, *to))
               ? 1
               : writeModule(flags, *module);
  if (assembly) {
    auto text = printKernelAssembly(*module, options, flags.kernels);
    return failed(text) ? 1 : writeOutput(flags, *text);
  }
  auto image = compileProgram(*module, options);
  return failed(image)
             ? 1
             : writeOutput(flags, std::string(image->begin(), image->end()));
}

/// Compiles the steps of a traced model with the kind and the sizes that flags
/// name, or all, in the order of its file.
static int compileTraced(const CompileFlags &flags, bool namesStep,
                         ForeignProgram &program) {
  for (int64_t size : flags.model.batchSizes)
    if (Status known = program.choose(
            namesStep ? flags.model.step : program.steps().front().kind, size);
        !known)
      return fail(known.error());
  std::vector<CompiledStep> steps;
  for (const stablehlo::StepFunction &step : program.steps()) {
    const std::vector<int64_t> &sizes = flags.model.batchSizes;
    if (!sizes.empty() && !llvm::is_contained(sizes, step.batch))
      continue;
    if (namesStep && flags.model.step != step.kind)
      continue;
    if (Status known = program.choose(step.kind, step.batch); !known)
      return fail(known.error());
    auto image = program.compile();
    if (!image)
      return fail(image.error());
    steps.push_back({step.kind, step.batch, std::move(*image)});
  }
  Status written = writeSteps(flags.out, steps);
  return written ? 0 : fail(written.error());
}

/// Compiles one step, or with --step all train, evaluate and predict, for each
/// batch size.
static int compileAll(const CompileFlags &flags, StepCompiler &model) {
  std::vector<int64_t> sizes = flags.model.batchSizes;
  if (sizes.empty())
    sizes = {flags.model.batchSize};
  std::vector<std::string> kinds{flags.model.step};
  if (flags.model.step == "all")
    kinds.assign(std::begin(kStepKinds), std::end(kStepKinds));
  std::vector<CompiledStep> steps;
  for (const std::string &kind : kinds)
    for (int64_t size : sizes) {
      auto image = model.compile(kind, size);
      if (!image)
        return fail(image.error());
      steps.push_back({kind, size, std::move(*image)});
    }
  Status written = writeSteps(flags.out, steps);
  return written ? 0 : fail(written.error());
}

/// Whether the flags request several programs.
static bool namesSeveral(const ModelFlags &flags) {
  return flags.step == "all" || flags.batchSizes.size() > 1;
}

/// Refuses several programs unless they are written to a file.
static bool refusesSeveral(const CompileFlags &flags) {
  bool isFile = flags.emit.empty() && flags.from.empty() &&
                !flags.out.empty() && flags.out != "-";
  if (!namesSeveral(flags.model) || isFile)
    return false;
  failUsage(std::string(flags.model.step == "all" ? "--step all"
                                                  : "--batch-size with "
                                                    "several sizes") +
            " writes a file of several programs; name it with --out, or "
            "choose one step of one size");
  return true;
}

static int writeImage(const CompileFlags &flags,
                      const Result<std::vector<uint8_t>> &image) {
  return image ? writeOutput(flags, std::string(image->begin(), image->end()))
               : fail(image.error());
}

/// Compiles a program in StableHLO or Weft's text as the flags ask.
static int compileForeign(const CompileFlags &flags,
                          std::optional<Stage> stage) {
  ModelFlags model = flags.model;
  if (model.seed && !flags.verify)
    return fail("--seed has no effect on " + model.model +
                ", which draws nothing when it is compiled; leave it out, or "
                "give it to weft fit");
  bool isProgram = flags.verify || !flags.emit.empty() || flags.out == "-";
  bool all = namesSeveral(model) || (!model.namesStep && !isProgram);
  model.namesStep &= model.step != "all";
  auto opened = ForeignProgram::open(model);
  if (!opened)
    return fail(opened.error());
  ForeignProgram *program = opened->get();
  if (all && !program->steps().empty())
    return flags.verify ? failUsage(kVerifiesOne)
                        : compileTraced(flags, model.namesStep, *program);
  if (namesSeveral(model))
    return fail(model.model +
                ": is a program of its own, and has no steps; "
                "leave out " +
                (model.step == "all" ? "--step" : "--batch-size"));
  if (flags.verify)
    if (Status equal =
            verifyStages([&](Stage at) { return program->reach(at); },
                         model.seed.value_or(0));
        !equal)
      return fail(equal.error());
  if (!stage && flags.emit.empty() && flags.out.empty())
    return 0;
  if (stage) {
    auto module = program->reach(*stage);
    return module ? writeModule(flags, **module) : fail(module.error());
  }
  if (flags.emit == "assembly") {
    auto text = program->assembly(flags.kernels);
    return text ? writeOutput(flags, *text) : fail(text.error());
  }
  return writeImage(flags, program->compile());
}

int weft::tool::runCompile(const CompileFlags &flags) {
  std::optional<Stage> stage;
  bool assembly = flags.emit == "assembly";
  if (!flags.kernels.empty() && !assembly)
    return failUsage("--kernel chooses kernels for --emit=assembly; add it");
  if (!flags.emit.empty() && !assembly) {
    stage = flags.emit == kLayouts ? Stage::differentiated
                                   : stageOf("--emit", flags.emit);
    if (!stage)
      return 2;
  } else if (flags.out.empty() && !flags.verify && !assembly) {
    return failUsage("--out is missing; name the program file, or print a "
                     "stage with --emit");
  }
  if (refusesSeveral(flags))
    return 2;
  if (!flags.out.empty() && flags.out != "-")
    if (Status writable = tryOutput(flags.out); !writable)
      return fail(writable.error());
  if (!flags.from.empty())
    return compileFrom(flags, stage);
  if (namesForeignProgram(flags.model.model))
    return compileForeign(flags, stage);
  auto opened = StepCompiler::open(flags.model);
  if (!opened)
    return fail(opened.error());
  StepCompiler *steps = opened->get();
  if (namesSeveral(flags.model))
    return flags.verify ? failUsage(kVerifiesOne) : compileAll(flags, *steps);
  if (flags.verify)
    if (Status equal = steps->verify(flags.model.step, flags.model.batchSize);
        !equal)
      return fail(equal.error());
  if (!stage && !assembly && flags.out.empty())
    return 0;
  if (stage) {
    auto module = steps->reach(flags.model.step, flags.model.batchSize, *stage);
    return module ? writeModule(flags, **module) : fail(module.error());
  }
  if (assembly) {
    auto text =
        steps->assembly(flags.model.step, flags.model.batchSize, flags.kernels);
    return text ? writeOutput(flags, *text) : fail(text.error());
  }
  return writeImage(flags,
                    steps->compile(flags.model.step, flags.model.batchSize));
}
