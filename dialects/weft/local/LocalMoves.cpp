//===- LocalMoves.cpp - one device's part of a move -----------------------===//
//
// Each operand's boxes are moved at once; where several operands fill the
// result, or boxes do not, a mask selects by position:
//
//   %m = coll.move %x ...            %n = coll.move %y ...
//   select position is in a box of %y, %n, %m
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/weft/ShapeChecks.h"
#include "weft/dialects/weft/local/LocalBuilder.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace weft;

namespace {
/// Builds masks of the device's block of the result.
class BoxMasks {
public:
  BoxMasks(LocalBuilder &b [[clang::lifetimebound]], MoveOp op,
           ArrayRef<int64_t> shape,
           const LocalPlacement &placement [[clang::lifetimebound]])
      : b(b), op(op), shape(shape), placement(placement),
        positions(shape.size()) {}
  /// True for elements in one of the boxes.
  Value of(ArrayRef<MovedBox> boxes) {
    Value mask;
    for (const MovedBox &box : boxes) {
      Value inside = inBox(box);
      mask =
          mask ? Value(OrOp::create(b.builder, b.loc, mask, inside)) : inside;
    }
    return mask;
  }

private:
  Value position(unsigned r) {
    if (!positions[r])
      positions[r] =
          b.positions(shape[r], placement.resultOffset(b.builder, b.loc, 0, r));
    return positions[r];
  }
  Value both(Value a, Value c) {
    return a ? Value(AndOp::create(b.builder, b.loc, a, c)) : c;
  }
  Value inBox(const MovedBox &box);

  LocalBuilder &b;
  MoveOp op;
  ArrayRef<int64_t> shape;
  const LocalPlacement &placement;
  SmallVector<Value> positions;
};
} // namespace

Value BoxMasks::inBox(const MovedBox &box) {
  ArrayRef<int64_t> whole = typeOf(op.getResult()).getShape();
  Value mask;
  for (unsigned r = 0; r < shape.size(); ++r) {
    int64_t first = box.start[r], step = box.step[r];
    int64_t end = first + step * (box.count[r] - 1) + 1;
    auto number = [&](int64_t n) { return b.integer(n, shape[r]); };
    Value inside;
    if (first > 0)
      inside =
          both(inside, b.compare(CompareKind::GE, position(r), number(first)));
    if (end < whole[r])
      inside =
          both(inside, b.compare(CompareKind::LT, position(r), number(end)));
    if (step > 1) {
      Value phase = RemOp::create(b.builder, b.loc, position(r), number(step));
      inside =
          both(inside, b.compare(CompareKind::EQ, phase, number(first % step)));
    }
    if (inside)
      mask = both(mask, b.along(inside, shape, r));
  }
  if (mask)
    return mask;
  auto type = RankedTensorType::get(shape, b.builder.getI1Type());
  return ConstantOp::create(b.builder, b.loc,
                            DenseElementsAttr::get(type, true));
}

SmallVector<Value> MoveOp::buildLocal(OpBuilder &builder, ValueRange operands,
                                      TypeRange resultTypes,
                                      const LocalPlacement &placement) {
  LocalBuilder b{builder, getLoc()};
  auto type = cast<RankedTensorType>(resultTypes[0]);
  MovedBoxes all = getBoxes().getBoxes();
  BoxMasks masks(b, *this, type.getShape(), placement);
  Value result;
  if (!coverAll(all, typeOf(getResult()).getShape()))
    result = ConstantOp::create(builder, getLoc(), splatData(0, type));
  for (auto [operand, value] : llvm::enumerate(operands)) {
    MovedBoxes boxes;
    for (const MovedBox &box : all)
      if (box.operand == int64_t(operand))
        boxes.push_back(box);
    if (boxes.empty())
      continue;
    Value moved = value;
    if (typeOf(value).getRank() == 0 && type.getRank() > 0)
      moved = b.along(value, type.getShape());
    else if (value.getType() != type ||
             !llvm::all_of(boxes, [](const MovedBox &box) {
               return box.keepsPositions();
             })) {
      MovedBoxes alone = boxes;
      for (MovedBox &box : alone)
        box.operand = 0;
      moved = placement.move(builder, getLoc(), value, operand, alone);
      if (!moved) { // No dimension is sharded: the ops that it was made of.
        IRMapping mapping;
        mapping.map(getBody().getArguments(), operands);
        for (Operation &op : getBody().front().without_terminator())
          builder.clone(op, mapping);
        return {
            mapping.lookup(getBody().front().getTerminator()->getOperand(0))};
      }
    }
    result = result ? Value(SelectOp::create(builder, getLoc(), masks.of(boxes),
                                             moved, result))
                    : moved;
  }
  return {result};
}
