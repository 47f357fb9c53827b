//===- CompilerCommands.cpp - what libWeftCommands.so exports -------------===//

#include "weft/compiler/codegen/CodeCache.h"
#include "weft/tools/weft/ForeignProgram.h"
#include "weft/tools/weft/StepCompiler.h"

using namespace weft::tool;

/// The command, once its flags can be meant.
template <auto command, typename Flags> static int checked(const Flags &flags) {
  if (!checkFlags(flags.model))
    return 2;
  if (std::string refusal = weft::refusalOfCache(weft::codeCacheFolder());
      !refusal.empty())
    warn(refusal);
  return command(flags);
}

extern "C" const CompilerCommands weftCompilerCommands = {
    checked<runFit>,     checked<runEvaluate>, checked<runPredict>,
    checked<runCompile>, checked<runExplain>,  checked<runLayout>,
    runDevices,          runReshardCommand,    compileForeignProgram};
