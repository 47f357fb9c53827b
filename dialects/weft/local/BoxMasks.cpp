//===- BoxMasks.cpp - where boxes are in a device's block -----------------===//

#include "weft/dialects/weft/local/BoxMasks.h"

#include "weft/dialects/weft/ShapeChecks.h"

using namespace mlir;
using namespace weft;

Value BoxMasks::of(ArrayRef<MovedBox> boxes) {
  Value mask;
  for (const MovedBox &box : boxes) {
    Value inside = inBox(box);
    mask = mask ? Value(OrOp::create(b.builder, b.loc, mask, inside)) : inside;
  }
  return mask;
}

Value BoxMasks::position(unsigned r) {
  if (!positions[r])
    positions[r] =
        b.positions(shape[r], placement.resultOffset(b.builder, b.loc, 0, r));
  return positions[r];
}

Value BoxMasks::both(Value a, Value c) {
  return a ? Value(AndOp::create(b.builder, b.loc, a, c)) : c;
}

Value BoxMasks::inBox(const MovedBox &box) {
  ArrayRef<int64_t> whole = placement.globalShape(0);
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
