//===- RingBody.cpp - ops that compute one block after the other ----------===//

#include "weft/passes/rings/RingBody.h"

#include "weft/dialects/weft/rules/ShardingRule.h"

#include "llvm/ADT/SetVector.h"

using namespace weft;
using namespace mlir;

/// Ops between a collective and its products.
static constexpr size_t kMostOps = 32;

llvm::SetVector<Value> RingBody::outsideValues(Value moved) const {
  llvm::SetVector<Value> values;
  llvm::DenseSet<Operation *> inside;
  for (const BlockedOp &blocked : ops)
    inside.insert(blocked.op);
  for (const BlockedOp &blocked : ops)
    for (Value operand : blocked.op->getOperands())
      if (operand != moved && !inside.contains(operand.getDefiningOp()))
        values.insert(operand);
  return values;
}

RemovedOps::~RemovedOps() {
  for (Operation *op : removed)
    op->destroy();
}

void RemovedOps::take(Operation *op) {
  op->dropAllReferences();
  op->remove();
  removed.push_back(op);
}

void RemovedOps::takeUnused(ArrayRef<BlockedOp> ops) {
  for (const BlockedOp &its : llvm::reverse(ops))
    if (its.op->use_empty())
      take(its.op);
}

bool weft::isProduct(Operation *op) {
  auto accumulates = dyn_cast<AccumulatesOpInterface>(op);
  return accumulates && accumulates.accumulates() && op->getNumOperands() >= 2;
}

/// The one dimension that is this factor and nothing else; -1 if no dimension
/// has it. Nothing if several have it, or one has others beside it.
static std::optional<int> dimOf(const TensorFactors &tensor, unsigned factor) {
  int found = -1;
  for (auto [dim, factors] : llvm::enumerate(tensor)) {
    if (!llvm::is_contained(factors, factor))
      continue;
    if (found >= 0 || factors.size() != 1)
      return std::nullopt;
    found = int(dim);
  }
  return found;
}

/// The op with blocks along a factor of its rule. Nothing if blocks of the
/// operands do not give blocks, or summands, of the only result.
static std::optional<BlockedOp>
blockedAlong(Operation *op, const ShardingRule &rule, unsigned factor) {
  const Factor &its = rule.factors[factor];
  bool isSum = its.kind == FactorKind::Reduce;
  if (its.kind != FactorKind::Pass && its.kind != FactorKind::Position &&
      !(isSum && its.reduce == ReduceKind::Sum && isProduct(op) &&
        rule.inits.empty()))
    return std::nullopt;
  if (llvm::any_of(rule.positions, [&](const PositionMap &map) {
        return map.factor == factor;
      }))
    return std::nullopt;
  BlockedOp out{op, {}};
  for (const TensorFactors &operand : rule.operands) {
    std::optional<int> dim = dimOf(operand, factor);
    if (!dim)
      return std::nullopt;
    out.operandDims.push_back(*dim);
  }
  std::optional<int> dim = dimOf(rule.results.front(), factor);
  if (!dim || (*dim < 0) != isSum)
    return std::nullopt;
  out.resultDim = *dim;
  return out;
}

/// The rule of an op that may be computed by blocks: one of values alone, with
/// one result.
static std::optional<ShardingRule> ruleOf(Operation *op) {
  auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
  if (!ruled || !isPure(op) || op->getNumRegions() || op->getNumResults() != 1)
    return std::nullopt;
  return ruled.getShardingRule();
}

/// The factor that a dimension is; nothing if it is several, or none.
static std::optional<unsigned> factorOf(const TensorFactors &tensor, int dim) {
  if (tensor[dim].size() != 1)
    return std::nullopt;
  return tensor[dim].front();
}

std::optional<BlockedOp> weft::blockedBy(Operation *op, unsigned number,
                                         int dim) {
  std::optional<ShardingRule> rule = ruleOf(op);
  std::optional<unsigned> factor =
      rule ? factorOf(rule->operands[number], dim) : std::nullopt;
  return factor ? blockedAlong(op, *rule, *factor) : std::nullopt;
}

std::optional<BlockedOp> weft::blockedFor(Operation *op, int dim) {
  std::optional<ShardingRule> rule = ruleOf(op);
  std::optional<unsigned> factor =
      rule ? factorOf(rule->results.front(), dim) : std::nullopt;
  std::optional<BlockedOp> blocked =
      factor ? blockedAlong(op, *rule, *factor) : std::nullopt;
  return blocked && blocked->resultDim == dim ? blocked : std::nullopt;
}

namespace {
class GeneratedOperands {
public:
  GeneratedOperands(Block *block, ArrayRef<Value> moved)
      : block(block), moved(moved) {}
  void addTo(RingBody &body) {
    for (const BlockedOp &its : body.ops)
      dims[its.op->getResult(0)] = its.resultDim;
    SmallVector<BlockedOp, 2> all;
    for (BlockedOp &its : body.ops) {
      for (auto [operand, dim] :
           llvm::zip_equal(its.op->getOperands(), its.operandDims))
        if (dim >= 0 && !isMoved(operand) && !dims.contains(operand))
          add(operand, dim, all);
      all.push_back(std::move(its));
    }
    body.ops = std::move(all);
  }

private:
  bool add(Value value, int dim, SmallVectorImpl<BlockedOp> &ops) {
    if (auto known = dims.find(value); known != dims.end())
      return known->second == dim;
    Operation *op = value.getDefiningOp();
    bool mayBe = op && op->getBlock() == block && ops.size() < kMostOps &&
                 !isProduct(op);
    std::optional<BlockedOp> blocked =
        mayBe ? blockedFor(op, dim) : std::nullopt;
    if (!blocked)
      return false;
    size_t before = ops.size();
    for (auto [operand, itsDim] :
         llvm::zip_equal(op->getOperands(), blocked->operandDims))
      if (itsDim >= 0 && (isMoved(operand) || !add(operand, itsDim, ops))) {
        for (const BlockedOp &left : ArrayRef(ops).drop_front(before))
          dims.erase(left.op->getResult(0));
        ops.truncate(before);
        return false;
      }
    dims[value] = dim;
    ops.push_back(std::move(*blocked));
    return true;
  }

  bool isMoved(Value value) const { return llvm::is_contained(moved, value); }

  Block *block;
  ArrayRef<Value> moved;
  llvm::DenseMap<Value, int> dims;
};
} // namespace

void weft::addGenerated(RingBody &body, ArrayRef<Value> moved) {
  GeneratedOperands(body.ops.front().op->getBlock(), moved).addTo(body);
}

namespace {
/// Follows a gathered value to its products.
class GatherWalk {
public:
  explicit GatherWalk(coll::AllGatherOp gather)
      : block(gather->getBlock()), moved(gather.getResult()) {
    dims[gather.getResult()] = int(gather.getDim());
    next.push_back(gather.getResult());
  }
  std::optional<RingBody> run() {
    while (!next.empty()) {
      Value value = next.pop_back_val();
      for (Operation *user : value.getUsers())
        if (!add(user))
          return std::nullopt;
    }
    bool hasProduct = false;
    for (const BlockedOp &its : body.ops)
      hasProduct |= its.isResult;
    if (!hasProduct || !isConsistent())
      return std::nullopt;
    llvm::sort(body.ops, [](const BlockedOp &a, const BlockedOp &b) {
      return a.op->isBeforeInBlock(b.op);
    });
    addGenerated(body, moved);
    return findPlace() ? std::optional(std::move(body)) : std::nullopt;
  }

private:
  bool add(Operation *user) {
    if (!seen.insert(user).second)
      return true;
    if (user->getBlock() != block || body.ops.size() == kMostOps)
      return false;
    std::optional<BlockedOp> blocked;
    for (OpOperand &operand : user->getOpOperands())
      if (auto found = dims.find(operand.get());
          found != dims.end() && !blocked) {
        blocked = blockedBy(user, operand.getOperandNumber(), found->second);
        if (!blocked)
          return false;
      }
    blocked->isResult = isProduct(user);
    if (!blocked->isResult) {
      dims[user->getResult(0)] = blocked->resultDim;
      next.push_back(user->getResult(0));
    }
    body.ops.push_back(std::move(*blocked));
    return true;
  }
  /// Whether each op has blocks along the dimension in which its operands from
  /// the body have them. No op can read what a product has not added up yet.
  /// Light ops without users are no reason to move blocks.
  bool isConsistent() {
    for (const BlockedOp &its : body.ops)
      dims[its.op->getResult(0)] = its.resultDim;
    for (const BlockedOp &its : body.ops) {
      for (auto [operand, dim] :
           llvm::zip_equal(its.op->getOperands(), its.operandDims))
        if (auto found = dims.find(operand);
            found != dims.end() && (found->second != dim || dim < 0))
          return false;
      if (!its.isResult && its.op->use_empty())
        return false;
    }
    return true;
  }
  /// The place behind all operands, which must be before all users.
  bool findPlace() {
    Operation *last = body.ops.front().op;
    for (Value outside : body.outsideValues(moved))
      if (Operation *op = outside.getDefiningOp();
          op && op->getBlock() == block && last->isBeforeInBlock(op))
        last = op->getNextNode();
    body.place = last;
    for (const BlockedOp &its : body.ops)
      for (Operation *user : its.op->getUsers()) {
        Operation *here = block->findAncestorOpInBlock(*user);
        if (its.isResult && here->isBeforeInBlock(last))
          return false;
      }
    return true;
  }

  Block *block;
  Value moved;
  RingBody body;
  llvm::DenseMap<Value, int> dims; ///< the blocked dimension of values inside
  llvm::SmallVector<Value> next;
  llvm::DenseSet<Operation *> seen;
};
} // namespace

std::optional<RingBody> weft::bodyOfGather(coll::AllGatherOp gather) {
  return GatherWalk(gather).run();
}

/// Adds the op that computes the value and the ops before it, back to a product,
/// in their order. Each is used by the next alone.
static bool addBackwards(Value value, int dim, Block *block,
                         SmallVectorImpl<BlockedOp> &ops) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != block || !value.hasOneUse() ||
      ops.size() == kMostOps)
    return false;
  std::optional<BlockedOp> blocked = blockedFor(op, dim);
  if (!blocked)
    return false;
  auto leadsToProduct = [&](auto operandAndDim) {
    auto [operand, itsDim] = operandAndDim;
    return itsDim >= 0 && addBackwards(operand, itsDim, block, ops);
  };
  if (!isProduct(op) &&
      llvm::none_of(llvm::zip_equal(op->getOperands(), blocked->operandDims),
                    leadsToProduct))
    return false;
  ops.push_back(std::move(*blocked));
  return true;
}

std::optional<RingBody> weft::bodyOfScatter(coll::ReduceScatterOp scatter) {
  RingBody body;
  body.place = scatter;
  if (!addBackwards(scatter.getInput(), int(scatter.getDim()),
                    scatter->getBlock(), body.ops))
    return std::nullopt;
  body.ops.back().isResult = true;
  addGenerated(body, {});
  return body;
}
