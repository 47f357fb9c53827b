//===- AbsentElement.cpp - the summand that changes no sum ----------------===//

#include "weft/dialects/weft/local/AbsentElement.h"

using namespace mlir;
using namespace weft;

TypedAttr weft::absentElement(ReduceKind kind, Type elementType) {
  TypedAttr neutral = neutralElement(kind, elementType);
  auto number = dyn_cast_or_null<FloatAttr>(neutral);
  if (kind != ReduceKind::Sum || !number || !number.getValue().isZero())
    return neutral;
  // -0; +0 if the type has no -0.
  return FloatAttr::get(number.getType(),
                        APFloat::getZero(number.getValue().getSemantics(),
                                         /*Negative=*/true));
}

DenseElementsAttr weft::absentData(ReduceKind kind, RankedTensorType type) {
  type = withLayout(type, nullptr);
  Type element = type.getElementType();
  if (kind != ReduceKind::Sum)
    return neutralData(kind, type);
  TypedAttr absent = absentElement(kind, element);
  if (!isa<ComplexType>(element))
    return DenseElementsAttr::get(type, Attribute(absent));
  APFloat component = cast<FloatAttr>(absent).getValue();
  return DenseElementsAttr::get(type, ArrayRef<std::complex<APFloat>>(
                                          std::complex(component, component)));
}
