//===- MergeReshards.cpp - movements that make others unnecessary ---------===//

#include "weft/dialects/weft/LayoutBorder.h"
#include "weft/passes/sharding/Passes.h"
#include "weft/passes/sharding/Provenance.h"
#include "weft/passes/sharding/ReshardCost.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

namespace weft {
#define GEN_PASS_DEF_MERGERESHARDSPASS
#include "weft/passes/sharding/Passes.h.inc"
} // namespace weft

using namespace weft;
using namespace mlir;

namespace {
/// Merges the reshards of one block, in program order.
class ReshardMerger {
public:
  ReshardMerger(Block &block [[clang::lifetimebound]], const Mesh &mesh)
      : block(block), cost(mesh) {}
  void run();
  unsigned merged = 0;

private:
  bool skipFirst(ReshardOp second);
  bool isRepeated(ReshardOp reshard);
  bool isIdle(ReshardOp reshard);

  Block &block;
  ReshardCost cost;
  /// Resharded values by source and type.
  llvm::DenseMap<std::pair<Value, Type>, Value> known;
};
} // namespace

static bool mayTake(const Layout &from, const Layout &to) {
  // The result of a reshard to a partial layout is summands, which cannot
  // replace the source.
  return from == to || !to.isPartial();
}

/// Replaces a -> b -> c by a -> c if that costs no more. The first reshard
/// stays until the end, as others may still be found equal to it.
bool ReshardMerger::skipFirst(ReshardOp second) {
  auto first = second.getInput().getDefiningOp<ReshardOp>();
  if (!first)
    return false;
  Layout from = layoutIn(first.getInput()), to = layoutIn(second.getResult());
  if (!mayTake(from, to))
    return false;
  Price now = cost.of(second);
  if (first->hasOneUse())
    now = now + cost.of(first);
  if (takesLess(now, cost.between(second.getResult(), from, to)))
    return false;
  second.getInputMutable().assign(first.getInput());
  second.setReasonAttr(
      joinReasons({first.getReasonAttr(), second.getReasonAttr()}));
  return true;
}

/// Erases a reshard whose source and result have equal layouts; returns whether
/// it did.
bool ReshardMerger::isIdle(ReshardOp reshard) {
  if (reshard.getInput().getType() != reshard.getType())
    return false;
  reshard.replaceAllUsesWith(reshard.getInput());
  reshard->erase();
  return true;
}

/// Erases a reshard if the same value was brought to the same layout before;
/// returns whether it did.
bool ReshardMerger::isRepeated(ReshardOp reshard) {
  Value &before = known[{reshard.getInput(), reshard.getType()}];
  if (!before) {
    before = reshard.getResult();
    return false;
  }
  reshard.replaceAllUsesWith(before);
  reshard->erase();
  return true;
}

void ReshardMerger::run() {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto reshard = dyn_cast<ReshardOp>(op);
    if (!reshard)
      continue;
    while (skipFirst(reshard))
      ++merged;
    merged += isIdle(reshard) || isRepeated(reshard);
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isa<ReshardOp>(op) && op.use_empty()) {
      op.erase();
      ++merged;
    }
}

namespace {
struct MergeReshards : weft::impl::MergeReshardsPassBase<MergeReshards> {
  void runOnOperation() override {
    if (failed(verifyLaidOut(*this, getOperation())))
      return signalPassFailure();
    auto mesh = getOperation()->getAttrOfType<MeshAttr>(kMeshAttr);
    if (!mesh)
      return;
    getOperation().walk([&](Block *block) {
      ReshardMerger merger(*block, mesh.getMesh());
      merger.run();
      numMerged += merger.merged;
    });
  }
};
} // namespace
