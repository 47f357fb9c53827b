//===- MovingChain.cpp - ops that only move elements, composed ------------===//

#include "weft/passes/sharding/optimization/MovingChain.h"

#include "mlir/IR/IRMapping.h"

using namespace weft;
using namespace mlir;

/// More boxes than that are no movement that a device should look at.
static constexpr size_t kMostBoxes = 64;

std::optional<MovedBoxes> weft::boxesOfOp(Operation *op) {
  auto moves = dyn_cast_or_null<MovedBoxesOpInterface>(op);
  return moves ? moves.getMovedBoxes() : std::nullopt;
}

static bool isConstant(Value value) {
  Operation *def = value.getDefiningOp();
  return def && def->hasTrait<OpTrait::ConstantLike>();
}

MovingChain::MovingChain(Operation *end, MovedBoxes its)
    : operands(end->getOperands()), boxes(std::move(its)) {
  ops.insert(end);
  tidy();
}

void MovingChain::tidy() {
  SmallVector<Value> used;
  for (MovedBox &box : boxes) {
    Value operand = operands[box.operand];
    auto known = llvm::find(used, operand);
    box.operand = known - used.begin();
    if (known == used.end())
      used.push_back(operand);
  }
  operands = used;
  repeatAlongResult();
  joinBoxes(boxes);
}

void MovingChain::repeatAlongResult() {
  for (MovedBox &box : boxes)
    for (size_t d = 0; d < box.dim.size(); ++d) {
      if (box.dim[d] >= 0)
        continue;
      for (const MovedBox &other : boxes)
        if (other.operand == box.operand && other.dim[d] >= 0 &&
            !llvm::is_contained(box.dim, other.dim[d])) {
          box.dim[d] = other.dim[d];
          box.stride[d] = box.count[box.dim[d]] == 1 ? 1 : 0;
          break;
        }
    }
}

std::optional<MovingChain> MovingChain::with(unsigned operand,
                                             const MovedBoxes &inner) const {
  Operation *def = operands[operand].getDefiningOp();
  MovingChain next = *this;
  next.boxes.clear();
  for (const MovedBox &box : boxes)
    if (box.operand != int64_t(operand))
      next.boxes.push_back(box);
    else
      appendComposed(box, inner, operands.size(), next.boxes);
  llvm::append_range(next.operands, def->getOperands());
  if (next.boxes.empty() || next.boxes.size() > 4 * kMostBoxes)
    return std::nullopt; // joining takes a while
  next.ops.insert(def);
  next.tidy();
  if (next.boxes.size() > kMostBoxes)
    return std::nullopt;
  return next;
}

/// Clones an op without layouts. One without a rule is a movement between layouts,
/// here its operand; a move is the ops of its region.
static void cloneWithoutLayouts(OpBuilder &builder, Operation &op,
                                IRMapping &mapping) {
  if (isa<MovedBoxesOpInterface>(op) && !isa<ShardingRuleOpInterface>(op)) {
    mapping.map(op.getResult(0), mapping.lookup(op.getOperand(0)));
    return;
  }
  if (auto move = dyn_cast<MoveOp>(op)) {
    Block &body = move.getBody().front();
    for (auto [argument, input] :
         llvm::zip_equal(body.getArguments(), move.getInputs()))
      mapping.map(argument, mapping.lookup(input));
    for (Operation &inner : body.without_terminator())
      cloneWithoutLayouts(builder, inner, mapping);
    mapping.map(move.getResult(),
                mapping.lookup(body.getTerminator()->getOperand(0)));
    return;
  }
  for (Value result : builder.clone(op, mapping)->getResults())
    if (auto type = dyn_cast<RankedTensorType>(result.getType()))
      result.setType(withLayout(type, nullptr));
}

static Value zeros(OpBuilder &builder, Location loc, RankedTensorType type) {
  return ConstantOp::create(builder, loc,
                            splatData(0, withLayout(type, nullptr)));
}

Value MovingChain::buildOps(OpBuilder &builder, ValueRange from) const {
  IRMapping mapping;
  mapping.map(operands, from);
  SmallVector<Operation *> all(ops.begin(), ops.end());
  llvm::sort(all,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : all) {
    for (Value operand : op->getOperands()) {
      if (mapping.contains(operand))
        continue;
      if (isConstant(operand))
        cloneWithoutLayouts(builder, *operand.getDefiningOp(), mapping);
      else // No box reads it.
        mapping.map(operand, zeros(builder, operand.getLoc(),
                                   cast<RankedTensorType>(operand.getType())));
    }
    cloneWithoutLayouts(builder, *op, mapping);
  }
  return mapping.lookup(end());
}

MoveOp MovingChain::buildMove(
    OpBuilder &builder, RankedTensorType type,
    llvm::function_ref<Value(OpBuilder &, ValueRange)> body) const {
  SmallVector<Location> locs;
  for (Operation *op : ops)
    locs.push_back(op->getLoc());
  auto move = MoveOp::create(builder, builder.getFusedLoc(locs), type, operands,
                             BoxesAttr::get(builder.getContext(), boxes),
                             /*resharding=*/false);
  Block &block = move.getBody().emplaceBlock();
  for (Value operand : operands)
    block.addArgument(
        withLayout(cast<RankedTensorType>(operand.getType()), nullptr),
        operand.getLoc());
  OpBuilder inner = OpBuilder::atBlockEnd(&block);
  Value result = body(inner, block.getArguments());
  YieldOp::create(inner, move.getLoc(), result);
  return move;
}
