//===- HloCosts.cpp - operations of a device's program --------------------===//

#include "weft/compiler/hlo/HloCosts.h"

#include "weft/dialects/weft/KernelTraits.h"
#include "weft/dialects/weft/Weft.h"

using namespace mlir;
using namespace weft;

static double elementsOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? double(type.getNumElements()) : 0;
}

static void count(Operation *op, HloCosts &costs) {
  if (op->getNumResults() == 0)
    return;
  if (isa<AccumulatesOpInterface>(op) && isa<KernelOpInterface>(op))
    costs.flops += 2 * workOf(op);
  else if (op->hasTrait<ReductionNest>())
    costs.flops += elementsOf(op->getOperand(0));
  else if (op->hasTrait<OpTrait::Elementwise>())
    (op->hasTrait<Costly>() ? costs.transcendentals : costs.flops) +=
        elementsOf(op->getResult(0));
}

HloCosts weft::hloCosts(ModuleOp module) {
  HloCosts costs;
  module.walk([&](Operation *op) { count(op, costs); });
  return costs;
}
