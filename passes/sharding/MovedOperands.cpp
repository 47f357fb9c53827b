//===- MovedOperands.cpp - boxes of an op's operands, moved at once -------===//
//
// %r = weft.move %x, %y boxes ...    %x is a row, %y a grid, both split by "a"
// %m = coll.move %x, %y ...          what a device lacks of both
//
// An operand of which each device has all that it reads is none of the
// collective.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/coll/Coll.h"
#include "weft/dialects/plan/PlanInstruction.h"
#include "weft/passes/sharding/LocalBlocks.h"
#include "weft/passes/sharding/OwnElements.h"

using namespace weft;
using namespace mlir;

/// The names of the ops that an op was made of, each once.
static llvm::SetVector<StringRef> namesOfChain(Operation *op) {
  llvm::SetVector<StringRef> names;
  for (Region &region : op->getRegions())
    for (Operation &inner : region.front().without_terminator())
      if (!inner.hasTrait<OpTrait::ConstantLike>())
        names.insert(inner.getName().getStringRef());
  if (names.empty())
    names.insert(op->getName().getStringRef());
  return names;
}

/// The layout of a type without summands and on the whole mesh: the same for
/// each group along the axes of its dimensions.
static Layout shardsOnly(Type type) {
  LayoutAttr layout = getLayout(type);
  Layout shards = Layout::replicated(cast<RankedTensorType>(type).getRank());
  if (layout)
    shards.dims = layout.getLayout().dims;
  return shards;
}

namespace {
/// Moves operands of one op.
class OperandMoves {
public:
  OperandMoves(OpBuilder &builder [[clang::lifetimebound]], Location loc,
               const OpBlocks &blocks [[clang::lifetimebound]],
               RankedTensorType to)
      : builder(builder), loc(loc), op(blocks.ruled.op), blocks(blocks), to(to),
        after(shardsOnly(to)) {}
  /// The movement of boxes of some operands; null if it sends nothing.
  coll::MoveOp move(ValueRange values, ArrayRef<int64_t> operands,
                    const MovedBoxes &boxes) const;
  /// The boxes of an operand, of which the device has all elements.
  Value takeOwn(Value value, int64_t operand, MovedBoxes boxes,
                const LocalPlacement &placement) const;

private:
  RankedTensorType typeOf(int64_t operand) const {
    return cast<RankedTensorType>(op->getOperand(operand).getType());
  }
  /// The axes that shard some operands or the result, each once.
  SubAxes axesOf(ArrayRef<int64_t> operands) const;

  OpBuilder &builder;
  Location loc;
  Operation *op;
  const OpBlocks &blocks;
  RankedTensorType to;
  Layout after;
};
} // namespace

SubAxes OperandMoves::axesOf(ArrayRef<int64_t> operands) const {
  const ShardingRule &rule = blocks.ruled.rule;
  auto isOf = [](const TensorFactors &tensor, unsigned factor) {
    return llvm::any_of(tensor, [&](const DimFactors &dim) {
      return llvm::is_contained(dim, factor);
    });
  };
  SubAxes axes;
  for (auto [factor, each] : llvm::enumerate(blocks.axes))
    if (isOf(rule.results[0], factor) ||
        llvm::any_of(operands, [&](int64_t operand) {
          return isOf(rule.operands[operand], factor);
        }))
      for (const SubAxis &axis : each)
        if (!llvm::is_contained(axes, axis))
          axes.push_back(axis);
  return axes;
}

coll::MoveOp OperandMoves::move(ValueRange values, ArrayRef<int64_t> operands,
                                const MovedBoxes &boxes) const {
  SubAxes axes = axesOf(operands);
  if (axes.empty())
    return {};
  SmallVector<Value> sources;
  SmallVector<Attribute> others;
  for (int64_t operand : operands) {
    sources.push_back(values[operand]);
    if (operand != operands.front())
      others.push_back(SourceAttr::get(
          op->getContext(), typeOf(operand).getShape(),
          LayoutAttr::get(blocks.mesh, shardsOnly(typeOf(operand)))));
  }
  MovedBoxes numbered;
  for (MovedBox box : boxes)
    if (const auto *at = llvm::find(operands, box.operand);
        at != operands.end()) {
      box.operand = at - operands.begin();
      numbered.push_back(std::move(box));
    }
  std::string ops;
  llvm::interleave(
      namesOfChain(op), [&](StringRef name) { ops += name; },
      [&] { ops += ", "; });
  RankedTensorType first = typeOf(operands.front());
  auto moved = coll::MoveOp::create(
      builder, loc,
      RankedTensorType::get(localShape(after, to.getShape()),
                            to.getElementType()),
      sources, builder.getDenseI64ArrayAttr(first.getShape()),
      others.empty() ? ArrayAttr() : builder.getArrayAttr(others),
      builder.getDenseI64ArrayAttr(to.getShape()),
      BoxesAttr::get(op->getContext(), numbered),
      LayoutAttr::get(blocks.mesh, shardsOnly(first)),
      LayoutAttr::get(blocks.mesh, after), groupOf(blocks.mesh, axes),
      builder.getStringAttr(ops + " need other shards (moved at once)"));
  if (plan::PlanInstructionOpInterface(moved).getBytesSent() > 0)
    return moved;
  moved.erase();
  return {};
}

Value OperandMoves::takeOwn(Value value, int64_t operand, MovedBoxes boxes,
                            const LocalPlacement &placement) const {
  for (MovedBox &box : boxes)
    box.operand = 0;
  LocalBuilder b{builder, loc};
  return takeOwnElements(
      b, value, localShape(after, to.getShape()),
      OwnMove{boxes, blocks.mesh, shardsOnly(typeOf(operand)), after},
      placement);
}

SmallVector<FilledBoxes> BlockPlacement::move(OpBuilder &builder, Location loc,
                                              ValueRange operands,
                                              const MovedBoxes &boxes) const {
  if (llvm::all_of(blocks.axes,
                   [](const SubAxes &each) { return each.empty(); }))
    return {};
  OperandMoves moves(builder, loc, blocks, cast<RankedTensorType>(types[0]));
  SmallVector<FilledBoxes> filled;
  SmallVector<int64_t> sent;
  MovedBoxes ofSent;
  SmallVector<coll::MoveOp> alone;
  for (int64_t operand = 0; operand < int64_t(operands.size()); ++operand) {
    MovedBoxes its;
    llvm::copy_if(boxes, std::back_inserter(its),
                  [&](const MovedBox &box) { return box.operand == operand; });
    if (its.empty())
      continue;
    if (coll::MoveOp move = moves.move(operands, operand, its)) {
      alone.push_back(move);
      sent.push_back(operand);
      llvm::append_range(ofSent, its);
    } else {
      filled.push_back(
          {moves.takeOwn(operands[operand], operand, its, *this), its});
    }
  }
  if (sent.empty())
    return filled;
  coll::MoveOp moved = alone[0];
  if (sent.size() > 1) {
    for (coll::MoveOp move : alone)
      move.erase();
    moved = moves.move(operands, sent, ofSent);
  }
  ++numCollectives;
  filled.insert(filled.begin(), {moved, ofSent});
  return filled;
}
