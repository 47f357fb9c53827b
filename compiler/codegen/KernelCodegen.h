//===- KernelCodegen.h - the border to the code generators ------*- C++ -*-===//
//
//   std::string error;
//   auto codegen = weft::openCodegen("cpu:avx2", error);
//   if (!codegen || failed(codegen->compile(module, options, code)))
//     return; // without a generator, `error` lists the known targets
//   (void)codegen->printAssembly(kernels, llvm::outs()); // for a person
//
// Nothing outside compiler/codegen/<generator> knows more of a processor than
// this. A new generator is one function and one line of the table in
// KernelCodegen.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_KERNELCODEGEN_H
#define WEFT_COMPILER_CODEGEN_KERNELCODEGEN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace weft {

struct CodegenOptions {
  /// Where objects are kept (CodeCache.h); empty: no cache. The folder is made
  /// if need be; a damaged entry is compiled again.
  std::string cacheDir;
  unsigned threads = 0; ///< 0: one for each core
  /// A run takes so little that the time to compile counts more. A generator
  /// may do as it likes.
  bool isBrief = false;
};

/// A kernel of a device, and how many threads run it.
struct DeviceKernel {
  std::string name; ///< of the function of weft.kernel, and its symbol
  std::array<int64_t, 3> block = {1, 1, 1};
  int64_t blocks = 1; ///< that have work to do; fewer are right, too
  int64_t shared = 0; ///< bytes of each block
};

/// The compiled kernels of a program: a shared object for
/// processors, or a module for devices.
struct CompiledKernels {
  llvm::SmallVector<char> sharedObject; ///< empty where devices run them all
  std::string chip; ///< of the devices: sm_80; empty for processors
  std::string ptx;
  std::vector<DeviceKernel> deviceKernels;
};

/// Opened once for many programs it keeps what takes long to make; threads may
/// share it.
class KernelCodegen {
public:
  virtual ~KernelCodegen() = default;
  /// The target with its choices made: cpu:avx2 for `native`.
  virtual llvm::StringRef target() const = 0;
  /// WEFT_FEATURE_* bits of weft.h that the code needs.
  virtual uint64_t runtimeFeatures() const = 0;
  /// The code of a .weft file, for every function of the module that has the
  /// attribute weft.kernel. Errors are on the kernels, each by name.
  virtual llvm::LogicalResult compile(mlir::ModuleOp module,
                                      const CodegenOptions &options,
                                      CompiledKernels &code) = 0;
  /// The same code as text.
  virtual llvm::LogicalResult
  printAssembly(llvm::ArrayRef<mlir::func::FuncOp> kernels,
                llvm::raw_ostream &out) = 0;
};

/// The generator for a target; null with the reason, which lists the known
/// targets, in `error`.
std::unique_ptr<KernelCodegen> openCodegen(llvm::StringRef target,
                                           std::string &error);
/// "native, cpu:avx512, cpu:avx2, ..."
std::string knownTargets();

} // namespace weft

#endif // WEFT_COMPILER_CODEGEN_KERNELCODEGEN_H
