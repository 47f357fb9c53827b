//===- FormMoves.cpp - chains of moving ops as one movement ---------------===//

#include "weft/passes/sharding/Passes.h"
#include "weft/passes/sharding/optimization/MovingChain.h"

#include "weft/dialects/weft/Ports.h"

namespace weft {
#define GEN_PASS_DEF_FORMMOVESPASS
#include "weft/passes/sharding/Passes.h.inc"
} // namespace weft

using namespace weft;
using namespace mlir;

namespace {
/// A chain that ends in one op, and what can be made of it.
struct Chain : MovingChain {
  using MovingChain::MovingChain;
  /// Makes ops of operands parts of the chain, as many as possible. With
  /// `careful` each step leaves what could be the last one.
  void grow(bool careful);
  /// Whether a movement can be made of it.
  bool isWhole() const { return followsResult(); }
  /// Whether the chain moves what no op of its own does as well.
  bool isWorthAMove() const;
  /// The chain's result, built before its end; null if that stays.
  Value build(OpBuilder &builder) const;

private:
  /// Makes the op of an operand a part of the chain; false if it cannot be.
  bool absorb(unsigned operand, bool careful);
  bool isSharedPart(Operation *op) const;
  /// Whether each dimension of more than one element follows one of the
  /// result's, the same in all boxes of an operand: others would be whole.
  bool followsResult() const;
  /// Whether the chain is a slice with positive strides of one operand.
  bool isSlice() const;
  Value buildSlice(OpBuilder &builder, Value from) const;
};
} // namespace

static RankedTensorType typeOfTensor(Value value) {
  return cast<RankedTensorType>(value.getType());
}

bool Chain::followsResult() const {
  for (const MovedBox &box : boxes)
    for (auto [d, r] : llvm::enumerate(box.dim)) {
      if (typeOfTensor(operands[box.operand]).getDimSize(d) == 1)
        continue;
      if (r < 0)
        return false;
      for (const MovedBox &other : boxes)
        if (other.operand == box.operand && other.dim[d] != r)
          return false;
    }
  return true;
}

bool Chain::isSlice() const {
  ArrayRef<int64_t> shape = typeOfTensor(end()).getShape();
  if (boxes.size() != 1 || boxes[0].dim.size() != shape.size())
    return false;
  const MovedBox &box = boxes[0];
  for (size_t d = 0; d < shape.size(); ++d)
    if (box.dim[d] != int64_t(d) || box.stride[d] < 1 ||
        box.count[d] != shape[d])
      return false;
  return true;
}

void Chain::grow(bool careful) {
  for (unsigned i = 0; i < operands.size();)
    i = absorb(i, careful) ? 0 : i + 1;
}

/// Whether the op's result is at most half of what it reads, and is read outside
/// of the chain, too: it is moved once, and not again for each of its users.
bool Chain::isSharedPart(Operation *op) const {
  if (llvm::all_of(op->getUsers(),
                   [&](Operation *user) { return ops.contains(user); }))
    return false;
  int64_t most = 0;
  for (Value operand : op->getOperands())
    most = std::max(most, typeOfTensor(operand).getNumElements());
  return 2 * typeOfTensor(op->getResult(0)).getNumElements() <= most;
}

bool Chain::absorb(unsigned operand, bool careful) {
  Operation *def = operands[operand].getDefiningOp();
  std::optional<MovedBoxes> inner = boxesOfOp(def);
  if (!inner || def->getBlock() != ops.front()->getBlock() || isSharedPart(def))
    return false;
  // A value that another op reads, too, exists anyway.
  if (!llvm::all_of(def->getUsers(), [&](Operation *user) {
        return user->getBlock() == def->getBlock() && boxesOfOp(user);
      }))
    return false;
  std::optional<MovingChain> grown = with(operand, *inner);
  if (!grown)
    return false;
  Chain next = *this;
  static_cast<MovingChain &>(next) = std::move(*grown);
  if (careful && !next.isWhole())
    return false;
  *this = std::move(next);
  return true;
}

/// The number of dimensions along which an op moves elements.
static size_t movedDims(Operation *op) {
  auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
  return !ruled ? 0
                : llvm::count_if(ruled.getShardingRule().factors,
                                 [](const Factor &factor) {
                                   return factor.kind == FactorKind::Shift ||
                                          factor.kind == FactorKind::Lookup ||
                                          factor.kind == FactorKind::Replicated;
                                 });
}

bool Chain::isWorthAMove() const {
  size_t moved = 0;
  for (Operation *op : ops)
    moved += movedDims(op);
  return moved > 1;
}

Value Chain::buildSlice(OpBuilder &builder, Value from) const {
  const MovedBox &box = boxes[0];
  SmallVector<int64_t> limits, strides;
  for (auto [d, count] : llvm::enumerate(box.count)) {
    strides.push_back(count > 1 ? box.stride[d] : 1);
    limits.push_back(box.offset[d] + strides.back() * (count - 1) + 1);
  }
  return SliceOp::create(builder, end().getLoc(), from, box.offset, limits,
                         strides);
}

Value Chain::build(OpBuilder &builder) const {
  auto type = typeOfTensor(end());
  bool isOne = boxes.size() == 1 && operands[0].getType() == type;
  if (isOne && boxes[0].keepsPositions() && coverAll(boxes, type.getShape()))
    return operands[0];
  builder.setInsertionPoint(ops.front());
  size_t moved = 0;
  if (isSlice())
    for (auto [from, to] :
         llvm::zip_equal(typeOfTensor(operands[0]).getShape(), type.getShape()))
      moved += from != to;
  if (isSlice() && moved < 2)
    return ops.size() > 1 ? buildSlice(builder, operands[0]) : Value();
  if (!isWorthAMove() && !isSlice())
    return {};
  return buildMove(builder, type,
                   [&](OpBuilder &inner, ValueRange from) {
                     return isSlice() ? buildSlice(inner, from[0])
                                      : buildOps(inner, from);
                   })
      .getResult();
}

/// Makes chains of a block movements, the last one first: an op of a chain that
/// nothing reads anymore is removed before it could be the end of one.
static void formMoves(Block &block) {
  OpBuilder builder(block.getParent()->getContext());
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (op.getNumRegions() != 0)
      continue;
    std::optional<MovedBoxes> boxes = boxesOfOp(&op);
    if (!boxes || boxes->empty())
      continue;
    if (op.use_empty()) {
      op.erase();
      continue;
    }
    Chain chain(&op, *boxes);
    chain.grow(/*careful=*/false);
    if (!chain.isWhole()) {
      chain = Chain(&op, *boxes);
      chain.grow(/*careful=*/true);
    }
    Value moved = chain.build(builder);
    if (!moved)
      continue;
    op.getResult(0).replaceAllUsesWith(moved);
    op.erase();
  }
}

namespace {
struct FormMoves : weft::impl::FormMovesPassBase<FormMoves> {
  void runOnOperation() override {
    auto mesh = getOperation()->getAttrOfType<MeshAttr>(kMeshAttr);
    if (!mesh || mesh.getMesh().size() == 1)
      return; // A single device moves nothing to others.
    SmallVector<Block *> blocks;
    getOperation().walk([&](Block *block) { blocks.push_back(block); });
    for (Block *block : blocks)
      formMoves(*block);
  }
};
} // namespace
