//===- Compilation.h - a program of a command, by stages --------*- C++ -*-===//
//
//   Compilation it{"m.keras", [&] { return import("train"); }, options};
//   auto module = it.reach(Stage::plan);
//   auto image  = it.compile();                  // bytes of a .weft file
//
// MLIR's diagnostics are printed; an error whose diagnostic was has no message.
// An internal failure ends the process (InternalFailure.h).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_COMPILER_COMPILATION_H
#define WEFT_TOOLS_WEFT_COMPILER_COMPILATION_H

#include "weft/base/Result.h"
#include "weft/compiler/driver/CompileStep.h"

#include "mlir/IR/OwningOpRef.h"

namespace weft::tool {

using Module = mlir::OwningOpRef<mlir::ModuleOp>;

struct Compilation {
  std::string file;
  /// Makes the module at stage `imported`.
  std::function<Result<Module>()> import;
  CompileOptions options;
  /// Whether a person wrote the IR, whose failures are not Weft's.
  bool isWritten = false;
  /// Set to the costs of the program, with which fixes are compared.
  std::optional<Explanation> *scheduled = nullptr;

  /// The module at a later stage. Over a budget it is an error, unless the
  /// caller passes `isOverBudget`.
  Result<Module> reach(Stage stage, bool *isOverBudget = nullptr) const;
  /// The bytes of a .weft file. `describe` changes the imported module.
  Result<std::vector<uint8_t>>
  compile(llvm::function_ref<void(mlir::ModuleOp)> describe = nullptr) const;
  /// The assembly text of some kernels (no names: of all).
  Result<std::string> assembly(const std::vector<std::string> &kernels) const;

private:
  void judge(const Attempt &attempt) const;
};

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_COMPILER_COMPILATION_H
