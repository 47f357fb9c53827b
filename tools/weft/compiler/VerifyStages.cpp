//===- VerifyStages.cpp - do the stages keep a step's meaning? ------------===//

#include "weft/tools/weft/compiler/VerifyStages.h"

#include "weft/dialects/weft/Weft.h"
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

Status weft::tool::verifyStages(const ReachStage &reach, uint64_t seed) {
  auto global = reach(Stage::differentiated);
  if (!global)
    return global.error();
  CompareOptions options;
  options.seed = seed;
  options.draw = Draw::Reals;
  for (Stage stage : {Stage::partitioned, Stage::scheduled}) {
    auto local = reach(stage);
    if (!local)
      return local.error();
    if (failed(compareWithGlobal(entryOf(**global), entryOf(**local), options)))
      return Error{};
  }
  auto mesh = (**global)->getAttrOfType<MeshAttr>(kMeshAttr);
  int64_t devices = mesh ? mesh.getMesh().size() : 1;
  llvm::errs() << "verified: global program = " << devices
               << (devices == 1 ? " device" : " devices")
               << " (stage partitioned, scheduled)\n";
  return {};
}
