//===- KernelCodegen.h - the border to the code generators ------*- C++ -*-===//
//
//   std::string error;
//   auto codegen = weft::openCodegen("cpu:avx2", error);
//   if (!codegen || failed(codegen->compile(module, options, code)))
//     return; // without a generator, `error` lists the known targets
//   (void)codegen->printAssembly(kernels, llvm::outs()); // for a person
//
// Code outside compiler/codegen/<generator> knows of a processor no more than
// this and its limits (dialects/nest/TargetLimits.h). A new generator is one
// function, one line of the table in KernelCodegen.cpp, and the limits of its
// targets.
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
  /// The folder of cached objects (CodeCache.h); empty: no cache. It is created
  /// if needed; a damaged entry is compiled again.
  std::string cacheDir;
  unsigned threads = 0; ///< 0 for a thread on each core
  /// Whether a run is so short that compile time counts more. A generator may
  /// ignore it.
  bool isBrief = false;
};

/// A function of a device, and the number of threads that run it.
struct DeviceLaunch {
  std::string symbol;
  std::array<int64_t, 3> block = {1, 1, 1};
  int64_t blocks = 1; ///< blocks with work; fewer blocks are correct, too
  int64_t shared = 0; ///< bytes of shared memory of each block
};
/// A kernel of a device: launches, one after the other, with the same
/// arguments.
struct DeviceKernel {
  std::string name; ///< name of the kernel function
  std::vector<DeviceLaunch> launches;
};

/// The compiled kernels of a program: a shared object for
/// processors, or a module for devices.
struct CompiledKernels {
  llvm::SmallVector<char> sharedObject; ///< empty if devices run all kernels
  std::string chip; ///< chip of the devices: sm_80; empty for processors
  std::string ptx;
  std::vector<DeviceKernel> deviceKernels;
  /// WEFT_FEATURE_* bits of weft.h that it needs besides the target's.
  uint64_t features = 0;
};

/// A code generator. It may keep objects that are slow to make for several
/// programs; threads may share it.
class KernelCodegen {
public:
  virtual ~KernelCodegen() = default;
  /// The resolved target: cpu:avx2 for `native`.
  virtual llvm::StringRef target() const = 0;
  /// WEFT_FEATURE_* bits of weft.h that all code for the target needs.
  virtual uint64_t runtimeFeatures() const = 0;
  /// Generates the code of a .weft file: every function of the module with the
  /// attribute weft.kernel. Errors are on the kernels, which they name, or on
  /// the module.
  virtual llvm::LogicalResult compile(mlir::ModuleOp module,
                                      const CodegenOptions &options,
                                      CompiledKernels &code) = 0;
  /// Prints the same code as text.
  virtual llvm::LogicalResult
  printAssembly(llvm::ArrayRef<mlir::func::FuncOp> kernels,
                llvm::raw_ostream &out) = 0;
};

/// Opens the generator for a target; null with the reason, which lists the
/// known targets, in `error`.
std::unique_ptr<KernelCodegen> openCodegen(llvm::StringRef target,
                                           std::string &error);
/// The list of targets: "native, cpu, cpu:host, cpu:avx512, ..."
std::string knownTargets();

} // namespace weft

#endif // WEFT_COMPILER_CODEGEN_KERNELCODEGEN_H
