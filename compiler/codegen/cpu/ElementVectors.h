//===- ElementVectors.h - neighbours in memory as a vector ------*- C++ -*-===//
//
// Vectors of a tensor's elements. Their type in registers may be a wider type
// that represents the same values exactly:
//
//   bf16 as f32   load 8 x i16, and their bits are the upper half of 8 x f32
//   i8 as i32     load 8 x i8, extended by their signs
//   f8E5M2 as f32 load 8 x i8, decoded
//   f32 as f32    load 8 x f32
//
// Sums and products are computed in the type in registers.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_CPU_ELEMENTVECTORS_H
#define WEFT_COMPILER_CODEGEN_CPU_ELEMENTVECTORS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace weft::cpu {

class ElementVectors {
public:
  ElementVectors(mlir::OpBuilder &builder, mlir::Location loc,
                 mlir::Type memory, mlir::Type registers);

  mlir::VectorType type(int64_t lanes) const {
    return mlir::VectorType::get(lanes, registers);
  }
  mlir::Value zeros(int64_t lanes);
  mlir::Value address(mlir::Value pointer, mlir::Value offset);
  mlir::Value load(mlir::Value pointer, mlir::Value offset, int64_t lanes);
  /// Loads the first `count` elements, followed by zeros.
  mlir::Value loadFirst(mlir::Value pointer, mlir::Value offset, int64_t lanes,
                        int64_t count);
  mlir::Value loadScalar(mlir::Value pointer, mlir::Value offset);
  /// Loads one element to every lane.
  mlir::Value loadSplat(mlir::Value pointer, mlir::Value offset, int64_t lanes);

  // Stores a vector or an element. Requires equal types in memory and
  // registers.
  void store(mlir::Value value, mlir::Value pointer, mlir::Value offset);
  void storeFirst(mlir::Value value, mlir::Value pointer, mlir::Value offset,
                  int64_t count);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value multiplyAdd(mlir::Value a, mlir::Value b, mlir::Value c);
  /// The sum of all lanes, in any order.
  mlir::Value sumOfLanes(mlir::Value vector);
  /// Transposes as many vectors as lanes, of 16 bytes at least, in place.
  void transpose(llvm::MutableArrayRef<mlir::Value> rows);

private:
  mlir::Value extended(mlir::Value loaded);
  mlir::Value mask(int64_t lanes, int64_t count);

  mlir::OpBuilder *builder;
  mlir::Location loc;
  mlir::Type memory, registers;
  mlir::Type loaded; ///< i16 for bf16 that is extended, i8 for a small float
  unsigned alignment;
};

} // namespace weft::cpu

#endif // WEFT_COMPILER_CODEGEN_CPU_ELEMENTVECTORS_H
