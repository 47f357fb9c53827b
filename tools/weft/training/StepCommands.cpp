//===- StepCommands.cpp - exported functions of libWeftStepCommands.so ----===//

#include "weft/tools/weft/training/CompiledSteps.h"

using namespace weft::tool;

static int fit(const FitFlags &flags) {
  return runFit(flags, CompiledSteps::open);
}
static int evaluate(const EvaluateFlags &given) {
  EvaluateFlags flags = given;
  flags.model.step = "evaluate"; // the default batch size is that of this step
  return runEvaluate(flags, CompiledSteps::open);
}
static int predict(const EvaluateFlags &given) {
  EvaluateFlags flags = given;
  flags.model.step = "predict";
  return runPredict(flags, CompiledSteps::open);
}

extern "C" const StepCommands weftStepCommands = {fit, evaluate, predict};
