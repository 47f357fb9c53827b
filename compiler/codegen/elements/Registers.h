//===- Registers.h - elements in registers and in memory --------*- C++ -*-===//
//
//   element   register   memory
//   i1        i1         i8, 0 or 1
//   ui16      i16        i16
//   bf16      bf16       i16, its bits: vectors of bf16 are stored one by one
//   f8E5M2    f32        i8, its bits        (SmallFloatOps.h)
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_ELEMENTS_REGISTERS_H
#define WEFT_COMPILER_CODEGEN_ELEMENTS_REGISTERS_H

#include "weft/dialects/weft/TensorType.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace weft::elements {

/// The type an element has in registers: integers become signless, and small
/// floats f32.
mlir::Type computeType(mlir::Type elementType);
/// The type an element has in memory: integers below 8 bits are i8.
mlir::Type storageType(mlir::Type elementType);
/// Whether elements are unsigned; i1 is, as it is 0 or 1.
inline bool isUnsigned(mlir::Type elementType) {
  return elementType.isUnsignedInteger() || elementType.isInteger(1);
}
/// Whether registers can hold elements: integers of 1, 2, 4, 8, ... 64 bits,
/// floats of 4, 8, 16, 32 and 64 bits, and complex numbers of them.
bool hasRegister(mlir::Type elementType);

int64_t elementCount(mlir::Value tensor);

} // namespace weft::elements

#endif // WEFT_COMPILER_CODEGEN_ELEMENTS_REGISTERS_H
