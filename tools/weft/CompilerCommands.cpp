//===- CompilerCommands.cpp - what libWeftCommands.so exports
//--------------===//

#include "weft/tools/weft/ForeignProgram.h"

using namespace weft::tool;

extern "C" const CompilerCommands weftCompilerCommands = {
    runFit,     runEvaluate, runPredict, runCompile,
    runExplain, runLayout,   runDevices, runReshardCommand,
    compileForeignProgram};
