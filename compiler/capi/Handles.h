//===- Handles.h - what the C interface's pointers point to -----*- C++ -*-===//
//
// Private to compiler/capi. Every function of compiler.h begins with
// `compiler->begin()`, which forgets the messages of the call before, and hands
// what it refuses itself to `refuse`, beside what MLIR reports.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CAPI_HANDLES_H
#define WEFT_COMPILER_CAPI_HANDLES_H

#include "weft/compiler/capi/compiler.h"
#include "weft/compiler/driver/CompileStep.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <deque>
#include <optional>
#include <string>
#include <vector>

struct weft_compiler {
  weft_compiler();

  void begin() { message.clear(); }
  /// Reports an error with no place in a program; returns 1.
  int refuse(const std::string &text, const std::string &place = "");
  void report(const mlir::Diagnostic &diagnostic);

  mlir::MLIRContext context;
  std::string message;
  weft_diagnostic_fn call = nullptr;
  void *user = nullptr;

private:
  void report(weft_severity severity, const std::string &text,
              const std::string &place, unsigned line, unsigned column);
};

/// A weft_value with the strings that it points to.
struct OwnedValue {
  std::string name, madeBy, dtype, layout;
  std::vector<int64_t> shape;
};

struct weft_module {
  weft_compiler *compiler;
  mlir::OwningOpRef<mlir::ModuleOp> op;
  weft::Stage stage = weft::Stage::imported;
  /// Made when a value is asked for; nothing after a change.
  std::optional<std::vector<OwnedValue>> values;

  /// Another program, or the same at another stage.
  void become(mlir::OwningOpRef<mlir::ModuleOp> other, weft::Stage at) {
    op = std::move(other);
    stage = at;
    values.reset();
  }
};

namespace weft::capi {

/// Arguments, results and inner values (compiler.h).
std::vector<OwnedValue> listValues(mlir::ModuleOp module);

/// The C options, or their default; the stage is the caller's to set.
CompileOptions toOptions(const weft_compile_options *options);

/// The bytes in memory that weft_text_free frees; 1, after an error, where there
/// is none.
int give(weft_compiler *compiler, llvm::StringRef bytes, weft_text *out);

} // namespace weft::capi

#endif // WEFT_COMPILER_CAPI_HANDLES_H
