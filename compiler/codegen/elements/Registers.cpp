//===- Registers.cpp - elements in registers and in memory ----------------===//

#include "weft/compiler/codegen/elements/Registers.h"

#include "weft/compiler/codegen/elements/SmallFloatOps.h"

using namespace mlir;

namespace weft::elements {

Type computeType(Type elementType) {
  if (auto integer = dyn_cast<IntegerType>(elementType))
    return IntegerType::get(integer.getContext(), integer.getWidth());
  return scalarType(elementType);
}

Type storageType(Type elementType) {
  if (isSmallFloat(elementType) ||
      (elementType.isInteger() && elementType.getIntOrFloatBitWidth() < 8))
    return IntegerType::get(elementType.getContext(), 8);
  if (elementType.isBF16())
    return IntegerType::get(elementType.getContext(), 16);
  return computeType(elementType);
}

bool hasRegister(Type elementType) {
  if (auto complex = dyn_cast<ComplexType>(elementType))
    elementType = complex.getElementType();
  if (auto integer = dyn_cast<IntegerType>(elementType))
    return llvm::is_contained({1, 2, 4, 8, 16, 32, 64}, integer.getWidth());
  return isSmallFloat(elementType) || elementType.isBF16() ||
         elementType.isF16() || elementType.isF32() || elementType.isF64();
}

int64_t elementCount(Value tensor) { return typeOf(tensor).getNumElements(); }

} // namespace weft::elements
