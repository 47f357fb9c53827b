//===- SinkReshards.cpp - movements after the ops that make them cheaper --===//
//
// %r = reshard %x : [{"data"}, {}] -> [{}, {}]      all of 1024x64 is gathered
// %s = weft.slice %r [0, 0] ... : -> 1024x8
//
// becomes a slice of the shard and a gather of 1024x8. The op's rule defines
// the layouts that it may run with, its linearity whether a sum may pass; the
// planner decides which is cheaper.
//
//===----------------------------------------------------------------------===//

#include "weft/base/Saturating.h"
#include "weft/dialects/weft/LayoutBorder.h"
#include "weft/passes/sharding/LocalBlocks.h"
#include "weft/passes/sharding/OpSharding.h"
#include "weft/passes/sharding/Passes.h"
#include "weft/passes/sharding/RegionFlow.h"
#include "weft/passes/sharding/ReshardCost.h"
#include "weft/passes/sharding/propagation/ChooseSharding.h"

#include "llvm/ADT/STLExtras.h"

namespace weft {
#define GEN_PASS_DEF_SINKRESHARDSPASS
#include "weft/passes/sharding/Passes.h.inc"
} // namespace weft

using namespace weft;
using namespace mlir;

namespace {
/// An op that is moved before the reshard.
struct SunkOp {
  Operation *op = nullptr;
  llvm::SmallVector<unsigned> carried; ///< operands taken before their reshard
  OpSharding sharding;
};

/// The ops that the movement of one reshard may sink through.
class SinkChain {
public:
  /// The movement is made once in this many runs of the ops.
  SinkChain(ReshardOp reshard, int64_t rounds,
            ReshardCost &cost [[clang::lifetimebound]],
            const Mesh &mesh [[clang::lifetimebound]])
      : reshard(reshard), rounds(rounds), cost(cost), mesh(mesh),
        before(layoutIn(reshard.getInput())),
        after(layoutIn(reshard.getResult())) {}
  /// Follows single uses; returns whether sinking saves something.
  bool find();
  /// Sinks the movement; returns the reshards that it erased.
  llvm::SmallVector<Operation *> apply();

private:
  std::optional<SunkOp> tryOp(Operation *op, Value moved) const;
  bool carries(Value moved, OpOperand &operand) const;
  void keepOthers(const OpWithRule &ruled, const SunkOp &sunk,
                  FactorAxes &axes) const;
  bool passPartial(const OpWithRule &ruled, SunkOp &sunk) const;
  Price costOfOthers(const SunkOp &sunk) const;
  Price savedBy(const SunkOp &sunk, Value moved) const;
  Price sentBy(const OpWithRule &op, const OpSharding &sharding) const;
  /// The price of the bytes that the op itself sends now.
  Price sentNow(Operation *op) const;
  void requireOthers(const SunkOp &sunk, OpBuilder &builder);

  /// Whether a movement of these costs is better than the least so far.
  bool isBetter(const Price &net, const Price &least) const;

  ReshardOp reshard;
  int64_t rounds;
  ReshardCost &cost;
  const Mesh &mesh;
  Layout before, after; ///< layouts of the value that moves
  std::vector<SunkOp> chain;
  size_t depth = 0; ///< ops of the chain that the reshard sinks through
};
constexpr size_t deepest = 4;
} // namespace

/// Whether the operand is `moved`, or comes from the same layout by a movement
/// of its own, which would be saved.
bool SinkChain::carries(Value moved, OpOperand &operand) const {
  if (operand.get() == moved)
    return true;
  auto other = operand.get().getDefiningOp<ReshardOp>();
  return other && other->hasOneUse() && layoutIn(other.getInput()) == before;
}

/// Whether a value in layout `from` can be moved to `to`: summands cannot be
/// made here, only kept on the same axes.
static bool mayMove(const Layout &from, const Layout &to) {
  return !to.isPartial() || samePartial(from, to);
}

/// Keeps the axes of factors that no carried operand has.
void SinkChain::keepOthers(const OpWithRule &ruled, const SunkOp &sunk,
                           FactorAxes &axes) const {
  llvm::SmallDenseSet<unsigned> taken;
  for (unsigned operand : sunk.carried)
    for (const DimFactors &dim : ruled.rule.operands[operand])
      taken.insert(dim.begin(), dim.end());
  for (OpOperand &operand : sunk.op->getOpOperands()) {
    unsigned index = operand.getOperandNumber();
    if (!getLayout(operand.get().getType()) ||
        llvm::is_contained(sunk.carried, index))
      continue;
    FactorAxes theirs = ruled.project(mesh, index, layoutIn(operand.get()));
    for (auto [factor, list] : llvm::enumerate(theirs))
      if (taken.contains(factor))
        list.clear();
    mergeInto(ruled, axes, theirs);
  }
}

/// Adds the summands of the carried operands to the result's; false if the op
/// does not pass them.
bool SinkChain::passPartial(const OpWithRule &ruled, SunkOp &sunk) const {
  Layout &result = sunk.sharding.results.front();
  if (!before.isPartial())
    return true;
  auto linearityOf = [&](unsigned operand) {
    return operand < ruled.rule.linearity.size() ? ruled.rule.linearity[operand]
                                                 : Linearity::None;
  };
  bool together = sunk.carried.size() > 1;
  std::optional<ReduceKind> kind =
      passedReduction(linearityOf(sunk.carried.front()), before.reduce);
  for (unsigned operand = 0; operand < sunk.op->getNumOperands(); ++operand) {
    Linearity linearity = linearityOf(operand);
    bool carried = llvm::is_contained(sunk.carried, operand);
    bool joint = has(linearity, Linearity::JointlyLinear) &&
                 !has(linearity, Linearity::Linear | Linearity::Moving) &&
                 before.reduce == ReduceKind::Sum;
    // Several operands pass summands only if all are jointly linear, and a
    // jointly linear operand only together with all the others.
    if ((carried && !passedReduction(linearity, before.reduce)) ||
        (together && carried && !joint) || (joint && !carried))
      return false;
  }
  for (const SubAxes &axes : sunk.sharding.axes)
    for (const SubAxis &axis : axes)
      for (const SubAxis &other : before.partial)
        if (overlaps(axis, other))
          return false;
  if (result.isPartial() && result.reduce != *kind)
    return false;
  llvm::append_range(result.partial, before.partial);
  result.reduce = *kind;
  result = normalise(mesh, result);
  for (unsigned operand : sunk.carried) {
    sunk.sharding.operands[operand].partial = before.partial;
    sunk.sharding.operands[operand].reduce = before.reduce;
  }
  return true;
}

/// The op with `moved` taken before its reshard; nothing if that is impossible.
std::optional<SunkOp> SinkChain::tryOp(Operation *op, Value moved) const {
  auto known = dyn_cast<ShardingRuleOpInterface>(op);
  if (!known || op->getNumResults() != 1 || op->getNumRegions() != 0 ||
      !getLayout(op->getResult(0).getType()))
    return std::nullopt;
  OpWithRule ruled = OpWithRule::get(op);
  SunkOp sunk;
  sunk.op = op;
  FactorAxes axes(ruled.rule.factors.size());
  for (OpOperand &operand : op->getOpOperands()) {
    if (!getLayout(operand.get().getType()) || !carries(moved, operand))
      continue;
    unsigned index = operand.getOperandNumber();
    if (!mergeInto(ruled, axes, ruled.project(mesh, index, before)))
      return std::nullopt;
    sunk.carried.push_back(index);
  }
  keepOthers(ruled, sunk, axes);
  sunk.sharding = applyAxes(mesh, ruled, axes);
  for (unsigned operand : sunk.carried)
    if (sunk.sharding.operands[operand].dims != before.dims ||
        ruled.place != before.part ||
        sunk.sharding.operands[operand].isPartial())
      return std::nullopt;
  if (!passPartial(ruled, sunk))
    return std::nullopt;
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned index = operand.getOperandNumber();
    if (getLayout(operand.get().getType()) &&
        !llvm::is_contained(sunk.carried, index) &&
        !mayMove(layoutIn(operand.get()), sunk.sharding.operands[index]))
      return std::nullopt;
  }
  return sunk;
}

/// The op of the value, if it is a source, which computes any block at no cost.
static Operation *sourceOf(Value value) {
  Operation *def = value.getDefiningOp();
  return def && def->getNumResults() == 1 && OpWithRule::get(def).source
             ? def
             : nullptr;
}

/// The price of bringing the other operands to the new sharding.
Price SinkChain::costOfOthers(const SunkOp &sunk) const {
  Price total;
  for (OpOperand &operand : sunk.op->getOpOperands()) {
    unsigned index = operand.getOperandNumber();
    if (llvm::is_contained(sunk.carried, index) ||
        !getLayout(operand.get().getType()) || sourceOf(operand.get()))
      continue;
    total = total + cost.between(operand.get(), layoutIn(operand.get()),
                                 sunk.sharding.operands[index]);
  }
  return total;
}

/// The price of the movements of the carried operands, except `moved`, which
/// moves later.
Price SinkChain::savedBy(const SunkOp &sunk, Value moved) const {
  Price total;
  llvm::SmallPtrSet<Operation *, 4> seen;
  for (unsigned operand : sunk.carried) {
    Value value = sunk.op->getOperand(operand);
    if (value == moved || !seen.insert(value.getDefiningOp()).second)
      continue;
    total = total + cost.of(value.getDefiningOp<ReshardOp>());
  }
  return total;
}

/// The price of what an op fetches and of the bytes that it and its local form
/// send, without latencies. Prices are not kept, as ops change.
Price SinkChain::sentBy(const OpWithRule &op,
                        const OpSharding &sharding) const {
  Price price = ShardingPrices(mesh)
                    .of(op, sharding, TensorLayouts(op.numTensors()))
                    .rest;
  return {price.moving, 0, price.bytes};
}

Price SinkChain::sentNow(Operation *op) const {
  OpSharding now;
  now.axes = OpBlocks(*op).axes;
  for (Value operand : op->getOperands())
    now.operands.push_back(getLayout(operand.getType()) ? layoutIn(operand)
                                                        : Layout());
  for (Value result : op->getResults())
    now.results.push_back(layoutIn(result));
  return sentBy(OpWithRule::get(op), now);
}

/// Fewer messages do not justify more bytes, as the remaining messages may be
/// combined. A movement before a loop keeps the value's memory during the loop,
/// so that one in each round is better if it sends no more in all rounds.
bool SinkChain::isBetter(const Price &net, const Price &least) const {
  if (rounds == 1)
    return takesLess(net, least) && net.bytes <= least.bytes;
  return saturatingMultiply(std::max<int64_t>(net.bytes, 0), rounds) <=
         least.bytes;
}

bool SinkChain::find() {
  Value moved = reshard.getResult();
  Price least = cost.of(reshard), spent, gained;
  while (chain.size() < deepest && !moved.use_empty()) {
    Operation *user = *moved.user_begin();
    if (!llvm::all_of(moved.getUsers(),
                      [&](Operation *other) { return other == user; }))
      break;
    if (user->getBlock() != reshard->getBlock())
      break; // in a loop the reshard would run in each iteration
    std::optional<SunkOp> sunk = tryOp(user, moved);
    if (!sunk)
      break;
    spent = spent + costOfOthers(*sunk) +
            sentBy(OpWithRule::get(user), sunk->sharding);
    gained = gained + savedBy(*sunk, moved) + sentNow(user);
    before = sunk->sharding.results.front();
    after = layoutIn(user->getResult(0));
    moved = user->getResult(0);
    chain.push_back(std::move(*sunk));
    Price now = spent + cost.between(moved, before, after);
    // Savings at other ops reduce the cost of this movement.
    Price net = now - gained;
    if (isBetter(net, least) && mayMove(before, after)) {
      least = net;
      rounds = 1; // `least` is of one run from now on.
      depth = chain.size();
    }
  }
  return depth > 0;
}

void SinkChain::requireOthers(const SunkOp &sunk, OpBuilder &builder) {
  for (OpOperand &operand : sunk.op->getOpOperands()) {
    unsigned index = operand.getOperandNumber();
    if (!getLayout(operand.get().getType()))
      continue;
    LayoutAttr now = getLayout(operand.get().getType());
    if (llvm::is_contained(sunk.carried, index) ||
        now.getLayout() == sunk.sharding.operands[index])
      continue;
    auto type = withLayout(
        cast<RankedTensorType>(operand.get().getType()),
        LayoutAttr::get(now.getMesh(), sunk.sharding.operands[index]));
    if (Operation *source = sourceOf(operand.get())) {
      Operation *copy = builder.clone(*source);
      copy->getResult(0).setType(type);
      operand.set(copy->getResult(0));
      continue;
    }
    operand.set(ReshardOp::create(builder, sunk.op->getLoc(), type,
                                  operand.get(), reshard.getReasonAttr()));
  }
}

llvm::SmallVector<Operation *> SinkChain::apply() {
  MeshAttr meshAttr = getLayout(reshard.getType()).getMesh();
  llvm::SmallVector<Operation *> skipped;
  OpBuilder builder(reshard);
  Type last;
  for (SunkOp &sunk : llvm::MutableArrayRef(chain).take_front(depth)) {
    builder.setInsertionPoint(sunk.op);
    for (unsigned operand : sunk.carried)
      if (auto skip = sunk.op->getOperand(operand).getDefiningOp<ReshardOp>()) {
        sunk.op->setOperand(operand, skip.getInput());
        skipped.push_back(skip);
      }
    requireOthers(sunk, builder);
    Value result = sunk.op->getResult(0);
    last = result.getType();
    result.setType(
        withLayout(cast<RankedTensorType>(last),
                   LayoutAttr::get(meshAttr, sunk.sharding.results.front())));
  }
  Operation *end = chain[depth - 1].op;
  Value result = end->getResult(0);
  builder.setInsertionPointAfter(end);
  if (result.getType() != last) {
    auto moved = ReshardOp::create(builder, end->getLoc(), last, result,
                                   reshard.getReasonAttr());
    result.replaceAllUsesExcept(moved, moved);
  }
  llvm::SmallVector<Operation *> gone;
  for (Operation *op : skipped)
    if (op->use_empty() && !llvm::is_contained(gone, op))
      gone.push_back(op);
  llvm::for_each(gone, [](Operation *op) { op->erase(); });
  return gone;
}

namespace {
struct SinkReshards : weft::impl::SinkReshardsPassBase<SinkReshards> {
  void runOnOperation() override {
    if (failed(verifyLaidOut(*this, getOperation())))
      return signalPassFailure();
    auto mesh = getOperation()->getAttrOfType<MeshAttr>(kMeshAttr);
    if (!mesh)
      return;
    Mesh value = mesh.getMesh();
    ReshardCost cost(value);
    llvm::SmallVector<std::pair<ReshardOp, int64_t>> reshards;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      RegionFlow flow(function);
      function.walk([&](ReshardOp op) {
        int64_t runs = executionsAround(op),
                moves = flow.executionsOfMove(op.getInput(), op, runs);
        reshards.emplace_back(op, runs / std::max<int64_t>(moves, 1));
      });
    }
    llvm::DenseSet<Operation *> gone;
    for (auto [reshard, rounds] : reshards) {
      if (gone.contains(reshard) || reshard->use_empty())
        continue;
      SinkChain chain(reshard, rounds, cost, value);
      if (!chain.find())
        continue;
      gone.insert_range(chain.apply());
      ++numSunk;
    }
  }
};
} // namespace
