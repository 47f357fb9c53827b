//===- ReadArtifact.cpp - portable artifacts that may be damaged ----------===//

#include "weft/tools/weft/artifact/ReadArtifact.h"

#include "weft/base/WriteAll.h"
#include "weft/compiler/frontends/stablehlo/Import.h"
#include "weft/data/files/Isolation.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

using namespace weft;

/// Runs in the child: returns 'T' and the text, or 'E' and the error.
static std::string read(const std::string &bytes, const std::string &name) {
  mlir::DialectRegistry registry;
  stablehlo::registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  std::string error;
  mlir::ScopedDiagnosticHandler handler(&context,
                                        [&](mlir::Diagnostic &diagnostic) {
                                          if (error.empty())
                                            error = diagnostic.str();
                                          return mlir::success();
                                        });
  auto program = stablehlo::read(bytes, name, &context);
  if (!program)
    return "E" + error;
  std::string text = "T";
  llvm::raw_string_ostream stream(text);
  program->print(stream, mlir::OpPrintingFlags()
                             .printGenericOpForm()
                             .enableDebugInfo()
                             .useLocalScope());
  return text;
}

Result<std::string> weft::tool::artifactText(const std::string &bytes,
                                             const std::string &name) {
  // An artifact of 1 MiB is read in a tenth of a second. One changed byte makes
  // an attribute its own element: MLIR 22's reader, which reads nested entries
  // later and again, has no end then.
  unsigned seconds = 5 + unsigned(bytes.size() >> 20);
  auto sent = runIsolated(
      [&](int file) {
        std::string answer = read(bytes, name);
        return writeAll(file, answer.data(), answer.size());
      },
      seconds);
  if (!sent || sent->empty())
    return Error{
        name + ": is a damaged portable artifact" +
        (sent ? Message() : " (the reader " + sent.error().message + ")") +
        "; write it again"};
  std::string text(sent->begin() + 1, sent->end());
  if (sent->front() != 'T')
    return Error{name + ": is no portable artifact that Weft reads: " + text};
  return text;
}
