//===- TransposedVectors.h - rows of a matrix as its columns ----*- C++ -*-===//
//
//   4 vectors of 4 lanes:   a0 a1 a2 a3        a0 b0 c0 d0
//                           b0 b1 b2 b3   =>   a1 b1 c1 d1
//                           c0 c1 c2 c3        a2 b2 c2 d2
//                           d0 d1 d2 d3        a3 b3 c3 d3
//
// Steps are of the kinds that processors have: within 16 bytes, and of whole
// groups of 16 bytes.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_ELEMENTS_TRANSPOSEDVECTORS_H
#define WEFT_COMPILER_CODEGEN_ELEMENTS_TRANSPOSEDVECTORS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace weft::elements {

/// Shuffles two vectors: lane i is number lanes[i] of both.
mlir::Value shuffled(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value x, mlir::Value y,
                     llvm::ArrayRef<int32_t> lanes);

/// The columns of n vectors with n lanes of `bytes` bytes; n is a power of two,
/// of at least 16 bytes.
llvm::SmallVector<mlir::Value>
transposedVectors(mlir::OpBuilder &builder, mlir::Location loc,
                  llvm::ArrayRef<mlir::Value> rows, int64_t bytes);

} // namespace weft::elements

#endif // WEFT_COMPILER_CODEGEN_ELEMENTS_TRANSPOSEDVECTORS_H
