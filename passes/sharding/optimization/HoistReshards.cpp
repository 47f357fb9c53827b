//===- HoistReshards.cpp - moves reshards of invariants before loops ------===//
//
//   for (%w = %a) { %g = reshard %w to whole; ... dot %x, %g; yield ..., %w }
//
// The body passes %w on unchanged, so every iteration gathers the same value.
// The carried value gets the layout that the body needs:
//
//   %b = reshard %a to whole          (once)
//   for (%w = %b) { ... dot %x, %w; yield ..., %w }
//   %r = reshard %result to sharded   (a slice, if it has uses)
//
// Other uses of %w in the body start from %b's layout, usually with a slice. If
// regions use values from outside (scf.for), a reshard of such a value moves
// before the loop unchanged.
//
// This trades memory for time. The moved value is live during the whole loop
// instead of from its gather to its last use: with weights sharded over p
// devices, p times their shard. If the body first takes a slice of the value
// (one layer of a stack of weights), the slice differs in each iteration and
// its reshard stays inside.
//
// A loop is assumed to run twice at least: reshards before and after it may
// cost as much as two iterations save.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/weft/LayoutBorder.h"
#include "weft/passes/sharding/Passes.h"
#include "weft/passes/sharding/RegionFlow.h"
#include "weft/passes/sharding/ReshardCost.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace weft {
#define GEN_PASS_DEF_HOISTRESHARDSPASS
#include "weft/passes/sharding/Passes.h.inc"
} // namespace weft

using namespace weft;
using namespace mlir;

namespace {
/// Carried values of a loop that are the same in every iteration, as the
/// regions pass them on unchanged.
class Invariant {
public:
  Invariant(Operation *loop, const RegionFlow &flow [[clang::lifetimebound]],
            ReshardCost &cost [[clang::lifetimebound]])
      : loop(loop), flow(flow), cost(cost) {}
  /// Finds the values with the leader `leader`; false if an iteration changes
  /// them.
  bool find(Value leader);
  /// Carries them in the layout of the first reshard that pays; returns the
  /// number of reshards that become unnecessary.
  unsigned hoist();
  llvm::SetVector<Value> leaders;

private:
  void findUses();
  bool pays(const Layout &to) const;
  void carry(RankedTensorType other);

  Operation *loop;
  const RegionFlow &flow;
  ReshardCost &cost;
  SmallVector<Value> inside, behind; ///< arguments of regions; results
  SmallVector<OpOperand *> entering;
  SmallVector<ReshardOp> reshards; ///< reshards of the values, in the loop
  SmallVector<OpOperand *> others; ///< other uses in the loop
};
} // namespace

bool Invariant::find(Value leader) {
  auto found = flow.invariant(loop, leader);
  if (!found)
    return false;
  leaders = std::move(found->leaders);
  entering = std::move(found->entering);
  findUses();
  return true;
}

void Invariant::findUses() {
  for (Value leader : leaders)
    for (Value member : flow.members(leader))
      (isa<BlockArgument>(member) ? inside : behind).push_back(member);
  for (Value value : inside)
    for (OpOperand &use : value.getUses()) {
      if (auto reshard = dyn_cast<ReshardOp>(use.getOwner()))
        reshards.push_back(reshard);
      else if (use.getOwner()->getParentOp() != loop ||
               !leaders.contains(flow.target(use)))
        others.push_back(&use);
    }
}

/// Whether an iteration sends fewer bytes if the value is carried in layout
/// `to`, and two iterations take no longer, with the reshards around the loop.
bool Invariant::pays(const Layout &to) const {
  Value value = leaders[0];
  Layout from = layoutIn(value);
  Price now, then, outside;
  for (ReshardOp reshard : reshards) {
    Layout wanted = layoutIn(reshard->getResult(0));
    now = now + cost.between(value, from, wanted);
    then = then + cost.between(value, to, wanted);
  }
  if (!others.empty())
    then = then + cost.between(value, to, from);
  for (size_t i = 0; i < entering.size(); ++i)
    outside = outside + cost.between(value, from, to);
  for (Value result : behind)
    if (!result.use_empty())
      outside = outside + cost.between(value, to, from);
  return then.bytes < now.bytes && !takesLess(now + now, outside + then + then);
}

void Invariant::carry(RankedTensorType other) {
  Type type = leaders[0].getType();
  StringAttr reason = reshards.front().getReasonAttr();
  OpBuilder builder(loop);
  auto moved = [&](Value value, Type to) -> Value {
    return ReshardOp::create(builder, loop->getLoc(), to, value, reason);
  };
  for (OpOperand *operand : entering)
    operand->set(moved(operand->get(), other));
  for (OpOperand *use : others) {
    builder.setInsertionPoint(use->getOwner());
    use->set(moved(use->get(), type));
  }
  builder.setInsertionPointAfter(loop);
  for (Value result : behind) {
    result.setType(other);
    if (result.use_empty())
      continue;
    Value back = moved(result, type);
    result.replaceAllUsesExcept(back, back.getDefiningOp());
  }
  for (Value value : inside)
    value.setType(other);
  for (ReshardOp reshard : reshards)
    if (reshard.getType() == other) {
      reshard.replaceAllUsesWith(reshard.getInput());
      reshard->erase();
    }
}

unsigned Invariant::hoist() {
  for (ReshardOp reshard : reshards) {
    RankedTensorType to = cast<RankedTensorType>(reshard.getType());
    if (!pays(getLayout(to).getLayout()))
      continue;
    unsigned same = llvm::count_if(
        reshards, [&](ReshardOp other) { return other.getType() == to; });
    carry(to);
    return same;
  }
  return 0;
}

/// Moves reshards that send bytes before the loop if their inputs are defined
/// outside of it; returns how many.
static unsigned moveOut(Operation *loop, Region &region, ReshardCost &cost) {
  unsigned moved = 0;
  for (Operation &op : llvm::make_early_inc_range(region.front())) {
    auto reshard = dyn_cast<ReshardOp>(op);
    if (!reshard || cost.of(reshard).bytes == 0 ||
        loop->isAncestor(reshard.getInput().getParentBlock()->getParentOp()))
      continue;
    reshard->moveBefore(loop);
    ++moved;
  }
  return moved;
}

static unsigned hoistFrom(Operation *loop, ReshardCost &cost) {
  RegionFlow flow(loop->getParentOfType<func::FuncOp>());
  unsigned hoisted = 0;
  llvm::SetVector<Value> seen;
  for (Region &region : loop->getRegions()) {
    hoisted += moveOut(loop, region, cost);
    for (BlockArgument argument : region.getArguments()) {
      Value leader = flow.leader(argument);
      if (flow.members(leader).empty() || seen.contains(leader) ||
          !getLayout(leader.getType()))
        continue;
      Invariant invariant(loop, flow, cost);
      if (!invariant.find(leader))
        continue;
      seen.insert_range(invariant.leaders);
      hoisted += invariant.hoist();
    }
  }
  return hoisted;
}

namespace {
struct HoistReshards : weft::impl::HoistReshardsPassBase<HoistReshards> {
  void runOnOperation() override {
    if (failed(verifyLaidOut(*this, getOperation())))
      return signalPassFailure();
    auto mesh = getOperation()->getAttrOfType<MeshAttr>(kMeshAttr);
    if (!mesh)
      return;
    ReshardCost cost(mesh.getMesh());
    forEachLoop(getOperation(),
                [&](Operation *loop) { numHoisted += hoistFrom(loop, cost); });
  }
};
} // namespace
