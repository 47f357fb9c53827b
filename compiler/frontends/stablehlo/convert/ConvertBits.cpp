//===- ConvertBits.cpp - the same bits as wider or narrower elements ------===//
//
//   tensor<3x2xui32> -> tensor<3xui64>      element 0 is the low half
//   tensor<3xf32>    -> tensor<3x4xui8>     the low byte comes first
//   tensor<8xi1>     -> tensor<ui8>         element 0 is the lowest bit
//   tensor<2xcomplex<f32>> -> tensor<complex<f64>>   the real part is low
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/frontends/stablehlo/convert/Converter.h"
#include "weft/dialects/weft/ElementTypes.h"

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;

namespace {

/// The bits of an element, which for a complex number has two components.
unsigned widthOf(Type element) {
  return componentType(element).getIntOrFloatBitWidth() *
         (isa<ComplexType>(element) ? 2 : 1);
}

/// The unsigned integer type of this width; i1 for one bit.
Type bitsType(Converter &c, unsigned width) {
  return width == 1 ? c.builder.getI1Type()
                    : c.builder.getIntegerType(width, /*isSigned=*/false);
}

/// Bitcasts the value to another element type.
Value asType(Converter &c, ForeignOp op, Value value, Type element) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getElementType() == element
             ? value
             : c.make<BitcastOp>(op, type.clone(element), value);
}

Value reshaped(Converter &c, ForeignOp op, Value value,
               ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getShape() == shape ? value : c.make<ReshapeOp>(op, value, shape);
}

/// Takes element `number` along the last dimension, and drops the dimension.
Value elementOf(Converter &c, ForeignOp op, Value value, int64_t number) {
  auto type = cast<RankedTensorType>(value.getType());
  Ints low(type.getRank(), 0), high(type.getShape()), step(type.getRank(), 1);
  low.back() = number;
  high.back() = number + 1;
  return c.make<ReshapeOp>(op, c.make<SliceOp>(op, value, low, high, step),
                           type.getShape().drop_back());
}

/// All words along a new last dimension.
Value stacked(Converter &c, ForeignOp op, ArrayRef<Value> words) {
  auto type = cast<RankedTensorType>(words.front().getType());
  Ints shape(type.getShape());
  shape.push_back(1);
  SmallVector<Value> all;
  for (Value word : words)
    all.push_back(c.make<ReshapeOp>(op, word, shape));
  shape.back() = static_cast<int64_t>(words.size());
  return c.make<ConcatenateOp>(op, type.clone(shape), all, type.getRank());
}

/// Joins the elements of the last dimension to one, the first in the lowest
/// bits.
Value widen(Converter &c, ForeignOp op, Value narrow, unsigned from,
            Type element) {
  auto shape = cast<RankedTensorType>(narrow.getType()).getShape();
  auto type = RankedTensorType::get(shape.drop_back(), element);
  Value sum;
  for (int64_t i = 0; i < shape.back(); ++i) {
    Value word = c.cast(op, elementOf(c, op, narrow, i), element);
    if (i)
      word = c.make<ShiftLeftOp>(op, word, c.splat(op, double(i * from), type));
    sum = sum ? c.make<OrOp>(op, sum, word) : word;
  }
  return sum;
}

/// Splits each element into several, along a new last dimension.
Value narrow(Converter &c, ForeignOp op, Value wide, unsigned to, int64_t count,
             Type element) {
  auto from = cast<RankedTensorType>(wide.getType());
  SmallVector<Value> words;
  for (int64_t i = 0; i < count; ++i) {
    Value word = wide;
    if (i)
      word = c.make<ShiftRightLogicalOp>(op, word,
                                         c.splat(op, double(i * to), from));
    word = c.make<AndOp>(op, word,
                         c.splat(op, double((uint64_t(1) << to) - 1), from));
    words.push_back(c.cast(op, word, element));
  }
  return stacked(c, op, words);
}

/// Whether a bitcast between the types is valid by StableHLO's specification.
bool fit(RankedTensorType from, RankedTensorType to) {
  unsigned before = widthOf(from.getElementType()),
           after = widthOf(to.getElementType());
  if (before == after)
    return from.getShape() == to.getShape();
  auto more = before < after ? from : to, fewer = before < after ? to : from;
  return more.getRank() == fewer.getRank() + 1 &&
         more.getShape().drop_back() == fewer.getShape() &&
         more.getShape().back() * std::min(before, after) ==
             std::max(before, after);
}

/// Bitcasts to bitsType() of the component's width. A complex number becomes
/// two elements along a new last dimension.
Value toBits(Converter &c, ForeignOp op, Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  Type bits = bitsType(c, componentType(element).getIntOrFloatBitWidth());
  if (!isa<ComplexType>(element))
    return asType(c, op, value, bits);
  return stacked(c, op,
                 {asType(c, op, c.make<RealOp>(op, value), bits),
                  asType(c, op, c.make<ImagOp>(op, value), bits)});
}

Value fromBits(Converter &c, ForeignOp op, Value bits, Type element) {
  if (!isa<ComplexType>(element))
    return asType(c, op, bits, element);
  Value pairs = asType(c, op, bits, componentType(element));
  return c.make<ComplexOp>(op, elementOf(c, op, pairs, 0),
                           elementOf(c, op, pairs, 1));
}

LogicalResult bitcast(Converter &c, ForeignOp op) {
  auto from = op.operandType(0), to = op.resultType();
  Value value = c.input(op, 0);
  if (from == to)
    return c.give(op, value);
  Type before = from.getElementType(), after = to.getElementType();
  if (isa<ComplexType>(before) != isa<ComplexType>(after))
    return op.refuse() << "takes the bits of " << from << " for " << to
                       << "; between real and complex elements that is not "
                          "defined, use stablehlo.real, imag or complex";
  if (!fit(from, to))
    return op.refuse() << "changes the width of elements, " << from << " to "
                       << to << ", which have not the same bits";
  if (!isa<ComplexType>(before) && from.getShape() == to.getShape())
    return c.give(op, c.make<BitcastOp>(op, to, value));
  unsigned have = componentType(before).getIntOrFloatBitWidth(),
           want = componentType(after).getIntOrFloatBitWidth();
  value = toBits(c, op, value);
  Ints shape(to.getShape());
  if (isa<ComplexType>(after))
    shape.push_back(2);
  if (have < want) {
    shape.push_back(want / have);
    value =
        widen(c, op, reshaped(c, op, value, shape), have, bitsType(c, want));
    shape.pop_back();
  } else if (have > want) {
    value = narrow(c, op, value, want, have / want, bitsType(c, want));
  }
  return c.give(op, fromBits(c, op, reshaped(c, op, value, shape), after));
}

constexpr ConversionEntry kEntries[] = {
    {"bitcast_convert", bitcast},
};

} // namespace

ArrayRef<ConversionEntry> stablehlo::bitConversions() { return kEntries; }
