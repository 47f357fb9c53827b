//===- FittingLayouts.cpp - layouts whose plan fits a device ---------------===//

#include "weft/compiler/driver/FittingLayouts.h"

#include "weft/compiler/explain/Explain.h"
#include "weft/dialects/plan/Plan.h"
#include "weft/dialects/weft/LayoutPrice.h"
#include "weft/passes/planning/Passes.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace weft;

// A held byte costs 1/64 of a moved one first, and 64 moved ones last.
static constexpr int64_t kFirstWeight = 16, kLastWeight = 65'536, kTimes = 4;

static bool fits(ModuleOp module) {
  auto memory = module->getAttrOfType<IntegerAttr>(kMemoryAttr);
  if (!memory)
    return true;
  return llvm::all_of(
      module.getOps<plan::ProgramOp>(), [&](plan::ProgramOp program) {
        return explainProgram(program).memory.total() <= memory.getInt();
      });
}

/// Gives a module the ops and attributes of another one, which is left empty.
static void become(ModuleOp module, ModuleOp other) {
  module.getBodyRegion().takeBody(other.getBodyRegion());
  module->setAttrs(other->getAttrDictionary());
}

bool FittingLayouts::isFinal(ModuleOp module) {
  if (fits(module))
    return true;
  if (weight == 0)
    first = module.clone();
  weight = weight == 0 ? kFirstWeight : weight * kTimes;
  if (weight > kLastWeight) {
    become(module, *first);
    return true;
  }
  OwningOpRef<ModuleOp> again = start->clone();
  become(module, *again);
  module->setAttr(kMemoryWeightAttr,
                  OpBuilder(module).getI64IntegerAttr(weight));
  return false;
}
