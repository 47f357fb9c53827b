//===- ConvertBits.cpp - the same bits as wider or narrower elements ------===//
//
//   tensor<3x2xui32> -> tensor<3xui64>      element 0 is the low half
//   tensor<3xf32>    -> tensor<3x4xui8>     the low byte comes first
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/frontends/stablehlo/Converter.h"

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;

namespace {

/// Unsigned integers of the same bits, and back.
Value asUnsigned(Converter &c, ForeignOp op, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  auto bits = IntegerType::get(type.getContext(), type.getElementTypeBitWidth(),
                               IntegerType::Unsigned);
  return type.getElementType() == bits
             ? value
             : c.make<BitcastOp>(op, type.clone(bits), value);
}

/// Element `part` of the last dimension, which is dropped.
Value partOf(Converter &c, ForeignOp op, Value value, int64_t part) {
  auto type = cast<RankedTensorType>(value.getType());
  Ints low(type.getRank(), 0), high(type.getShape()), step(type.getRank(), 1);
  low.back() = part;
  high.back() = part + 1;
  return c.make<ReshapeOp>(op, c.make<SliceOp>(op, value, low, high, step),
                           type.getShape().drop_back());
}

Value widen(Converter &c, ForeignOp op, Value narrow, unsigned from,
            RankedTensorType type) {
  Value sum;
  for (int64_t i = 0;
       i < cast<RankedTensorType>(narrow.getType()).getShape().back(); ++i) {
    Value part = c.cast(op, partOf(c, op, narrow, i), type.getElementType());
    if (i)
      part = c.make<ShiftLeftOp>(op, part, c.splat(op, double(i * from), type));
    sum = sum ? c.make<OrOp>(op, sum, part) : part;
  }
  return sum;
}

Value narrow(Converter &c, ForeignOp op, Value wide, unsigned to,
             RankedTensorType type) {
  auto from = cast<RankedTensorType>(wide.getType());
  SmallVector<Value> parts;
  Ints shape(from.getShape());
  shape.push_back(1);
  for (int64_t i = 0; i < type.getShape().back(); ++i) {
    Value part = wide;
    if (i)
      part = c.make<ShiftRightLogicalOp>(op, part,
                                         c.splat(op, double(i * to), from));
    part = c.make<AndOp>(op, part,
                         c.splat(op, double((uint64_t(1) << to) - 1), from));
    parts.push_back(
        c.make<ReshapeOp>(op, c.cast(op, part, type.getElementType()), shape));
  }
  return c.make<ConcatenateOp>(op, type, parts, from.getRank());
}

LogicalResult bitcast(Converter &c, ForeignOp op) {
  auto from = op.operandType(0), to = op.resultType();
  Value value = c.input(op, 0);
  if (from == to)
    return c.give(op, value);
  if (from.getShape() == to.getShape())
    return c.give(op, c.make<BitcastOp>(op, to, value));
  if (!from.getElementType().isIntOrFloat() ||
      !to.getElementType().isIntOrFloat())
    return op.refuse() << "changes the width of elements, " << from << " to "
                       << to << ", which is supported for real numbers only";
  unsigned before = from.getElementTypeBitWidth(),
           after = to.getElementTypeBitWidth();
  auto wider = before < after ? from : to;
  auto other = before < after ? to : from;
  if (before == after || std::min(before, after) < 2 ||
      wider.getRank() != other.getRank() + 1 ||
      wider.getShape().drop_back() != other.getShape() ||
      wider.getShape().back() * std::min(before, after) !=
          std::max(before, after))
    return op.refuse() << "changes the width of elements, " << from << " to "
                       << to << ", which have not the same bits";
  auto bits =
      to.clone(IntegerType::get(to.getContext(), after, IntegerType::Unsigned));
  value = asUnsigned(c, op, value);
  value = before < after ? widen(c, op, value, before, bits)
                         : narrow(c, op, value, after, bits);
  return c.give(op, to == bits ? value : c.make<BitcastOp>(op, to, value));
}

constexpr ConversionEntry kEntries[] = {
    {"bitcast_convert", bitcast},
};

} // namespace

ArrayRef<ConversionEntry> stablehlo::bitConversions() { return kEntries; }
