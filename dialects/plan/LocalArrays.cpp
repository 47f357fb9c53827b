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

/// The type of MLIR, whose class is T, that stands for the element type.
template <typename T>
static Type make(const ElementFacts &facts, MLIRContext *context) {
  if constexpr (std::is_same_v<T, IntegerType>)
    return T::get(context, unsigned(facts.bits),
                  facts.kind == ElementKind::Unsigned ? T::Unsigned
                                                      : T::Signless);
  else if constexpr (std::is_same_v<T, ComplexType>)
    return T::get(facts.bits == 64 ? Type(Float32Type::get(context))
                                   : Type(Float64Type::get(context)));
  else
    return T::get(context);
}

Type plan::typeOfCode(uint64_t code, int ElementFacts::*column,
                      MLIRContext *context) {
  if (code > INT_MAX)
    return {};
#define WEFT_ELEMENT(NAME, name, Name, kind, bits, numpy, Type, ...)           \
  if (factsOf(ElementType::Name).*column == int(code))                         \
    return make<Type>(factsOf(ElementType::Name), context);
#include "weft/base/ElementTypes.def"
  return {};
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
