//===- ReadIr.cpp - Weft's own text ---------------------------------------===//

#include "weft/tools/weft/compiler/ReadIr.h"

#include "weft/compiler/frontends/stablehlo/Import.h"
#include "weft/tools/weft/Commands.h"
#include "weft/tools/weft/compiler/UnknownDialect.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

using namespace weft;
using namespace weft::tool;

mlir::OwningOpRef<mlir::ModuleOp>
weft::tool::parseIr(const std::string &text, const std::string &file,
                    mlir::MLIRContext &context) {
  bool printed = false;
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &diagnostic) {
        if (printed ||
            diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error)
          return mlir::success();
        printed = true;
        std::string place = file;
        if (auto at =
                mlir::dyn_cast<mlir::FileLineColLoc>(diagnostic.getLocation()))
          place += ":" + std::to_string(at.getLine()) + ":" +
                   std::to_string(at.getColumn());
        fail(place + ": is no valid IR: " + textOf(diagnostic) +
             "; write it as weft compile --emit prints it");
        return mlir::success();
      });
  if (mlir::failed(stablehlo::checkText(text, file, &context)))
    return {};
  return mlir::parseSourceString<mlir::ModuleOp>(
      text, mlir::ParserConfig(&context), file);
}
