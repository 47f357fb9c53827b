//===- Promotion.cpp - types of results, as JAX finds them ----------------===//

#include "weft/compiler/frontends/keras/tensors/Promotion.h"

#include <algorithm>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

static IntegerType integerType(Type like, unsigned width, bool isUnsigned) {
  return IntegerType::get(like.getContext(), width,
                          isUnsigned ? IntegerType::Unsigned
                                     : IntegerType::Signless);
}

Type weft::keras::promoted(Type a, Type b) {
  if (a == b)
    return a;
  auto floatA = dyn_cast<FloatType>(a), floatB = dyn_cast<FloatType>(b);
  if (floatA && floatB)
    return floatA.getWidth() == floatB.getWidth()
               ? Type(Float32Type::get(a.getContext()))
           : floatA.getWidth() > floatB.getWidth() ? a
                                                   : b;
  if (floatA || floatB)
    return floatA ? a : b;
  unsigned widthA = a.getIntOrFloatBitWidth(),
           widthB = b.getIntOrFloatBitWidth();
  if (widthA == 1 || widthB == 1)
    return widthA == 1 ? b : a;
  if (a.isUnsignedInteger() == b.isUnsignedInteger())
    return widthA > widthB ? a : b;
  unsigned ofSigned = a.isUnsignedInteger() ? widthB : widthA,
           ofUnsigned = a.isUnsignedInteger() ? widthA : widthB;
  return integerType(a, std::max(ofSigned, std::min(2 * ofUnsigned, 32u)),
                     false);
}

Type weft::keras::promotedWithNumber(Type a, Type number) {
  bool isOfKind = isa<FloatType>(a) || number.isInteger(1) ||
                  (a.isInteger() && !a.isInteger(1) && number.isInteger());
  return isOfKind ? a : promoted(a, number);
}

void weft::keras::toCommonType(Tensors &t, MutableArrayRef<Tensor> values) {
  Type type = elementOf(values[0]);
  for (Tensor value : values)
    type = promoted(type, elementOf(value));
  for (Tensor &value : values)
    value = castTo(t, value, type);
}

Tensor weft::keras::castTo(Tensors &t, Tensor x, Type type) {
  if (elementOf(x) == type)
    return x;
  if (type.isInteger(1))
    return x != 0;
  return t.make<ConvertOp>(x, type);
}

Tensor weft::keras::asFloats(Tensors &t, Tensor x) {
  return isFloat(x) ? x : t.toFloat(x);
}

Tensor weft::keras::asNumbers(Tensors &t, Tensor x) {
  return isBool(x) ? t.toInteger(x) : x;
}
