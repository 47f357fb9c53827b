//===- FormMoves.cpp - chains of moving ops as one movement ---------------===//

#include "weft/passes/sharding/Passes.h"

#include "weft/dialects/weft/Ports.h"
#include "weft/dialects/weft/Weft.h"
#include "weft/dialects/weft/ops/FlowOps.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallSet.h"

namespace weft {
#define GEN_PASS_DEF_FORMMOVESPASS
#include "weft/passes/sharding/Passes.h.inc"
} // namespace weft

using namespace weft;
using namespace mlir;

/// More boxes than that are no movement that a device should look at.
static constexpr size_t kMostBoxes = 64;

namespace {
/// A chain that ends in one op: its operands and boxes, and its ops.
struct Chain {
  SmallVector<Value> operands;
  MovedBoxes boxes;
  llvm::SetVector<Operation *> ops;

  explicit Chain(Operation *end, MovedBoxes its);
  /// Makes ops of operands parts of the chain, as many as possible. With
  /// `careful` each step leaves what could be the last one.
  void grow(bool careful);
  /// Whether a movement can be made of it.
  bool isWhole() { return followsResult() && (isSlice() || addOpsRead()); }
  /// Whether the chain moves what no op of its own does as well.
  bool isWorthAMove() const;
  /// The chain's result, built before its end; null if that stays.
  Value build(OpBuilder &builder) const;

private:
  /// Makes the op of an operand a part of the chain; false if it cannot be.
  bool absorb(unsigned operand, bool careful);
  /// Removes operands that no box has, and operands that are there twice.
  void tidy();
  /// Whether each dimension of more than one element follows one of the
  /// result's, the same in all boxes of an operand: others would be whole.
  bool followsResult() const;
  /// Adds moving ops whose results the chain's ops read but no box has; false if
  /// they read something else than its operands and constants.
  bool addOpsRead();
  /// Dimensions of operands that stay at one position in a box follow the
  /// result's dimension that they follow in others.
  void repeatAlongResult();
  /// Whether operands that move along different dimensions need not be brought
  /// to one layout first: all that move do so along the same ones.
  bool movesAlike() const;
  /// Whether the chain is a slice with positive strides of one operand.
  bool isSlice() const;
  Value buildSlice(OpBuilder &builder, Value from) const;
  Value buildOps(OpBuilder &builder, ValueRange from) const;
  Value end() const { return ops.front()->getResult(0); }
};
} // namespace

static std::optional<MovedBoxes> boxesOfOp(Operation *op) {
  auto moves = dyn_cast_or_null<MovedBoxesOpInterface>(op);
  return moves ? moves.getMovedBoxes() : std::nullopt;
}

static RankedTensorType typeOfTensor(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static bool isConstant(Value value) {
  Operation *def = value.getDefiningOp();
  return def && def->hasTrait<OpTrait::ConstantLike>();
}

Chain::Chain(Operation *end, MovedBoxes its)
    : operands(end->getOperands()), boxes(std::move(its)) {
  ops.insert(end);
  tidy();
}

void Chain::tidy() {
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

void Chain::repeatAlongResult() {
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

bool Chain::addOpsRead() {
  for (unsigned i = 0; i < ops.size(); ++i)
    for (Value operand : ops[i]->getOperands()) {
      if (llvm::is_contained(operands, operand) || isConstant(operand))
        continue;
      Operation *def = operand.getDefiningOp();
      if (!def || !isa<MovedBoxesOpInterface>(def) ||
          def->getBlock() != ops.front()->getBlock())
        return false;
      ops.insert(def);
    }
  return true;
}

bool Chain::movesAlike() const {
  SmallVector<llvm::SmallSet<int64_t, 4>> moved(operands.size());
  for (const MovedBox &box : boxes)
    for (auto [d, r] : llvm::enumerate(box.dim))
      if (r >= 0 && (box.offset[d] != box.start[r] ||
                     (box.count[r] > 1 && box.stride[d] != box.step[r])))
        moved[box.operand].insert(r);
  llvm::erase_if(moved, [](const auto &dims) { return dims.empty(); });
  return llvm::all_of(moved,
                      [&](const auto &dims) { return dims == moved[0]; });
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

bool Chain::absorb(unsigned operand, bool careful) {
  Operation *def = operands[operand].getDefiningOp();
  std::optional<MovedBoxes> inner = boxesOfOp(def);
  if (!inner || def->getBlock() != ops.front()->getBlock())
    return false;
  // What another op reads as well is there already.
  if (!llvm::all_of(def->getUsers(), [&](Operation *user) {
        return user->getBlock() == def->getBlock() && boxesOfOp(user);
      }))
    return false;
  Chain next = *this;
  next.boxes.clear();
  for (const MovedBox &box : boxes)
    if (box.operand != int64_t(operand))
      next.boxes.push_back(box);
    else
      appendComposed(box, *inner, operands.size(), next.boxes);
  llvm::append_range(next.operands, def->getOperands());
  if (next.boxes.empty() || next.boxes.size() > 4 * kMostBoxes)
    return false; // joining takes a while
  next.ops.insert(def);
  next.tidy();
  if (next.boxes.size() > kMostBoxes || (careful && !next.isWhole()))
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
  return moved > 1 && movesAlike();
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

Value Chain::buildOps(OpBuilder &builder, ValueRange from) const {
  IRMapping mapping;
  mapping.map(operands, from);
  SmallVector<Operation *> all(ops.begin(), ops.end());
  llvm::sort(all,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : all) {
    for (Value operand : op->getOperands())
      if (!mapping.contains(operand) && isConstant(operand))
        builder.clone(*operand.getDefiningOp(), mapping);
    builder.clone(*op, mapping);
  }
  return mapping.lookup(end());
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
  SmallVector<Location> locs;
  for (Operation *op : ops)
    locs.push_back(op->getLoc());
  auto move = MoveOp::create(builder, builder.getFusedLoc(locs), type, operands,
                             BoxesAttr::get(builder.getContext(), boxes));
  Block &body = move.getBody().emplaceBlock();
  for (Value operand : operands)
    body.addArgument(operand.getType(), operand.getLoc());
  builder.setInsertionPointToEnd(&body);
  Value result = isSlice() ? buildSlice(builder, body.getArgument(0))
                           : buildOps(builder, body.getArguments());
  YieldOp::create(builder, move.getLoc(), result);
  return move.getResult();
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
