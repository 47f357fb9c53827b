//===- StablehloReaders.cpp - the readers of StableHLO programs -----------===//

#include "weft/test/fuzz/FileReaders.h"

#include "weft/compiler/Register.h"
#include "weft/compiler/explain/Explain.h"
#include "weft/compiler/frontends/stablehlo/Import.h"
#include "weft/compiler/stages/StagePasses.h"
#include "weft/tools/weft/artifact/ReadArtifact.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

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
  auto module = program ? stablehlo::import(*program, {})
                        : mlir::OwningOpRef<mlir::ModuleOp>();
  StagePasses passes(&context);
  if (!module ||
      failed(passes.reach(Stage::imported, Stage::plan, true, "cpu:generic")
                 .run(*module)) ||
      failed(mlir::verify(*module)))
    return false;
  toText(explainProgram(*module));
  return true;
}

bool weft::test::readArtifact(const std::string &bytes) {
  auto text = tool::artifactText(bytes, "fuzz", 2);
  return text && readStablehlo(*text);
}

/// Reads a module with one byte for each function: the function calls the one
/// before it up to three times, or with bit 2 the one whose number the next
/// byte is.
bool weft::test::readCalls(const std::string &bytes) {
  std::string text;
  size_t count = std::min<size_t>(bytes.size(), 300) + 1;
  for (size_t i = 0; i < count; ++i) {
    unsigned byte = i ? static_cast<unsigned char>(bytes[i - 1]) : 0;
    size_t callee = byte & 4 && i < bytes.size()
                        ? static_cast<unsigned char>(bytes[i]) % count
                        : i - 1;
    std::string name = i + 1 == count ? "main" : "f" + std::to_string(i);
    std::string target =
        callee + 1 == count ? "main" : "f" + std::to_string(callee);
    unsigned calls = i ? byte % 4 : 0;
    text +=
        "func.func public @" + name + "(%x0: tensor<f32>) -> tensor<f32> {\n";
    for (unsigned call = 0; call < calls; ++call)
      text += "%x" + std::to_string(call + 1) + " = call @" + target + "(%x" +
              std::to_string(call) + ") : (tensor<f32>) -> tensor<f32>\n";
    text += "%y = stablehlo.abs %x" + std::to_string(calls) +
            " : tensor<f32>\nreturn %y : tensor<f32>\n}\n";
  }
  return readStablehlo(text);
}
