//===- StepCommands.cpp - what libWeftStepCommands.so exports -------------===//

#include "weft/tools/weft/CompiledSteps.h"

using namespace weft::tool;

static int fit(const FitFlags &flags) {
  return runFit(flags, CompiledSteps::open);
}
static int evaluate(const EvaluateFlags &flags) {
  return runEvaluate(flags, CompiledSteps::open);
}
static int predict(const EvaluateFlags &flags) {
  return runPredict(flags, CompiledSteps::open);
}

extern "C" const StepCommands weftStepCommands = {fit, evaluate, predict};
