//===- Handles.h - objects behind pointers of the C interface ---*- C++ -*-===//
//
// Private to compiler/capi. Every function of compiler.h that can fail begins
// with `compiler->begin()`, which clears the messages of the previous call, and
// passes errors of its own to `refuse`, beside MLIR's diagnostics.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CAPI_HANDLES_H
#define WEFT_COMPILER_CAPI_HANDLES_H

#include "weft/compiler/capi/compiler.h"
#include "weft/compiler/driver/Session.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <deque>
#include <optional>
#include <string>
#include <vector>

struct weft_compiler {
  weft_compiler();

  mlir::MLIRContext &context() { return session.context(); }
  void begin() { message.clear(); }
  /// Reports an error at the file `place`, if any, without a line; returns 1.
  int refuse(const std::string &text, const std::string &place = "");
  void report(const mlir::Diagnostic &diagnostic);

  weft::Session session;
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
  /// The values, listed on the first request after a change.
  std::optional<std::vector<OwnedValue>> values;

  /// Replaces the program by another one, or by itself at another stage.
  void become(mlir::OwningOpRef<mlir::ModuleOp> other, weft::Stage at) {
    op = std::move(other);
    stage = at;
    values.reset();
  }
};

namespace weft::capi {

/// Lists arguments, results and inner values (compiler.h).
std::vector<OwnedValue> listValues(mlir::ModuleOp module);

/// Converts the C options, or their default; the caller sets the stage.
CompileOptions toOptions(const weft_compile_options *options);

/// Copies the bytes to memory that weft_text_free frees; returns 1, after an
/// error, if memory is exhausted.
int give(weft_compiler *compiler, llvm::StringRef bytes, weft_text *out);

} // namespace weft::capi

#endif // WEFT_COMPILER_CAPI_HANDLES_H
