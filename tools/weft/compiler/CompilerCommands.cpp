//===- CompilerCommands.cpp - exported functions of libWeftCommands.so ----===//

#include "weft/compiler/codegen/CodeCache.h"
#include "weft/tools/weft/compiler/ForeignProgram.h"
#include "weft/tools/weft/compiler/StepCompiler.h"
#include "weft/tools/weft/compiler/TracedSteps.h"

using namespace weft::tool;

/// Runs the command if its flags are valid.
template <auto command, typename Flags> static int checked(const Flags &flags) {
  if (!checkFlags(flags.model))
    return 2;
  if (std::string refusal = weft::refusalOfCache(weft::codeCacheFolder());
      !refusal.empty())
    warn(refusal);
  return command(flags);
}

/// Opens the steps of a Keras model, or of a traced one.
static std::unique_ptr<StepSource> openSteps(const ModelFlags &flags) {
  if (namesForeignProgram(flags.model))
    return TracedSteps::open(flags);
  return StepCompiler::open(flags);
}

static int fit(const FitFlags &flags) { return runFit(flags, openSteps); }
static int evaluate(const EvaluateFlags &flags) {
  return runEvaluate(flags, openSteps);
}
static int predict(const EvaluateFlags &flags) {
  return runPredict(flags, openSteps);
}

extern "C" const CompilerCommands weftCompilerCommands = {
    checked<fit>,         checked<evaluate>,   checked<predict>,
    checked<runCompile>,  checked<runExplain>, checked<runLayout>,
    checked<runSummary>,  runDevices,          runReshardCommand,
    compileForeignProgram};
