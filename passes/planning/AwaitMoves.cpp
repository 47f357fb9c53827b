//===- AwaitMoves.cpp - moves between parts of the mesh under compute -----===//
//
//   %b = coll.exchange %a ...           %b = coll.exchange %a ...
//   weft.at {"stage" = 0} ...      ->   weft.at {"stage" = 0} ...
//   weft.at {"stage" = 1} (%b)          plan.await %b
//                                       weft.at {"stage" = 1} (%b)
//
//===----------------------------------------------------------------------===//

#include "weft/passes/planning/OverlapGraph.h"
#include "weft/passes/planning/Passes.h"

#include "weft/dialects/plan/Plan.h"
#include "weft/dialects/weft/LayoutBorder.h"

namespace weft {
#define GEN_PASS_DEF_AWAITMOVESPASS
#include "weft/passes/planning/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

/// Whether the op, or the only one of its first branch, brings a value to another
/// part of the mesh.
static bool isBetweenParts(Operation *op) {
  auto instruction = dyn_cast_or_null<plan::PlanInstructionOpInterface>(
      plan::collectiveOf(op));
  if (!instruction)
    return false;
  Communication communication =
      instruction.getCommunication().getCommunication();
  const auto *its = std::get_if<Movement>(&communication);
  return its && its->from.part != its->to.part;
}

namespace {
struct AwaitMovesPass : weft::impl::AwaitMovesPassBase<AwaitMovesPass> {
  void runOnOperation() override {
    if (failed(verifyPartitioned(*this, getOperation())))
      return signalPassFailure();
    std::optional<Choice> overlap = choiceOf(getOperation(), kOverlapAttr);
    if (!overlap)
      return signalPassFailure();
    if (overlap == Choice::Off)
      return;
    getOperation().walk([&](Operation *op) {
      Operation *around = op->getParentOp();
      if (!isBetweenParts(op) || plan::awaitOf(op) ||
          (around && plan::collectiveOf(around) == op))
        return;
      Block &block = *op->getBlock();
      Operation *user = firstUser(op->getResults(), block);
      if (!user)
        user = block.getTerminator();
      if (user == op->getNextNode())
        return;
      OpBuilder builder(user);
      plan::AwaitOp::create(builder, op->getLoc(), op->getResults());
      ++numAwaited;
    });
  }
};
} // namespace
