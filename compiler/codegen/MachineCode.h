//===- MachineCode.h - the LLVM dialect to objects or text ------*- C++ -*-===//
//
// The code that code generators of all targets share: the errors of one kernel
// as text, and LLVM's optimizer and back end.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_MACHINECODE_H
#define WEFT_COMPILER_CODEGEN_MACHINECODE_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/CodeGen.h"

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace weft {

/// Collects the errors of a context, which no other handler receives.
class CollectedErrors {
public:
  explicit CollectedErrors(mlir::MLIRContext *context);
  /// The errors, separated by "; ", or `otherwise` if there are none.
  std::string textOr(const std::string &otherwise) const {
    return text.empty() ? otherwise : text;
  }

private:
  std::string text;
  mlir::ScopedDiagnosticHandler handler;
};

/// What LLVM does with a module before its back end.
enum class Optimization {
  Little, ///< simplifications, for code that is compiled fast and runs briefly
  Nests,  ///< the passes that improve loops which a generator has chosen
  Full    ///< all passes of -O3
};

/// The passes of LLVM's back end for one machine and one file type. Making them
/// takes as long as running them on a small kernel, so they are used for
/// several kernels.
class MachineCodeWriter {
public:
  MachineCodeWriter(llvm::TargetMachine &machine, llvm::CodeGenFileType type,
                    Optimization optimization);
  ~MachineCodeWriter();
  /// Translates a module of the LLVM dialect, calls `prepare` with it,
  /// optimizes it for the machine and appends the back end's output to `code`.
  /// Returns the error, or nothing.
  std::string write(mlir::Operation *module, llvm::SmallVectorImpl<char> &code,
                    llvm::function_ref<void(llvm::Module &)> prepare);

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace weft

#endif // WEFT_COMPILER_CODEGEN_MACHINECODE_H
