//===- VerifyStages.cpp - do the stages keep a step's meaning? ------------===//

#include "weft/tools/weft/compiler/VerifyStages.h"

#include "weft/passes/verify/CompareWithGlobal.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace weft;
using namespace weft::tool;

/// The one function of a step before its kernels are outlined.
static func::FuncOp entryOf(ModuleOp module) {
  auto functions = module.getOps<func::FuncOp>();
  return functions.empty() ? func::FuncOp() : *functions.begin();
}

bool weft::tool::verifyStages(StepCompiler &steps, const std::string &step,
                              int64_t batchSize) {
  auto global = steps.reach(step, batchSize, Stage::differentiated);
  if (!global)
    return false;
  CompareOptions options;
  options.seed = steps.seed();
  options.draw = Draw::Reals;
  for (Stage stage : {Stage::partitioned, Stage::scheduled}) {
    auto local = steps.reach(step, batchSize, stage);
    if (!local)
      return false;
    if (failed(compareWithGlobal(entryOf(*global), entryOf(*local), options)))
      return false;
  }
  int64_t devices =
      steps.distribution() ? steps.distribution()->mesh.size() : 1;
  llvm::errs() << "verified: global program = " << devices
               << (devices == 1 ? " device" : " devices")
               << " (stage partitioned, scheduled)\n";
  return true;
}
