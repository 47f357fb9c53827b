//===- CompileKernels.h - kernels to machine code ---------------*- C++ -*-===//
//
//   llvm::SmallVector<char> image;
//   weft::CodegenOptions options;            // all cores, no cache
//   if (failed(weft::compileKernels(module, weft::CpuTarget::host(), options, image)))
//     ...                          // errors are on the kernels or the module
//
// `image` is a shared object with one weft_kernel_fn (runtime/abi/weft.h) for
// each function of the module with the attribute weft.kernel, under its name.
// Buffers are the arguments, then the results: dense, row-major, aligned to 64
// bytes, an i1 is one byte. No result may overlap another buffer, except that
// in a kernel "elementwise" a result may be the buffer of an argument of the
// same shape and type.
//
// The same module, target and version give the same bytes, with any number of
// threads and with or without a cache. For a brief run, they differ from other
// runs' bytes and depend on the number of threads.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_CPU_COMPILEKERNELS_H
#define WEFT_COMPILER_CODEGEN_CPU_COMPILEKERNELS_H

#include "weft/compiler/codegen/KernelCodegen.h"
#include "weft/compiler/codegen/cpu/CpuTarget.h"

namespace weft {

namespace cpu {
class KeptLowerings;
} // namespace cpu

/// Compiles with lowerings that are kept for later programs. The overload
/// without `kept` makes lowerings for one program.
llvm::LogicalResult compileKernels(mlir::ModuleOp module,
                                   cpu::KeptLowerings &kept,
                                   const CodegenOptions &options,
                                   llvm::SmallVectorImpl<char> &sharedObject);

llvm::LogicalResult compileKernels(mlir::ModuleOp module,
                                   const CpuTarget &target,
                                   const CodegenOptions &options,
                                   llvm::SmallVectorImpl<char> &sharedObject);

/// Prints the assembly text of each kernel, optimized, one after another.
llvm::LogicalResult printKernels(llvm::ArrayRef<mlir::func::FuncOp> kernels,
                                 const CpuTarget &target,
                                 llvm::raw_ostream &out);

} // namespace weft

#endif // WEFT_COMPILER_CODEGEN_CPU_COMPILEKERNELS_H
