//===- Modules.cpp - a program from its text to a .weft -------------------===//

#include "weft/base/ClosestName.h"
#include "weft/compiler/capi/Handles.h"
#include "weft/compiler/driver/AnnotationFixes.h"
#include "weft/compiler/explain/WhyLayout.h"
#include "weft/compiler/frontends/stablehlo/Import.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace weft;

static std::string nameOf(Stage stage) {
  return stages()[unsigned(stage)].name.str();
}

/// The stage of that name; nothing after an error.
static std::optional<Stage> stageOf(weft_compiler *compiler, const char *name) {
  std::optional<Stage> stage = parseStage(name ? name : "");
  if (!stage)
    compiler->refuse(unknownStage(name ? name : ""));
  return stage;
}

CompileOptions capi::toOptions(const weft_compile_options *options) {
  CompileOptions result;
  if (!options)
    return result;
  if (options->target)
    result.target = options->target;
  if (options->cache_folder)
    result.cacheDirectory = options->cache_folder;
  if (options->matmul_precision)
    result.matmulPrecision = options->matmul_precision;
  result.memory = options->memory;
  result.threads = std::max(options->threads, 0);
  for (size_t i = 0; i < options->expect_count; ++i)
    result.expect.push_back(options->expect[i]);
  return result;
}

/// The options of a call on the module; nothing after an error.
static std::optional<CompileOptions>
optionsOf(weft_module *module, const weft_compile_options *options) {
  CompileOptions result = capi::toOptions(options);
  if (result.memory < 0) {
    module->compiler->refuse("memory is " + std::to_string(result.memory) +
                             " bytes; give the memory of a device, or 0");
    return std::nullopt;
  }
  result.from = module->stage;
  result.passes = module->compiler->session.options().passes;
  result.findFixes = [module,
                      options](Explanation &explanation,
                               const std::optional<Explanation> &scheduled) {
    if (module->stage == Stage::imported)
      findAnnotationFixes(explanation, scheduled, *module->op,
                          capi::toOptions(options));
  };
  return result;
}

/// Whether the text is StableHLO, by the names of its dialects. Weft's names do
/// not exclude it: custom calls of StableHLO may contain them.
static bool looksLikeStablehlo(StringRef text) {
  return llvm::any_of(ArrayRef<StringRef>{"stablehlo.", "sdy.", "mhlo."},
                      [&](StringRef word) { return text.contains(word); });
}

static OwningOpRef<ModuleOp> readStablehlo(weft_compiler *compiler,
                                           const weft_source &source,
                                           const std::string &text,
                                           const std::string &name) {
  OwningOpRef<ModuleOp> program =
      stablehlo::read(text, name, &compiler->context());
  if (!program)
    return {};
  stablehlo::ImportOptions options;
  auto steps = stablehlo::stepFunctions(*program);
  if (source.function)
    options.function = source.function;
  else if (!steps.empty())
    options.function = steps.front().name;
  options.devices = source.devices;
  return stablehlo::import(*program, options);
}

int weft_module_parse(weft_compiler *compiler, const weft_source *source,
                      weft_module **out) {
  compiler->begin();
  if (!source || !source->text || !out)
    return compiler->refuse("the text of the program is NULL; give one");
  std::string name = source->name ? source->name : "program";
  std::string text(source->text, source->size); // followed by a zero byte
  if (stablehlo::isArtifact(text))
    return compiler->refuse("is bytecode, which is read from trusted files "
                            "only; give the text of the program",
                            name);
  if (source->devices < 0)
    return compiler->refuse("devices is " + std::to_string(source->devices) +
                                "; give how many there are, or 0",
                            name);
  OwningOpRef<ModuleOp> op;
  if (failed(stablehlo::checkText(text, name, &compiler->context())))
    return 1;
  if (looksLikeStablehlo(text))
    op = readStablehlo(compiler, *source, text, name);
  else
    op = parseSourceString<ModuleOp>(text, ParserConfig(&compiler->context()),
                                     name);
  if (!op)
    return compiler->message.empty() ? compiler->refuse("is no program", name)
                                     : 1;
  *out = new weft_module{compiler, std::move(op), Stage::imported, {}};
  return 0;
}

int weft_module_clone(weft_module *module, weft_module **out) {
  module->compiler->begin();
  *out =
      new weft_module{module->compiler, module->op->clone(), module->stage, {}};
  return 0;
}

void weft_module_free(weft_module *module) { delete module; }

const char *weft_module_stage(const weft_module *module) {
  return weft_stage_name(size_t(module->stage));
}

int weft_module_set_stage(weft_module *module, const char *name) {
  module->compiler->begin();
  std::optional<Stage> stage = stageOf(module->compiler, name);
  if (!stage)
    return 1;
  module->stage = *stage;
  module->values.reset();
  return 0;
}

/// A copy of the module at that stage; null after an error.
static OwningOpRef<ModuleOp> copyAt(weft_module *module, Stage to,
                                    const CompileOptions &options) {
  if (std::string why = invalidOrder(module->stage, to); !why.empty()) {
    module->compiler->refuse(why);
    return {};
  }
  OwningOpRef<ModuleOp> copy = module->op->clone();
  if (failed(runStages(*copy, options, to)))
    return {};
  return copy;
}

int weft_module_reach(weft_module *module, const char *stage,
                      const weft_compile_options *options) {
  module->compiler->begin();
  std::optional<Stage> to = stageOf(module->compiler, stage);
  std::optional<CompileOptions> chosen = optionsOf(module, options);
  if (!to || !chosen)
    return 1;
  OwningOpRef<ModuleOp> reached = copyAt(module, *to, *chosen);
  if (!reached)
    return 1;
  module->become(std::move(reached), *to);
  return 0;
}

int weft_module_run_passes(weft_module *module, const char *pipeline) {
  weft_compiler *compiler = module->compiler;
  compiler->begin();
  std::string why;
  llvm::raw_string_ostream errors(why);
  FailureOr<OpPassManager> parsed =
      parsePassPipeline(pipeline ? pipeline : "", errors);
  if (failed(parsed))
    return compiler->refuse("the passes '" +
                            std::string(pipeline ? pipeline : "") +
                            "': " + StringRef(why).split('\n').first.str());
  if (parsed->getOpAnchorName() != ModuleOp::getOperationName())
    return compiler->refuse(
        "the passes '" + std::string(pipeline) + "' are for '" +
        parsed->getOpAnchorName().str() +
        "', a program is a module; write builtin.module(...) around them");
  PassManager passes(&compiler->context());
  static_cast<OpPassManager &>(passes) = std::move(*parsed);
  OwningOpRef<ModuleOp> copy = module->op->clone();
  if (failed(passes.run(*copy)))
    return compiler->message.empty() ? compiler->refuse("a pass failed") : 1;
  module->become(std::move(copy), module->stage);
  return 0;
}

int weft_module_print(weft_module *module, weft_text *out) {
  module->compiler->begin();
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->op->print(stream);
  return capi::give(module->compiler, text, out);
}

static int giveJson(weft_module *module, const llvm::json::Value &value,
                    weft_text *out) {
  return capi::give(module->compiler, llvm::formatv("{0:2}", value).str(), out);
}

int weft_module_explain(weft_module *module,
                        const weft_compile_options *options, weft_text *out) {
  module->compiler->begin();
  std::optional<CompileOptions> chosen = optionsOf(module, options);
  if (!chosen)
    return 1;
  Progress progress;
  chosen->progress = &progress;
  OwningOpRef<ModuleOp> plan = copyAt(module, Stage::plan, *chosen);
  if (!plan)
    return 1;
  if (plan->getOps<plan::ProgramOp>().empty())
    return module->compiler->refuse("expected one public function, found 0");
  Explanation explanation = explainProgram(*plan);
  chosen->findFixes(explanation, progress.scheduled);
  return giveJson(module, toJson(explanation), out);
}

int weft_module_why(weft_module *module, const char *name, weft_text *out) {
  weft_compiler *compiler = module->compiler;
  compiler->begin();
  if (module->stage > Stage::differentiated)
    return compiler->refuse("the module is at stage '" + nameOf(module->stage) +
                            "', layouts are explained from 'imported' or "
                            "'differentiated'; ask a clone made before");
  std::optional<CompileOptions> chosen = optionsOf(module, nullptr);
  OwningOpRef<ModuleOp> copy = copyAt(module, Stage::differentiated, *chosen);
  if (!copy)
    return 1;
  std::set<std::string> names;
  std::string wanted = name ? name : "";
  std::vector<WhyLayout> values =
      whyLayouts(*copy, wanted, chosen->target, names);
  if (!values.empty())
    return giveJson(module, toJson(values), out);
  return compiler->refuse("no tensor is called '" + wanted + "'; " +
                          suggestion(wanted, names,
                                     "name an argument, a result, an op's "
                                     "location or a line"));
}

int weft_module_compile(weft_module *module,
                        const weft_compile_options *options, weft_text *out) {
  module->compiler->begin();
  std::optional<CompileOptions> chosen = optionsOf(module, options);
  if (!chosen)
    return 1;
  OwningOpRef<ModuleOp> copy = module->op->clone();
  auto image = compileProgram(*copy, *chosen);
  if (failed(image))
    return 1;
  return capi::give(
      module->compiler,
      StringRef(reinterpret_cast<const char *>(image->data()), image->size()),
      out);
}
