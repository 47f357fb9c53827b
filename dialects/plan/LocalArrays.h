//===- LocalArrays.h - types of MLIR in plain C++ ---------------*- C++ -*-===//
//
//   elementTypeOf(f32)                 ElementType::Float32
//   localArray(memref<4x8xf32>)        {Float32, {4, 8}}
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_PLAN_LOCALARRAYS_H
#define WEFT_DIALECTS_PLAN_LOCALARRAYS_H

#include "weft/layout/Communication.h"

#include "mlir/IR/BuiltinTypes.h"

namespace weft::plan {

/// The runtime's element type for a type; nothing if it has none.
std::optional<ElementType> elementTypeOf(mlir::Type type);

/// The type that has this code in a column of base/ElementTypes.def:
/// &ElementFacts::vhlo; null if none has it.
mlir::Type typeOfCode(uint64_t code, int ElementFacts::*column,
                      mlir::MLIRContext *context);

/// The array of a tensor or buffer. An element without a counterpart in the
/// runtime, with which no program is written, counts as 8 bytes.
LocalArray localArray(mlir::ShapedType type);
std::vector<LocalArray> localArrays(mlir::TypeRange types);

} // namespace weft::plan

#endif // WEFT_DIALECTS_PLAN_LOCALARRAYS_H
