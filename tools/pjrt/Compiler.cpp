//===- Compiler.cpp - from JAX's bytes to a program image -----------------===//

#include "weft/tools/pjrt/Compiler.h"

#include "weft/tools/pjrt/Report.h"

#include "weft/compiler/Register.h"
#include "weft/compiler/driver/CompileStep.h"
#include "weft/compiler/explain/Explain.h"
#include "weft/compiler/frontends/stablehlo/Import.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include <chrono>
#include <cstdlib>

using namespace mlir;
using namespace weft;

/// script.py:12:3 of the innermost line that JAX knows; empty without one.
static std::string placeOf(Location location) {
  std::string place;
  location->walk([&](Location part) {
    auto file = dyn_cast<FileLineColLoc>(part);
    if (!file || file.getLine() == 0)
      return WalkResult::advance();
    place = file.getFilename().str() + ":" + std::to_string(file.getLine()) +
            ":" + std::to_string(file.getColumn()) + ": ";
    return WalkResult::interrupt();
  });
  return place;
}

/// $XDG_CACHE_HOME/weft or ~/.cache/weft; empty (no cache) without a home.
static std::string cacheDirectory() {
  if (const char *cache = std::getenv("XDG_CACHE_HOME"); cache && *cache)
    return std::string(cache) + "/weft";
  if (const char *home = std::getenv("HOME"); home && *home)
    return std::string(home) + "/.cache/weft";
  return "";
}

static std::vector<uint8_t> compileIn(MLIRContext &context, StringRef code,
                                      int64_t partitions,
                                      pjrt::CompiledImage &out) {
  auto program = stablehlo::read(code, "program", &context);
  if (!program)
    return {};
  out.name = program->getSymName().value_or("main").str();
  stablehlo::ImportOptions importOptions;
  importOptions.devices = partitions;
  auto module = stablehlo::import(*program, importOptions);
  if (!module)
    return {};
  program = nullptr;
  CompileOptions options;
  options.cacheDirectory = cacheDirectory();
  auto image = compileProgram(*module, options);
  if (succeeded(image) && pjrt::wantsReports())
    for (auto planned : module->getOps<plan::ProgramOp>())
      out.explanation += toText(explainProgram(planned));
  return failed(image) ? std::vector<uint8_t>() : std::move(*image);
}

pjrt::CompiledImage pjrt::compileImage(std::string_view code,
                                       int64_t partitions) {
  CompiledImage out;
  auto start = std::chrono::steady_clock::now();
  DialectRegistry registry;
  registerAllDialects(registry);
  stablehlo::registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
        out.error.empty())
      out.error = placeOf(diagnostic.getLocation()) + diagnostic.str();
    return success();
  });
  out.bytes = compileIn(context, StringRef(code.data(), code.size()),
                        partitions, out);
  out.seconds = std::chrono::duration<double>(
                    std::chrono::steady_clock::now() - start)
                    .count();
  if (out.bytes.empty() && out.error.empty())
    out.error = "the program could not be compiled";
  return out;
}
