//===- LowerKernel.h - a kernel's text to an object file -------*- C++ -*-===//

#ifndef WEFT_COMPILER_CODEGEN_CPU_LOWERKERNEL_H
#define WEFT_COMPILER_CODEGEN_CPU_LOWERKERNEL_H

#include "weft/compiler/codegen/cpu/CpuTarget.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/CodeGen.h"

#include <memory>
#include <string>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace weft::cpu {

/// Compiles kernels one by one, in a context of its own: each thread has one.
class KernelLowering {
public:
  KernelLowering(const CpuTarget &target, llvm::CodeGenOptLevel level);
  ~KernelLowering();
  /// Of the one kernel function in `text`. Returns what went wrong, or empty.
  std::string lower(llvm::StringRef text, llvm::CodeGenFileType type,
                    llvm::SmallVectorImpl<char> &code);

private:
  const CpuTarget &target;
  std::unique_ptr<mlir::MLIRContext> context;
  std::unique_ptr<llvm::TargetMachine> machine; ///< null: `unavailable` says why
  std::string unavailable;
};

/// Gives a module that computes with bf16 the function that rounds to it.
void defineBFloatRounding(llvm::Module &module);

/// Links objects to one shared object that needs nothing but libc and libm.
/// Returns what went wrong, or empty. One link runs at a time: lld has state.
std::string linkObjects(llvm::ArrayRef<llvm::SmallVector<char>> objects,
                        llvm::SmallVectorImpl<char> &sharedObject);

} // namespace weft::cpu

#endif // WEFT_COMPILER_CODEGEN_CPU_LOWERKERNEL_H
