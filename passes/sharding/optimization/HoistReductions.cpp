//===- HoistReductions.cpp - sums that are reduced once, after a loop -----===//
//
//   for (%acc = %zero) { %g : partial; %s = reshard %g; yield add %acc, %s }
//
// Each iteration adds a sum over devices to the sum over iterations. The order
// does not matter, so %acc itself may stay a sum over devices:
//
//   %p = reshard %zero to partial     (free: one device keeps it, others: 0)
//   for (%acc = %p) { %g : partial; yield add %acc, %g : partial }
//   %r = reshard %result              (once)
//
// The same holds if a branch in the loop adds, and the other passes %acc on.
// This is legal if all uses of the carried value in the loop are linear in it,
// jointly with other summands of the same kind, and their results become
// carried values.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/weft/LayoutBorder.h"
#include "weft/passes/sharding/OpSharding.h"
#include "weft/passes/sharding/Passes.h"
#include "weft/passes/sharding/RegionFlow.h"
#include "weft/passes/sharding/ReshardCost.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace weft {
#define GEN_PASS_DEF_HOISTREDUCTIONSPASS
#include "weft/passes/sharding/Passes.h.inc"
} // namespace weft

using namespace weft;
using namespace mlir;

namespace {
/// The changes that follow if one carried value of a loop becomes partial.
class PartialCarry {
public:
  PartialCarry(Operation *loop, const RegionFlow &flow [[clang::lifetimebound]],
               Layout partial)
      : loop(loop), flow(flow), partial(std::move(partial)) {
    reduced = this->partial;
    reduced.partial.clear();
  }
  /// Follows values from `carried` through the loop; false if one of them must
  /// be reduced in each iteration, or if no reshard is saved.
  bool find(Value carried);
  void apply();

private:
  bool addClass(Value leader);
  bool addUses(Value value);
  bool addSource(OpOperand &operand);
  bool addSum(Operation *op);
  bool isSum(Operation *op) const;
  void setPartial(Value value) const;

  Operation *loop;
  const RegionFlow &flow;
  Layout partial, reduced;
  llvm::SetVector<Value> leaders; ///< carried values that become partial
  /// Ops within the loop that become partial.
  llvm::SetVector<Operation *> sums;
  /// Operands that are replaced by the source of their reshard, and those from
  /// outside the loop, or constants, that become partial.
  llvm::SetVector<OpOperand *> skipping, entering;
  llvm::SetVector<Operation *>
      undone; ///< reshards of carried values to partial
};
} // namespace

/// The source of a reshard from `from` to `to`, or null.
static Value beforeReshard(Value value, const Layout &from, const Layout &to) {
  auto reshard = value.getDefiningOp<ReshardOp>();
  if (!reshard || layoutIn(reshard.getInput()) != from ||
      layoutIn(reshard.getResult()) != to)
    return {};
  return reshard.getInput();
}

/// Whether the op has one result, linear in all operands together: add, sub,
/// concatenate.
bool PartialCarry::isSum(Operation *op) const {
  auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
  if (!ruled || op->getNumResults() != 1 || op->getNumRegions() != 0 ||
      op->getNumOperands() == 0)
    return false;
  ShardingRule rule = ruled.getShardingRule();
  return rule.linearity.size() == op->getNumOperands() &&
         llvm::all_of(rule.linearity, [](Linearity linearity) {
           return has(linearity, Linearity::JointlyLinear);
         });
}

bool PartialCarry::addSum(Operation *op) {
  if (!isSum(op) || layoutIn(op->getResult(0)) != reduced)
    return false;
  if (!sums.insert(op))
    return true;
  return llvm::all_of(op->getOpOperands(),
                      [&](OpOperand &operand) { return addSource(operand); }) &&
         addUses(op->getResult(0));
}

/// Adds the source of a partial operand.
bool PartialCarry::addSource(OpOperand &operand) {
  Value value = operand.get();
  if (operand.getOwner() == loop) {
    entering.insert(&operand);
    return layoutIn(value) == reduced;
  }
  if (beforeReshard(value, partial, reduced)) {
    skipping.insert(&operand);
    return true;
  }
  if (!loop->isAncestor(value.getParentRegion()->getParentOp()))
    return false;
  if (!flow.members(flow.leader(value)).empty())
    return addClass(flow.leader(value));
  Operation *def = value.getDefiningOp();
  if (def && def->getNumOperands() == 0) { // a constant: one device keeps it
    entering.insert(&operand);
    return layoutIn(value) == reduced;
  }
  return def && addSum(def);
}

bool PartialCarry::addUses(Value value) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (Value target = flow.target(use);
        target && loop->isProperAncestor(user)) {
      if (!addClass(target))
        return false;
    } else if (auto reshard = dyn_cast<ReshardOp>(user);
               reshard && layoutIn(reshard.getResult()) == partial) {
      undone.insert(reshard);
    } else if (!addSum(user)) {
      return false;
    }
  }
  return true;
}

bool PartialCarry::addClass(Value leader) {
  if (layoutIn(leader) != reduced)
    return false;
  if (!leaders.insert(leader))
    return true;
  for (Value member : flow.members(leader))
    if (member.getDefiningOp() != loop && !addUses(member))
      return false;
  return llvm::all_of(flow.sources(leader),
                      [&](OpOperand *operand) { return addSource(*operand); });
}

bool PartialCarry::find(Value carried) {
  return addClass(flow.leader(carried)) && !skipping.empty();
}

void PartialCarry::setPartial(Value value) const {
  auto type = cast<RankedTensorType>(value.getType());
  MeshAttr mesh = getLayout(type).getMesh();
  value.setType(withLayout(type, LayoutAttr::get(mesh, partial)));
}

void PartialCarry::apply() {
  OpBuilder builder(loop);
  StringAttr reason;
  for (OpOperand *operand : skipping) {
    auto reshard = operand->get().getDefiningOp<ReshardOp>();
    reason = reshard.getReasonAttr();
    operand->set(reshard.getInput());
  }
  for (OpOperand *operand : entering) {
    builder.setInsertionPoint(operand->getOwner());
    auto type = cast<RankedTensorType>(operand->get().getType());
    auto to =
        withLayout(type, LayoutAttr::get(getLayout(type).getMesh(), partial));
    operand->set(
        ReshardOp::create(builder, loop->getLoc(), to, operand->get(), reason));
  }
  builder.setInsertionPointAfter(loop);
  for (Value leader : leaders)
    for (Value member : flow.members(leader)) {
      Type before = member.getType();
      setPartial(member);
      if (member.getDefiningOp() != loop || member.use_empty())
        continue;
      auto once =
          ReshardOp::create(builder, loop->getLoc(), before, member, reason);
      member.replaceAllUsesExcept(once, once);
    }
  for (Operation *sum : sums)
    setPartial(sum->getResult(0));
  for (Operation *reshard : undone) {
    reshard->getResult(0).replaceAllUsesWith(reshard->getOperand(0));
    reshard->erase();
  }
}

/// The layout that a reshard in the loop reduces, if its result is added to a
/// carried value.
static std::optional<Layout> summandsAddedTo(Value carried,
                                             const RegionFlow &flow) {
  for (OpOperand &use : carried.getUses()) {
    Operation *user = use.getOwner();
    // A branch adds, or passes on what was carried.
    if (Value target = flow.target(use); target && hasRegionFlow(user))
      for (Value member : flow.members(target))
        if (isa<BlockArgument>(member))
          if (auto found = summandsAddedTo(member, flow))
            return found;
    for (Value operand : user->getOperands()) {
      auto reshard = operand.getDefiningOp<ReshardOp>();
      if (!reshard || user->getNumResults() != 1)
        continue;
      Layout from = layoutIn(reshard.getInput()), to = from;
      to.partial.clear();
      if (from.isPartial() && from.reduce == ReduceKind::Sum &&
          layoutIn(operand).dims == to.dims && !layoutIn(operand).isPartial())
        return from;
    }
  }
  return std::nullopt;
}

/// Makes carried values of a loop partial; returns how many.
static unsigned delayIn(Operation *loop) {
  RegionFlow flow(loop->getParentOfType<func::FuncOp>());
  unsigned delayed = 0;
  for (Region &region : loop->getRegions())
    for (BlockArgument argument : region.getArguments()) {
      std::optional<Layout> partial;
      if (getLayout(argument.getType()))
        partial = summandsAddedTo(argument, flow);
      if (!partial)
        continue;
      PartialCarry carry(loop, flow, *partial);
      if (!carry.find(argument))
        continue;
      carry.apply();
      ++delayed;
    }
  return delayed;
}

namespace {
struct HoistReductions : weft::impl::HoistReductionsPassBase<HoistReductions> {
  void runOnOperation() override {
    if (failed(verifyLaidOut(*this, getOperation())))
      return signalPassFailure();
    forEachLoop(getOperation(),
                [&](Operation *loop) { numHoisted += delayIn(loop); });
  }
};
} // namespace
