//===- Session.h - what a compiler keeps between programs -------*- C++ -*-===//
//
//   std::string errors;
//   weft::Session session([&](mlir::Diagnostic &given) { errors += given.str(); },
//                         {weft::stablehlo::registerDialects});
//   auto program = weft::stablehlo::read(text, "f.mlir", &session.context());
//   auto module = weft::stablehlo::import(*program, {});
//   auto image = weft::compileProgram(*module, session.options());
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_DRIVER_SESSION_H
#define WEFT_COMPILER_DRIVER_SESSION_H

#include "weft/compiler/driver/CompileStep.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

namespace weft {

/// A context, its passes, and where its diagnostics go. One thread uses it at a
/// time. A context never frees a type or an attribute, including constants.
class Session {
public:
  using Report = std::function<void(mlir::Diagnostic &)>;
  using Register = void (*)(mlir::DialectRegistry &);
  /// The context has Weft's dialects, and those of `more`, which are loaded when
  /// a program names them.
  explicit Session(Report report, llvm::ArrayRef<Register> more = {});

  mlir::MLIRContext &context() { return own; }
  /// Options with the kept passes.
  CompileOptions options();
  /// Sends later diagnostics to `other`.
  void reportTo(Report other) { report = std::move(other); }

private:
  mlir::MLIRContext own;
  StagePasses passes;
  Report report;
};

} // namespace weft

#endif // WEFT_COMPILER_DRIVER_SESSION_H
