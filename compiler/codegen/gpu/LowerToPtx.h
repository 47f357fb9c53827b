//===- LowerToPtx.h - kernels' text to PTX ----------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_CODEGEN_GPU_LOWERTOPTX_H
#define WEFT_COMPILER_CODEGEN_GPU_LOWERTOPTX_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace weft::gpu {

/// Compiles the kernel functions in `text`, each of which has a walk, for a
/// chip (sm_90a) in a separate context: weft ops to gpu, nvvm and the llvm
/// dialect, LLVM IR and one PTX module. Returns the error, or empty.
std::string lowerToPtx(llvm::StringRef text, llvm::StringRef chip,
                       std::string &ptx);

} // namespace weft::gpu

#endif // WEFT_COMPILER_CODEGEN_GPU_LOWERTOPTX_H
