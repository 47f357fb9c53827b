//===- LocalArrays.cpp - types of MLIR in plain C++ -----------------------===//

#include "weft/dialects/plan/LocalArrays.h"

#include "mlir/IR/TypeRange.h"

using namespace mlir;
using namespace weft;

/// Whether a type of MLIR, whose class is T, stands for the element type.
template <typename T> static bool isOf(Type type, const ElementFacts &facts) {
  if constexpr (std::is_same_v<T, IntegerType>) {
    auto integer = dyn_cast<IntegerType>(type);
    return integer && int(integer.getWidth()) == facts.bits &&
           integer.isUnsigned() == (facts.kind == ElementKind::Unsigned);
  } else if constexpr (std::is_same_v<T, ComplexType>) {
    auto complex = dyn_cast<ComplexType>(type);
    return complex && complex.getElementType().isF32() == (facts.bits == 64) &&
           complex.getElementType().isF64() == (facts.bits == 128);
  } else {
    return isa<T>(type);
  }
}

std::optional<ElementType> plan::elementTypeOf(Type type) {
#define WEFT_ELEMENT(NAME, name, Name, kind, bits, numpy, Type, ...)           \
  if (isOf<Type>(type, factsOf(ElementType::Name)))                            \
    return ElementType::Name;
#include "weft/base/ElementTypes.def"
  return std::nullopt;
}

LocalArray plan::localArray(ShapedType type) {
  return {elementTypeOf(type.getElementType()).value_or(ElementType::UInt64),
          type.getShape().vec()};
}

std::vector<LocalArray> plan::localArrays(TypeRange types) {
  std::vector<LocalArray> arrays;
  for (Type type : types)
    arrays.push_back(localArray(cast<ShapedType>(type)));
  return arrays;
}
