//===- MachineCode.h - the LLVM dialect to objects or text ------*- C++ -*-===//
//
// What the code generators of all targets share: errors of one kernel as text,
// and LLVM's optimizer and back end.
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

/// Keeps the errors of a context, which then reach nobody else.
class CollectedErrors {
public:
  explicit CollectedErrors(mlir::MLIRContext *context);
  /// They, parted by "; ", or `otherwise` where there is none.
  std::string textOr(const std::string &otherwise) const {
    return text.empty() ? otherwise : text;
  }

private:
  std::string text;
  mlir::ScopedDiagnosticHandler handler;
};

/// LLVM's passes for one machine and one kind of file. To make them takes as long
/// as to run them on a small kernel, so they are used for one after the other.
class MachineCodeWriter {
public:
  MachineCodeWriter(llvm::TargetMachine &machine, llvm::CodeGenFileType type);
  ~MachineCodeWriter();
  /// Translates a module of the LLVM dialect, lets `prepare` see it, optimizes it
  /// for the machine (hardly, where the machine has the level None) and appends
  /// what its back end writes to `code`. Returns what is wrong, or nothing.
  std::string write(mlir::Operation *module, llvm::SmallVectorImpl<char> &code,
                    llvm::function_ref<void(llvm::Module &)> prepare);

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace weft

#endif // WEFT_COMPILER_CODEGEN_MACHINECODE_H
