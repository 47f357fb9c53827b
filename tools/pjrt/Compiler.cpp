//===- Compiler.cpp - from JAX's bytes to a program image -----------------===//

#include "weft/tools/pjrt/Compiler.h"

#include "weft/tools/pjrt/Report.h"

#include "weft/compiler/Register.h"
#include "weft/compiler/codegen/CodeCache.h"
#include "weft/compiler/codegen/KernelCodegen.h"
#include "weft/compiler/driver/CompileStep.h"
#include "weft/compiler/explain/Explain.h"
#include "weft/compiler/frontends/stablehlo/Import.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include <chrono>
#include <cstdlib>
#include <dlfcn.h>
#include <sys/stat.h>

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
/// Tells builds of this library apart: another one may compile otherwise.
static std::string buildOfCompiler() {
  Dl_info info;
  struct stat file;
  if (!dladdr(reinterpret_cast<void *>(&buildOfCompiler), &info) ||
      stat(info.dli_fname, &file) != 0)
    return "";
  return std::to_string(file.st_size) + ":" +
         std::to_string(file.st_mtim.tv_sec) + ":" +
         std::to_string(file.st_mtim.tv_nsec);
}

struct pjrt::ProgramSource::State {
  explicit State(const DialectRegistry &registry)
      : context(registry, MLIRContext::Threading::DISABLED) {}
  MLIRContext context;
  OwningOpRef<ModuleOp> program;
  int64_t partitions = 1;
  std::string name, key, error, explanation;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  CompileOptions options;
};

static DialectRegistry dialects() {
  DialectRegistry registry;
  registerAllDialects(registry);
  stablehlo::registerDialects(registry);
  return registry;
}

/// The program without places in scripts, for a processor and a build.
static std::string keyOf(ModuleOp program, int64_t partitions,
                         StringRef target) {
  static const std::string build = buildOfCompiler();
  std::string text, error;
  llvm::raw_string_ostream(text) << program;
  auto codegen = openCodegen(target, error);
  return keyOfCode({build, codegen ? codegen->target() : target,
                    std::to_string(partitions), text});
}

pjrt::ProgramSource::ProgramSource(std::string_view code, int64_t partitions)
    : state(std::make_unique<State>(dialects())) {
  state->partitions = partitions;
  state->options.cacheDirectory = codeCacheFolder();
  state->context.loadAllAvailableDialects();
  state->context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
        state->error.empty())
      state->error = placeOf(diagnostic.getLocation()) + diagnostic.str();
    return success();
  });
  state->program = stablehlo::read(StringRef(code.data(), code.size()),
                                   "program", &state->context);
  if (!state->program) {
    if (state->error.empty())
      state->error = "the program could not be read";
    return;
  }
  state->name = state->program->getSymName().value_or("main").str();
  state->key = keyOf(*state->program, partitions, state->options.target);
}

pjrt::ProgramSource::~ProgramSource() = default;

const std::string &pjrt::ProgramSource::error() const { return state->error; }
const std::string &pjrt::ProgramSource::name() const { return state->name; }
const std::string &pjrt::ProgramSource::key() const { return state->key; }

const std::string &pjrt::ProgramSource::explanation() const {
  return state->explanation;
}
double pjrt::ProgramSource::seconds() const {
  std::chrono::duration<double> taken =
      std::chrono::steady_clock::now() - state->start;
  return taken.count();
}

std::vector<uint8_t> pjrt::ProgramSource::compile() {
  const std::string &folder = state->options.cacheDirectory;
  SmallVector<char> known;
  if (!wantsReports() && readCachedCode(folder, state->key, known))
    return {known.begin(), known.end()};
  stablehlo::ImportOptions options;
  options.devices = state->partitions;
  auto module = stablehlo::import(*state->program, options);
  FailureOr<std::vector<uint8_t>> image = failure();
  if (module)
    image = compileProgram(*module, state->options);
  if (failed(image)) {
    if (state->error.empty())
      state->error = "the program could not be compiled";
    return {};
  }
  if (wantsReports())
    for (auto planned : module->getOps<plan::ProgramOp>())
      state->explanation += toText(explainProgram(planned));
  writeCachedCode(folder, state->key,
                  {reinterpret_cast<const char *>(image->data()), image->size()});
  return std::move(*image);
}
