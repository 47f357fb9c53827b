//===- CpuCodegen.h - the code generator for processors ---------*- C++ -*-===//

#ifndef WEFT_COMPILER_CODEGEN_CPU_CPUCODEGEN_H
#define WEFT_COMPILER_CODEGEN_CPU_CPUCODEGEN_H

#include "weft/compiler/codegen/KernelCodegen.h"

namespace weft {

/// The names of targets: native (the best that this machine runs), cpu:avx512,
/// ...
llvm::ArrayRef<llvm::StringLiteral> cpuTargets();
/// Opens one of cpuTargets().
std::unique_ptr<KernelCodegen> openCpuCodegen(llvm::StringRef target);

} // namespace weft

#endif // WEFT_COMPILER_CODEGEN_CPU_CPUCODEGEN_H
