//===- ConvertKernel.h - scalars, vectors and loops to LLVM -----*- C++ -*-===//
//
//   scf.for %i = %c0 to %n step %c8 {                llvm.br ^bb1(%0 : i64) ...
//     %y = math.exp %x : vector<8xf32>      ->       %3 = llvm.fmul %1, %2 ...
//   }                                          llvm.cond_br %4, ^bb1, ^bb2
//
// MLIR's conversion passes, one for each dialect, create their patterns in each
// run. For a kernel of a few ops this takes longer than everything else. Here
// the patterns are created once for a context, and one conversion has those of
// all dialects. Only calls of libm need passes.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_CPU_CONVERTKERNEL_H
#define WEFT_COMPILER_CODEGEN_CPU_CONVERTKERNEL_H

#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"

namespace weft::cpu {

/// The conversion of one context. One thread uses it at a time.
class KernelConversion {
public:
  /// `hasFma`: whether the processor has fused multiply-adds; else each
  /// multiply-add is split in two operations.
  KernelConversion(mlir::MLIRContext *context, bool hasFma);
  /// Converts the ops that KernelEmitter emits: arith, math, complex, vector
  /// (of rank 1), scf and cf, inside llvm.func.
  llvm::LogicalResult run(mlir::ModuleOp module) const;

private:
  mlir::LLVMTypeConverter types;
  mlir::FrozenRewritePatternSet approximations, conversions;
  mlir::LLVMConversionTarget target;
};

} // namespace weft::cpu

#endif // WEFT_COMPILER_CODEGEN_CPU_CONVERTKERNEL_H
