//===- CompilerCommands.cpp - what libWeftCommands.so exports -------------===//

#include "weft/tools/weft/ForeignProgram.h"
#include "weft/tools/weft/StepCompiler.h"

using namespace weft::tool;

/// The command, once its flags can be meant.
template <auto command, typename Flags> static int checked(const Flags &flags) {
  return checkFlags(flags.model) ? command(flags) : 2;
}

extern "C" const CompilerCommands weftCompilerCommands = {
    checked<runFit>,     checked<runEvaluate>, checked<runPredict>,
    checked<runCompile>, checked<runExplain>,  checked<runLayout>,
    runDevices,          runReshardCommand,    compileForeignProgram};
