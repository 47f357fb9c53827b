//===- CompilerCommands.cpp - exported functions of libWeftCommands.so ----===//

#include "weft/compiler/codegen/CodeCache.h"
#include "weft/tools/weft/compiler/ForeignProgram.h"
#include "weft/tools/weft/compiler/StepCompiler.h"
#include "weft/tools/weft/compiler/TracedSteps.h"

#include "llvm/Support/raw_ostream.h"

using namespace weft::tool;

/// The status after LLVM's stream of standard output, which has a buffer of its
/// own, has been flushed.
static int written(int status) {
  llvm::outs().flush();
  std::error_code error = llvm::outs().error();
  if (!error)
    return flushed(status);
  llvm::outs().clear_error();
  fail("standard output cannot be written: " + error.message() +
       "; print to another place");
  return status ? status : 1;
}

template <auto command, typename Flags> static int printed(const Flags &flags) {
  return written(command(flags));
}

/// Runs the command if its flags are valid.
template <auto command, typename Flags> static int checked(const Flags &flags) {
  if (weft::Status valid = checkFlags(flags.model); !valid)
    return failUsage(valid.error().message);
  if (std::string refusal = weft::refusalOfCache(weft::codeCacheFolder());
      !refusal.empty())
    warn(refusal);
  return written(command(flags));
}

/// Opens the steps of a Keras model, or of a traced one.
static weft::Result<std::unique_ptr<StepSource>>
openSteps(const ModelFlags &flags) {
  if (namesForeignProgram(flags.model))
    return TracedSteps::open(flags);
  auto steps = StepCompiler::open(flags);
  if (!steps)
    return steps.error();
  return std::unique_ptr<StepSource>(std::move(*steps));
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
    checked<runSummary>,  printed<runDevices>, printed<runReshardCommand>,
    compileForeignProgram};
