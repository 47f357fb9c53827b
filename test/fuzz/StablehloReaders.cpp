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
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

using namespace weft;

/// A context with every dialect, and without output.
static std::unique_ptr<mlir::MLIRContext> quietContext() {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  stablehlo::registerDialects(registry);
  auto context = std::make_unique<mlir::MLIRContext>(
      registry, mlir::MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  context->getDiagEngine().registerHandler(
      [](mlir::Diagnostic &) { return mlir::success(); });
  return context;
}

bool weft::test::readStablehlo(const std::string &bytes) {
  auto context = quietContext();
  auto program = stablehlo::read(bytes, "fuzz", context.get());
  auto module = program ? stablehlo::import(*program, {})
                        : mlir::OwningOpRef<mlir::ModuleOp>();
  StagePasses passes(context.get());
  if (!module ||
      failed(passes.reach(Stage::imported, Stage::plan, true, "cpu:generic")
                 .run(*module)) ||
      failed(mlir::verify(*module)))
    return false;
  toText(explainProgram(*module));
  return true;
}

/// A step with donated arguments at each stage; the first character is the
/// stage.
std::vector<std::string> weft::test::stageTexts() {
  const std::string program = R"(sdy.mesh @mesh = <["x"=2]>
func.func public @main(
    %w: tensor<8x4xf32> {tf.aliasing_output = 0 : i32, weft.name = "w", weft.role = "weight"},
    %b: tensor<4xf32> {tf.aliasing_output = 1 : i32, sdy.sharding = #sdy.sharding<@mesh, [{}]>},
    %x: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x4xf32>, tensor<4xf32>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<6x8xf32>, tensor<8x4xf32>) -> tensor<6x4xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [0] x [0] : (tensor<6x8xf32>, tensor<6x4xf32>) -> tensor<8x4xf32>
  %2 = stablehlo.add %w, %1 : tensor<8x4xf32>
  %3 = stablehlo.multiply %b, %b : tensor<4xf32>
  return %2, %3 : tensor<8x4xf32>, tensor<4xf32>
}
)";
  std::vector<std::string> texts;
  auto context = quietContext();
  auto read = stablehlo::read(program, "sample", context.get());
  auto module = stablehlo::import(*read, {});
  StagePasses passes(context.get());
  for (Stage stage = Stage::imported; stage < Stage::plan;
       stage = Stage(unsigned(stage) + 1)) {
    std::string text(1, char('0' + unsigned(stage)));
    llvm::raw_string_ostream stream(text);
    module->print(stream);
    texts.push_back(text);
    Stage next = Stage(unsigned(stage) + 1);
    if (failed(passes.reach(stage, next, true, "cpu:generic").run(*module)))
      break;
  }
  return texts;
}

/// Reads a program at the stage of its first character, and goes on from there.
bool weft::test::readStage(const std::string &bytes) {
  if (bytes.empty())
    return false;
  unsigned stage = unsigned(bytes.front() - '0');
  if (stage >= unsigned(Stage::plan))
    return false;
  auto context = quietContext();
  std::string text = bytes.substr(1);
  if (failed(stablehlo::checkText(text, "fuzz", context.get())))
    return false;
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      text, mlir::ParserConfig(context.get()), "fuzz");
  StagePasses passes(context.get());
  return module &&
         succeeded(passes.reach(Stage(stage), Stage::plan, true, "cpu:generic")
                       .run(*module));
}

bool weft::test::readArtifact(const std::string &bytes) {
  auto text = tool::artifactText(bytes, "fuzz");
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
