//===- TotalOrder.cpp - floats in total order as integers -----------------===//

#include "weft/compiler/frontends/stablehlo/convert/TotalOrder.h"

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;

/// For negative numbers, inverts all bits except the sign.
static Value turned(Converter &c, ForeignOp op, Value bits) {
  auto type = cast<RankedTensorType>(bits.getType());
  unsigned width = type.getElementTypeBitWidth();
  Value sign = c.make<ShiftRightArithmeticOp>(
      op, bits, c.splat(op, width - 1, type)); // all bits, or none
  Value others = c.make<ShiftRightLogicalOp>(op, sign, c.splat(op, 1, type));
  return c.make<XorOp>(op, bits, others);
}

Value stablehlo::toTotalOrder(Converter &c, ForeignOp op, Value floats) {
  auto type = cast<RankedTensorType>(floats.getType());
  auto bits = type.clone(
      IntegerType::get(type.getContext(), type.getElementTypeBitWidth()));
  return turned(c, op, c.make<BitcastOp>(op, bits, floats));
}

Value stablehlo::fromTotalOrder(Converter &c, ForeignOp op, Value integers,
                                Type elementType) {
  auto type = cast<RankedTensorType>(integers.getType());
  return c.make<BitcastOp>(op, type.clone(elementType),
                           turned(c, op, integers));
}
