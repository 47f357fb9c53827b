//===- StablehloReaders.cpp - the readers of StableHLO programs -----------===//

#include "weft/test/fuzz/FileReaders.h"

#include "weft/compiler/Register.h"
#include "weft/compiler/frontends/stablehlo/Import.h"
#include "weft/tools/weft/ReadArtifact.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

using namespace weft;

bool weft::test::readStablehlo(const std::string &bytes) {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  stablehlo::registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  mlir::ScopedDiagnosticHandler silent(
      &context, [](mlir::Diagnostic &) { return mlir::success(); });
  auto program = stablehlo::read(bytes, "fuzz", &context);
  return program && stablehlo::import(*program, {});
}

bool weft::test::readArtifact(const std::string &bytes) {
  auto text = tool::artifactText(bytes, "fuzz", 2);
  return text && readStablehlo(*text);
}
