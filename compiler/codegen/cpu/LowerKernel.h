//===- LowerKernel.h - one kernel's text to an object file -----*- C++ -*-===//

#ifndef WEFT_COMPILER_CODEGEN_CPU_LOWERKERNEL_H
#define WEFT_COMPILER_CODEGEN_CPU_LOWERKERNEL_H

#include "weft/compiler/codegen/cpu/CpuTarget.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/CodeGen.h"

namespace llvm {
class Module;
} // namespace llvm

namespace weft::cpu {

/// Compiles the one kernel function in `text` in a context of its own, so that
/// kernels may be compiled in parallel. Returns what went wrong, or empty.
std::string lowerKernel(llvm::StringRef text, const CpuTarget &target,
                        llvm::SmallVectorImpl<char> &object,
                        llvm::CodeGenFileType type = llvm::CodeGenFileType::ObjectFile);

/// Gives a module that computes with bf16 the function that rounds to it.
void defineBFloatRounding(llvm::Module &module);

/// Links objects to one shared object that needs nothing but libc and libm.
/// Returns what went wrong, or empty. One link runs at a time: lld has state.
std::string linkObjects(llvm::ArrayRef<llvm::SmallVector<char>> objects,
                        llvm::SmallVectorImpl<char> &sharedObject);

/// Objects by key. Reading an entry that is absent or damaged fails; writing
/// never does (a cache that cannot be written is no cache).
bool readCachedObject(llvm::StringRef folder, llvm::StringRef key,
                      llvm::SmallVectorImpl<char> &object);
void writeCachedObject(llvm::StringRef folder, llvm::StringRef key,
                       llvm::ArrayRef<char> object);

} // namespace weft::cpu

#endif // WEFT_COMPILER_CODEGEN_CPU_LOWERKERNEL_H
