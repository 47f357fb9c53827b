//===- CpuCodegen.h - the code generator for processors ---------*- C++ -*-===//

#ifndef WEFT_COMPILER_CODEGEN_CPU_CPUCODEGEN_H
#define WEFT_COMPILER_CODEGEN_CPU_CPUCODEGEN_H

#include "weft/compiler/codegen/KernelCodegen.h"

namespace weft {

/// Opens the generator for a target of CpuTarget::fromName(), or for native,
/// the best target that this machine runs. Null for another name.
std::unique_ptr<KernelCodegen> openCpuCodegen(llvm::StringRef target);

} // namespace weft

#endif // WEFT_COMPILER_CODEGEN_CPU_CPUCODEGEN_H
