//===- LowerKernel.h - a kernel's text to an object file --------*- C++ -*-===//

#ifndef WEFT_COMPILER_CODEGEN_CPU_LOWERKERNEL_H
#define WEFT_COMPILER_CODEGEN_CPU_LOWERKERNEL_H

#include "weft/compiler/codegen/MachineCode.h"
#include "weft/compiler/codegen/cpu/CpuTarget.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace llvm {
class Module;
} // namespace llvm

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace weft::cpu {

class KernelConversion;

/// Compiles kernels in a separate context: each thread has a lowering.
class KernelLowering {
public:
  /// Takes the dialects of the kernels and their extensions, which are loaded
  /// as needed.
  KernelLowering(const CpuTarget &target,
                 const mlir::DialectRegistry &dialects);
  ~KernelLowering();
  /// Lowers the kernel functions in `text`. Returns the error, or empty.
  std::string lower(llvm::StringRef text, Optimization optimization,
                    llvm::CodeGenFileType type,
                    llvm::SmallVectorImpl<char> &code);
  /// Whether to replace the context, which keeps every type and attribute that
  /// it has seen: after a megabyte of text a new context takes less memory.
  bool isWorn() const { return seen > kMostText; }
  /// Whether the context has all these dialects and extensions.
  bool knows(const mlir::DialectRegistry &dialects) const;

private:
  static constexpr size_t kMostText = size_t(1) << 20;
  /// One of LLVM's code generators, made for the first use.
  struct Generator;
  using Kind = std::pair<Optimization, llvm::CodeGenFileType>;
  Generator &generatorOf(Kind kind);
  CpuTarget target;
  std::unique_ptr<mlir::MLIRContext> context;
  std::unique_ptr<KernelConversion> conversion;
  std::map<Kind, std::unique_ptr<Generator>> generators;
  size_t seen = 0; ///< bytes of text lowered so far
};

/// At most four lowerings that no thread uses, kept from program to program:
/// making a lowering takes as long as compiling a small kernel.
class KeptLowerings {
public:
  explicit KeptLowerings(CpuTarget target) : target(std::move(target)) {}
  std::unique_ptr<KernelLowering> take(const mlir::DialectRegistry &dialects);
  void giveBack(std::unique_ptr<KernelLowering> lowering);
  const CpuTarget target;

private:
  static constexpr size_t kMost = 4;
  std::mutex mutex;
  std::vector<std::unique_ptr<KernelLowering>> idle;
};

/// Adds the functions that round to bf16 to a module with values of bf16.
void defineBFloatRounding(llvm::Module &module);

/// Links objects to one shared object that needs libc and libm only. Returns
/// the error, or empty. One link runs at a time, as lld has global state.
std::string linkObjects(llvm::ArrayRef<llvm::SmallVector<char>> objects,
                        llvm::SmallVectorImpl<char> &sharedObject);

} // namespace weft::cpu

#endif // WEFT_COMPILER_CODEGEN_CPU_LOWERKERNEL_H
