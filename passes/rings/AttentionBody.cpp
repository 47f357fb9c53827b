//===- AttentionBody.cpp - softmax between two products -------------------===//

#include "weft/passes/rings/AttentionBody.h"

#include "weft/dialects/weft/rules/ShardingRule.h"

using namespace weft;
using namespace mlir;

/// Ops in a row between two that are looked for.
static constexpr size_t kMostInRow = 16;

llvm::SetVector<Value> AttentionBody::outsideValues() const {
  llvm::SetVector<Value> values = scores.outsideValues(keys->getResult(0));
  Value inside[] = {this->values->getResult(0), exponentials->getResult(0),
                    division->getResult(0)};
  for (Value value : weighted.outsideValues(Value()))
    if (!llvm::is_contained(inside, value))
      values.insert(value);
  Value row = maximum->getResult(0);
  for (Operation *op : shift) {
    for (Value operand : op->getOperands())
      if (operand != row)
        values.insert(operand);
    row = op->getResult(0);
  }
  return values;
}

static int64_t rankOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getRank();
}

/// The reduction of one dimension, if the op is one of this kind.
static bool reduces(Operation *op, ReduceKind kind, int dim) {
  auto reduce = dyn_cast<ReduceOp>(op);
  return reduce && reduce.getKind() == kind &&
         reduce.getDims() == ArrayRef<int64_t>{dim};
}

/// Whether the op repeats rows along the dimension.
static bool repeatsRows(Operation *op, int dim) {
  auto broadcast = dyn_cast<BroadcastOp>(op);
  if (!broadcast)
    return false;
  SmallVector<int64_t> others;
  for (int64_t at = 0; at < rankOf(broadcast.getResult()); ++at)
    if (at != dim)
      others.push_back(at);
  return broadcast.getDims() == ArrayRef<int64_t>(others);
}

static Operation *onlyUser(Value value) {
  return value.hasOneUse() ? *value.getUsers().begin() : nullptr;
}

/// Whether the op is linear in an operand, all others fixed.
static bool isLinearIn(Operation *op, unsigned number) {
  ShardingRule rule = cast<ShardingRuleOpInterface>(op).getShardingRule();
  if (rule.linearity.empty())
    return false;
  Linearity its = rule.linearity[number];
  return has(its, Linearity::Linear) || has(its, Linearity::Moving);
}

/// The dimension of the result that a dimension of an operand is; -1 if none.
static int64_t resultDimOf(Operation *op, unsigned number, int64_t dim) {
  ShardingRule rule = cast<ShardingRuleOpInterface>(op).getShardingRule();
  const DimFactors &factors = rule.operands[number][dim];
  if (factors.empty())
    return -1;
  auto found = llvm::find(rule.results.front(), factors);
  return found == rule.results.front().end()
             ? -1
             : found - rule.results.front().begin();
}

namespace {
/// Follows the gathered keys to the product with the values.
class AttentionWalk {
public:
  explicit AttentionWalk(coll::AllGatherOp keys) { body.keys = keys; }
  std::optional<AttentionBody> run() {
    if (!findScores() || !findShift() || !findExponentials() || !findWeighted())
      return std::nullopt;
    Value keys = body.keys.getResult(), values = body.values.getResult(),
          weights = body.exponentials->getResult(0),
          shares = body.division->getResult(0);
    addGenerated(body.scores, keys);
    addGenerated(body.weighted, {values, weights, shares});
    return std::move(body);
  }

private:
  bool isHere(Operation *op) const {
    return op && op->getBlock() == body.keys->getBlock();
  }
  /// The ops up to the value that is reduced and subtracted from.
  bool findScores() {
    Value value = body.keys.getResult();
    int dim = int(body.keys.getDim());
    bool hasProduct = false;
    while (Operation *user = onlyUser(value)) {
      if (!isHere(user) || body.scores.ops.size() == kMostInRow)
        return false;
      std::optional<BlockedOp> blocked =
          blockedBy(user, value.getUses().begin()->getOperandNumber(), dim);
      if (!blocked || blocked->resultDim < 0)
        return false;
      hasProduct |= isProduct(user);
      dim = blocked->resultDim;
      value = user->getResult(0);
      body.scores.ops.push_back(std::move(*blocked));
    }
    body.scoreDim = dim;
    return hasProduct && findMaximum(value, dim);
  }
  bool findMaximum(Value scores, int dim) {
    if (!llvm::hasNItems(scores.getUses(), 2))
      return false;
    for (Operation *user : scores.getUsers())
      if (reduces(user, ReduceKind::Max, dim))
        body.maximum = user;
      else if (auto difference = dyn_cast<SubOp>(user);
               difference && difference.getLhs() == scores)
        body.difference = user;
    return isHere(body.maximum) && isHere(body.difference);
  }
  /// The ops from the maximum to what is subtracted.
  bool findShift() {
    Value row = body.maximum->getResult(0);
    while (body.shift.size() < kMostInRow) {
      Operation *user = onlyUser(row);
      if (!isHere(user))
        return false;
      if (repeatsRows(user, body.scoreDim)) {
        body.shiftBroadcast = user;
        return onlyUser(user->getResult(0)) == body.difference;
      }
      if (!user->hasTrait<OpTrait::Elementwise>() || !isPure(user) ||
          user->getNumResults() != 1 ||
          user->getResult(0).getType() != row.getType())
        return false;
      body.shift.push_back(user);
      row = user->getResult(0);
    }
    return false;
  }
  /// Exponentials, their sum, and the division by it.
  bool findExponentials() {
    body.exponentials = onlyUser(body.difference->getResult(0));
    if (!isHere(body.exponentials) || !isa<ExpOp>(body.exponentials) ||
        !llvm::hasNItems(body.exponentials->getUses(), 2))
      return false;
    for (Operation *user : body.exponentials->getUsers())
      (reduces(user, ReduceKind::Sum, body.scoreDim) ? body.sum
                                                     : body.division) = user;
    if (!isHere(body.sum) || !isHere(body.division))
      return false;
    body.sumBroadcast = onlyUser(body.sum->getResult(0));
    auto division = dyn_cast<DivOp>(body.division);
    return isHere(body.sumBroadcast) && division &&
           repeatsRows(body.sumBroadcast, body.scoreDim) &&
           division.getLhs() == body.exponentials->getResult(0) &&
           division.getRhs() == body.sumBroadcast->getResult(0);
  }
  /// The ops up to the product that adds up the blocks.
  bool findWeighted() {
    for (int64_t dim = 0; dim < rankOf(body.score()); ++dim)
      if (dim != body.scoreDim)
        body.rowDims.push_back(dim);
    Value value = body.division->getResult(0);
    int dim = body.scoreDim;
    while (body.weighted.ops.size() < kMostInRow) {
      Operation *user = onlyUser(value);
      unsigned number = user ? value.getUses().begin()->getOperandNumber() : 0;
      std::optional<BlockedOp> blocked =
          isHere(user) ? blockedBy(user, number, dim) : std::nullopt;
      if (!blocked || !isLinearIn(user, number))
        return false;
      for (int64_t &row : body.rowDims)
        if ((row = resultDimOf(user, number, row)) < 0)
          return false;
      dim = blocked->resultDim;
      value = user->getResult(0);
      bool isLast = dim < 0;
      body.weighted.ops.push_back(std::move(*blocked));
      if (isLast)
        return findValues(number);
    }
    return false;
  }
  /// The gather from which the other operand of the product comes.
  bool findValues(unsigned weights) {
    const BlockedOp &product = body.weighted.ops.back();
    body.place = product.op;
    SmallVector<BlockedOp> ops;
    for (auto [number, operand] : llvm::enumerate(product.op->getOperands())) {
      int dim = product.operandDims[number];
      if (number == weights || dim < 0)
        continue;
      Value value = operand;
      while (value.hasOneUse() && isHere(value.getDefiningOp()) &&
             ops.size() < kMostInRow) {
        Operation *op = value.getDefiningOp();
        if (auto gather = dyn_cast<coll::AllGatherOp>(op)) {
          body.values = gather;
          body.weighted.ops.insert(body.weighted.ops.begin(), ops.rbegin(),
                                   ops.rend());
          return gather.getGroup() == body.keys.getGroup() &&
                 int(gather.getDim()) == dim && !isProduct(op);
        }
        std::optional<BlockedOp> blocked = blockedFor(op, dim);
        if (!blocked || op->getNumOperands() != 1)
          return false;
        dim = blocked->operandDims.front();
        if (dim < 0)
          return false;
        value = op->getOperand(0);
        ops.push_back(std::move(*blocked));
      }
    }
    return false;
  }

  AttentionBody body{};
};
} // namespace

std::optional<AttentionBody> weft::attentionOf(coll::AllGatherOp keys) {
  return AttentionWalk(keys).run();
}
