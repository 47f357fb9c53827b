//===- DotShape.h - a contraction in memory ---------------------*- C++ -*-===//
//
// Functions that emit contractions; the form of the walk selects a function.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_CPU_DOTSHAPE_H
#define WEFT_COMPILER_CODEGEN_CPU_DOTSHAPE_H

#include "weft/compiler/codegen/cpu/KernelEmitter.h"
#include "weft/dialects/nest/ContractionShape.h"

namespace weft::cpu {

using nest::DotDimension;

/// The strides of a contraction, and the addresses of its tensors. The result
/// is null if the sums are not stored, only values computed from them.
struct DotShape : nest::ContractionShape {
  mlir::Value lhs, rhs, result;
};

/// The number of the result's elements that a vector holds.
int64_t lanesOf(const KernelEmitter &kernel, const DotShape &shape);

/// The steps of a packed contraction whose products the processor adds at once:
/// 4 of bytes, 2 of integers of 16 bits, else 1.
int64_t stepsTogether(mlir::Type lhs, mlir::Type rhs, mlir::Type result,
                      const CpuTarget &target);
/// Whether a function's code uses CpuTarget::hasByteProducts.
bool usesByteProducts(mlir::func::FuncOp kernel, const CpuTarget &target);

/// Emits plain loops, of any element types and strides (DotEmitter.cpp).
void emitPlainDot(KernelEmitter &kernel, const DotShape &shape);
/// Emits a tile in registers, on unpacked operands (TiledDot.cpp).
void emitTiledDot(KernelEmitter &kernel, const DotShape &shape,
                  nest::ContractionAttr walk);
/// Emits a tile in registers, on packed blocks, and its epilogue
/// (PackedDot.cpp).
llvm::LogicalResult emitPackedDot(KernelEmitter &kernel, const DotShape &shape,
                                  nest::LoopsOp loops,
                                  nest::ContractionAttr walk);

} // namespace weft::cpu

#endif // WEFT_COMPILER_CODEGEN_CPU_DOTSHAPE_H
