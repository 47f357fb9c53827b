//===- DotShape.h - a contraction in memory ---------------------*- C++ -*-===//
//
// The form of the walk says which of the functions computes it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_CPU_DOTSHAPE_H
#define WEFT_COMPILER_CODEGEN_CPU_DOTSHAPE_H

#include "weft/compiler/codegen/cpu/KernelEmitter.h"
#include "weft/dialects/nest/ContractionShape.h"

namespace weft::cpu {

using nest::DotDimension;

/// A contraction as strides, and where its tensors are: no result where what
/// follows is computed on tiles.
struct DotShape : nest::ContractionShape {
  mlir::Value lhs, rhs, result;
};

/// Elements of the result in a vector.
int64_t lanesOf(const KernelEmitter &kernel, const DotShape &shape);

/// Plain loops, of any element types and strides (DotEmitter.cpp).
void emitPlainDot(KernelEmitter &kernel, const DotShape &shape);
/// A tile in registers, on operands as they are (TiledDot.cpp).
void emitTiledDot(KernelEmitter &kernel, const DotShape &shape,
                  nest::ContractionAttr walk);
/// A tile in registers, on packed blocks, and what follows it (PackedDot.cpp).
llvm::LogicalResult emitPackedDot(KernelEmitter &kernel, const DotShape &shape,
                                  nest::LoopsOp loops,
                                  nest::ContractionAttr walk);

} // namespace weft::cpu

#endif // WEFT_COMPILER_CODEGEN_CPU_DOTSHAPE_H
