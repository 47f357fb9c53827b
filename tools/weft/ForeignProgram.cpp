//===- ForeignProgram.cpp - a StableHLO program on the command line -------===//

#include "weft/tools/weft/ForeignProgram.h"

#include "weft/compiler/codegen/KernelCodegen.h"
#include "weft/compiler/frontends/stablehlo/Import.h"
#include "weft/tools/weft/CompilerMemory.h"
#include "weft/tools/weft/InternalFailure.h"
#include "weft/tools/weft/ReadArtifact.h"
#include "weft/tools/weft/StepCompiler.h"

using namespace mlir;
using namespace weft;
using namespace weft::tool;

bool weft::tool::namesForeignProgram(const std::string &path) {
  llvm::StringRef name(path);
  return name.ends_with(".mlir") || name.ends_with(".mlirbc") ||
         name.ends_with(".bc");
}

const char *weft::tool::flagOfModels(const ModelFlags &flags) {
  return !flags.distribution.empty() ? "--distribution"
         : flags.dataParallel        ? "--data-parallel"
         : !flags.shapes.empty()     ? "--shape"
         : flags.optimizer           ? "--optimizer"
         : flags.loss                ? "--loss"
         : flags.metrics             ? "--metrics"
         : flags.learningRate        ? "--learning-rate"
                                     : nullptr;
}

std::unique_ptr<ForeignProgram>
ForeignProgram::open(const ModelFlags &flags) {
  std::unique_ptr<ForeignProgram> self(new ForeignProgram());
  self->flags = flags;
  if (const char *flag = flagOfModels(flags))
    return fail(std::string(flag) + " has no effect on " + flags.model +
                ", which has its shapes and layouts; leave it out"),
           nullptr;
  std::string error;
  if (!openCodegen(flags.target, error))
    return fail("--target: " + error), nullptr;
  llvm::StringRef count(flags.devices);
  if (!count.empty() && (!count.consume_front("cpu:") ||
                         count.getAsInteger(10, self->devices) ||
                         self->devices < 1))
    return fail("--devices " + flags.devices + ": use cpu:N, as cpu:8"),
           nullptr;
  auto bytes = readTextFile(flags.model, error);
  if (!bytes)
    return fail(error), nullptr;
  if (!stablehlo::looksLikeProgram(*bytes))
    return fail(flags.model + ": is no StableHLO program; write it with "
                              "jax.jit(f).lower(...).as_text(), or say with "
                              "--from at which stage IR of Weft is"),
           nullptr;
  if (stablehlo::isArtifact(*bytes)) {
    auto text = artifactText(*bytes, flags.model);
    if (!text)
      return fail(text.message()), nullptr;
    bytes = std::move(*text);
  }
  self->context = makeContext(flags.model);
  DialectRegistry registry;
  stablehlo::registerDialects(registry);
  self->context->appendDialectRegistry(registry);
  self->program =
      stablehlo::read(*bytes, flags.model, self->context.get());
  return self->program ? std::move(self) : nullptr;
}

OwningOpRef<ModuleOp> ForeignProgram::import() {
  stablehlo::ImportOptions options;
  options.devices = devices;
  return stablehlo::import(*program, options);
}

/// The stage that was not reached.
static Stage after(Stage reached) {
  return Stage(std::min(unsigned(reached) + 1, unsigned(Stage::plan)));
}

OwningOpRef<ModuleOp> ForeignProgram::reach(Stage stage) {
  auto module = import();
  CompileOptions watched = compileOptions(flags);
  Stage reached = watched.from;
  watched.reached = &reached;
  if (module && failed(runStages(*module, watched, stage)))
    endInternally(flags.model, *import(), after(reached));
  return module;
}

std::optional<std::vector<uint8_t>> ForeignProgram::compile() {
  auto module = import();
  if (!module)
    return std::nullopt;
  CompileOptions watched = compileOptions(flags);
  Stage reached = watched.from;
  watched.reached = &reached;
  auto image = compileProgram(*module, watched);
  if (failed(image) && reached < Stage::plan)
    endInternally(flags.model, *import(), after(reached));
  if (failed(image))
    return std::nullopt;
  return std::move(*image);
}

std::optional<std::string>
ForeignProgram::assembly(const std::vector<std::string> &kernels) {
  auto module = import();
  if (!module)
    return std::nullopt;
  auto text = printKernelAssembly(*module, compileOptions(flags), kernels);
  return failed(text) ? std::nullopt : std::optional(std::move(*text));
}

int weft::tool::compileForeignProgram(const ModelFlags &flags,
                                      std::vector<uint8_t> &image) {
  auto program = ForeignProgram::open(flags);
  auto compiled = program ? program->compile() : std::nullopt;
  if (!compiled)
    return 1;
  image = std::move(*compiled);
  program = nullptr;
  releaseCompilerMemory();
  return 0;
}
