//===- StepCompiler.cpp - a model's steps as programs ---------------------===//

#include "weft/tools/weft/compiler/StepCompiler.h"
#include "weft/tools/weft/compiler/CompilerMemory.h"
#include "weft/tools/weft/compiler/DistributionFlags.h"

#include "weft/base/ClosestName.h"
#include "weft/compiler/codegen/CodeCache.h"
#include "weft/compiler/codegen/KernelCodegen.h"
#include "weft/compiler/frontends/keras/import/Import.h"
#include "weft/passes/training/Passes.h"
#include "weft/tools/keras/SavedModel.h"
#include "weft/tools/weft/compiler/DescribePorts.h"
#include "weft/tools/weft/compiler/FindNonFinite.h"
#include "weft/tools/weft/compiler/FixBar.h"
#include "weft/tools/weft/compiler/ForeignProgram.h"
#include "weft/tools/weft/compiler/ModelFile.h"
#include "weft/tools/weft/compiler/StageCuts.h"
#include "weft/tools/weft/compiler/UnknownDialect.h"
#include "weft/tools/weft/compiler/VerifyStages.h"
#include "weft/tools/weft/programs/Gpus.h"
#include "weft/tools/weft/training/SavedWeights.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <random>

using namespace mlir;
using namespace weft;
using namespace weft::tool;

Result<std::string> weft::tool::readTextFile(const std::string &path) {
  auto bytes = readFile(path);
  if (!bytes)
    return bytes.error();
  return std::string(bytes->begin(), bytes->end());
}

Result<std::string> weft::tool::readJsonFile(const std::string &path) {
  auto size = regularFileSize(path);
  uint64_t most = ReadLimits().json;
  if (size && *size > most)
    return Error{path + ": has " + std::to_string(*size) +
                 " bytes, the limit for JSON is " + std::to_string(most) +
                 "; write it again"};
  return readTextFile(path);
}

/// Parses NAME=16x128 or 16x128.
static bool parseShapeFlag(llvm::StringRef text, keras::ModelOptions &options) {
  auto [name, dims] =
      text.contains('=') ? text.split('=') : std::pair("", text);
  std::vector<int64_t> shape;
  llvm::SmallVector<llvm::StringRef> parts;
  dims.split(parts, 'x');
  for (llvm::StringRef part : parts) {
    int64_t size = 0;
    if (part.getAsInteger(10, size) || size < 1)
      return false;
    shape.push_back(size);
  }
  options.inputShapes[name.str()] = shape;
  return true;
}

/// Splits acc,{"class_name": "BinaryAccuracy", "config": {"threshold": 0.4}} at
/// commas between entries, not inside an object or a list.
static std::vector<std::string> splitMetrics(llvm::StringRef text) {
  std::vector<std::string> out(1);
  int depth = 0;
  for (char c : text) {
    depth += (c == '{' || c == '[') - (c == '}' || c == ']');
    if (c == ',' && depth == 0)
      out.emplace_back();
    else
      out.back() += c;
  }
  std::erase(out, "");
  return out;
}

/// The error of a model that Weft's reader refuses. If the reason is a layer or
/// field that only Keras knows, prints how Keras runs it.
static Error refusedModel(const std::string &file, const std::string &error) {
  bool isKnownToKeras = error.find("not supported") != error.npos ||
                        error.find("unknown field") != error.npos;
  if (!isKnownToKeras)
    return Error{file + ": " + error};
  fail(file + ": " + error);
  note("Keras runs any of its models on Weft, in two ways: python -m "
       "weft.trace " +
       file +
       " -o step.mlir, then weft fit step.mlir; or its script as it "
       "is, with JAX_PLATFORMS=weft (docs/keras-trace.md)");
  return Error{};
}

/// Checks that each --shape names an input of the model.
Status StepCompiler::checkShapeNames(const keras::ModelOptions &options) const {
  std::set<std::string> known;
  for (unsigned node : kerasModel.inputs)
    known.insert(kerasModel.layerOf(node).name);
  for (const auto &[name, shape] : options.inputShapes)
    if (!name.empty() && !known.contains(name))
      return Error{"--shape " + name + "=...: " + flags.model +
                   " has no input " + name + "; " +
                   suggestion(name, known, "its inputs are " + listOf(known))};
  return {};
}

/// Reads the model of the file. Sizes that it leaves open count as the first of
/// `openSizes` with which the model can be read.
Status StepCompiler::readModel(const ModelFile &file,
                               keras::ModelOptions &options) {
  Result<keras::Model> model = Error{};
  std::vector<std::optional<int64_t>> openSizes(flags.openSizes.begin(),
                                                flags.openSizes.end());
  if (openSizes.empty())
    openSizes.push_back(std::nullopt);
  for (size_t i = 0; i < openSizes.size() && !model; ++i) {
    options.openSize = openSizes[i];
    model = tool::readModel(file, options);
  }
  if (!model)
    return refusedModel(flags.model, model.message());
  kerasModel = std::move(*model);
  for (const std::string &input : kerasModel.openInputs)
    if (flags.openSizes.size() > 1)
      note(flags.model + ": sizes that the input " + input +
           " leaves open count as " + std::to_string(*options.openSize) +
           "; give others with --shape " + input + "=...");
  return checkShapeNames(options);
}

Status StepCompiler::readModelFile() {
  auto file = openModelFile(flags.model);
  if (!file)
    return file.error();
  keras::ModelOptions options;
  options.optimizer = flags.optimizer;
  options.loss = flags.loss;
  options.learningRate = flags.learningRate;
  if (flags.metrics)
    options.metrics = splitMetrics(*flags.metrics);
  for (const std::string &shape : flags.shapes)
    parseShapeFlag(shape, options);
  options.shapesOfData = flags.shapesOfData;
  if (Status read = readModel(*file, options); !read)
    return read;
  for (const std::string &text : kerasModel.warnings)
    warn(flags.model + ": " + text);
  auto values = valuesOf(*file, kerasModel, flags.model);
  if (!values)
    return values.error();
  weights = std::move(*values);
  // A rate of the command line overrides the file's.
  if (flags.learningRate && kerasModel.optimizer)
    std::erase_if(weights, [&](const StoredArray &array) {
      return array.name == kerasModel.optimizer->ratePath();
    });
  seedValue = flags.seed ? *flags.seed : std::random_device{}();
  keras::drawSeeds(kerasModel, seedValue);
  return {};
}

Status StepCompiler::readDistributionFile() {
  auto named = readDistributionFlags(flags, usedDevices);
  if (!named)
    return named.error();
  if (*named) {
    layouts = std::move(**named);
    return checkRules();
  }
  if (usedDevices.count > 1) {
    warn(std::to_string(usedDevices.count) +
         " devices but no distribution: only the first is used; "
         "--data-parallel splits each batch over all");
    usedDevices.count = 1;
  }
  return {};
}

/// Chooses the stages of a pipeline by the cost of the step on one stage; without
/// training, by that of predictions.
Status StepCompiler::cutPipeline() {
  keras::Distribution one = onOneStage(layouts);
  if (auto valid = keras::resolveLayouts(one, kerasModel); !valid)
    return refusedLayouts(flags, valid.message());
  bool isTrained = kerasModel.compileRefusal.empty() && kerasModel.optimizer;
  int64_t batch = flags.batchSizes.empty()
                      ? flags.batchSize
                      : *llvm::max_element(flags.batchSizes);
  auto importCalls = [&]() -> Result<Module> {
    auto module = import(isTrained ? "train" : "predict", batch, &one,
                         /*namesCalls=*/true);
    if (module)
      (**module)->setAttr(
          kMicrobatchesAttr,
          Builder(**module).getI64IntegerAttr(layouts.pipeline->microbatches));
    return module;
  };
  CompileOptions options = this->options();
  CutOptions wanted{options.target, batch, double(options.memory)};
  options.memory = 0;
  auto priced = Compilation{flags.model, importCalls, std::move(options)}.reach(
      Stage::partitioned);
  if (!priced)
    return priced.error();
  Status cut = cutStages(**priced, kerasModel, wanted, layouts);
  return cut ? cut : cut.error().in(flags.distribution);
}

/// Checks that layouts fit the model while errors can still name the file.
Status StepCompiler::checkRules() {
  if (layouts.pipeline && layouts.pipeline->isAuto)
    if (Status cut = cutPipeline(); !cut)
      return cut;
  auto found = keras::resolveLayouts(layouts, kerasModel);
  if (!found)
    return refusedLayouts(flags, found.message());
  if (flags.microbatches > 1 && layouts.pipeline)
    return Error{"--microbatches " + std::to_string(flags.microbatches) + ": " +
                 flags.distribution + " has a \"pipeline\" with " +
                 std::to_string(layouts.pipeline->microbatches) +
                 " microbatches; leave out the flag"};
  resolved = std::move(*found);
  warnOfDeadRules(flags, resolved->rules);
  return {};
}

Session::Report weft::tool::printed(const std::string &input, bool namesOps) {
  return [=](Diagnostic &diagnostic) {
    std::string place = input;
    if (auto file = dyn_cast<FileLineColLoc>(diagnostic.getLocation()))
      place = (file.getFilename().getValue() + ":" + Twine(file.getLine()) +
               ":" + Twine(file.getColumn()))
                  .str();
    else if (auto op = dyn_cast<NameLoc>(diagnostic.getLocation());
             op && namesOps)
      place += ": " + op.getName().str();
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      fail(place + ": " + textOf(diagnostic));
    else if (diagnostic.getSeverity() == DiagnosticSeverity::Warning)
      warn(place + ": " + diagnostic.str());
  };
}

Result<std::unique_ptr<StepCompiler>>
StepCompiler::open(const ModelFlags &flags) {
  std::unique_ptr<StepCompiler> steps(new StepCompiler());
  steps->flags = flags;
  if (Status read = steps->readModelFile(); !read)
    return read.error();
  if (Status read = steps->readDistributionFile(); !read)
    return read.error();
  return steps;
}

/// The target of --target or, without it, of the devices, for which WEFT_TARGET
/// may choose one. cuda:native is kept if no GPU is found: `why` has the
/// reason.
static std::string targetOf(const ModelFlags &flags, std::string &why) {
  if (flags.target == "cuda:native") {
    Result<std::string> native = nativeGpuTarget();
    if (!native)
      why = inFlags(native.error().message);
    return native ? *native : flags.target;
  }
  bool isOnGpus = flags.devices && flags.devices->kind == DeviceKind::Cuda;
  bool isDefault = flags.target == defaultTarget() &&
                   !StringRef(flags.target).starts_with("cuda:");
  return isDefault && isOnGpus ? "cuda:sm_80" : flags.target;
}

/// Checks that code for --target runs on the devices of --devices.
static Status checkTarget(const ModelFlags &flags) {
  std::string error, target = targetOf(flags, error);
  if (!error.empty())
    error = target + ": " + error;
  else if (!openCodegen(target, error) && StringRef(error).contains(", cuda:"))
    error += ", cuda:native";
  if (!error.empty())
    return Error{
        (flags.target == defaultTarget() ? "WEFT_TARGET: " : "--target: ") +
        error};
  bool isForGpus = StringRef(target).starts_with("cuda:");
  if (!flags.collectives.empty() && !isForGpus)
    return Error{"--collectives: the devices are CPUs, whose collectives have "
                 "one way; leave it out, or use cuda:N"};
  if (!flags.devices || isForGpus == (flags.devices->kind == DeviceKind::Cuda))
    return {};
  return Error{"--target " + target + " makes no code for --devices " +
               flags.devices->text() + "; use --devices " +
               (isForGpus ? "cuda" : "cpu") + ":" +
               std::to_string(flags.devices->count) + ", or another target"};
}

/// Checks that a batch of --batch-size has a sample for each microbatch.
static Status checkMicrobatches(const ModelFlags &flags) {
  int64_t batch = flags.batchSizes.empty()
                      ? flags.batchSize
                      : *llvm::max_element(flags.batchSizes);
  if (flags.microbatches <= batch || namesForeignProgram(flags.model))
    return {};
  return Error{"--microbatches " + std::to_string(flags.microbatches) +
               ": a batch has " + std::to_string(batch) +
               " samples; use at most as many microbatches, or a larger "
               "--batch-size"};
}

Status weft::tool::checkFlags(const ModelFlags &flags) {
  if (Status known = checkTarget(flags); !known)
    return known;
  if (!flags.memory.empty() && parseQuantity(flags.memory).value_or(0) < 1)
    return Error{"--memory " + flags.memory +
                 ": no number of bytes; write it as 67108864 or 64MiB"};
  if (Status fits = checkMicrobatches(flags); !fits)
    return fits;
  std::string error;
  for (const std::string &budget : flags.expect)
    if (!parseBudget(budget, error))
      return Error{"--expect: the budget \"" + budget + "\": " + error};
  keras::ModelOptions ignored;
  for (const std::string &shape : flags.shapes)
    if (!parseShapeFlag(shape, ignored))
      return Error{"--shape " + shape +
                   ": not NAME=SIZExSIZE; write, for example, --shape x=28x28"};
  return {};
}

CompileOptions weft::tool::compileOptions(const ModelFlags &flags) {
  CompileOptions result;
  std::string ignored; // checkFlags() has returned it
  result.target = targetOf(flags, ignored);
  result.matmulPrecision = flags.matmulPrecision;
  result.timing = flags.timing;
  result.cacheDirectory = codeCacheFolder();
  result.memory = wholeQuantity(parseQuantity(flags.memory).value_or(0));
  result.microbatches = flags.microbatches;
  result.overlap = flags.overlap;
  result.rings = flags.rings;
  result.allowMicrobatchStatistics = flags.allowMicrobatchStatistics;
  result.fixLimits = fixLimits(flags);
  return result;
}

/// Notes on the module what the passes that divide the batch read there.
static void notePipeline(ModuleOp module, const keras::Distribution &layouts) {
  const keras::Pipeline &its = *layouts.pipeline;
  OpBuilder builder(module);
  SmallVector<StringRef> lists(its.lists.begin(), its.lists.end());
  Attribute schedule = builder.getStringAttr(its.schedule);
  if (!lists.empty())
    schedule = builder.getStrArrayAttr(lists);
  StringRef axis = layouts.mesh.axes[its.axis].name;
  module->setAttr(kMicrobatchesAttr,
                  builder.getI64IntegerAttr(its.microbatches));
  SmallVector<NamedAttribute> entries = {
      builder.getNamedAttr("axis", builder.getStringAttr(axis)),
      builder.getNamedAttr("schedule", schedule)};
  if (its.chunks() > 1 && lists.empty())
    entries.push_back(builder.getNamedAttr(
        "chunks", builder.getI64IntegerAttr(its.chunks())));
  module->setAttr(kPipelineAttr, builder.getDictionaryAttr(entries));
}

Result<Module> StepCompiler::import(const std::string &step,
                                    int64_t batchSize) {
  return import(step, batchSize, distribution());
}

Result<Module> StepCompiler::import(const std::string &step, int64_t batchSize,
                                    const keras::Distribution *layouts,
                                    bool namesCalls) {
  std::optional<StepKind> kind = stepKindNamed(step);
  if (!kind)
    return Error{"--step " + step + ": use train, evaluate or predict"};
  if (*kind != StepKind::Predict && !kerasModel.compileRefusal.empty())
    return refusedModel(flags.model, kerasModel.compileRefusal);
  keras::ImportOptions importOptions;
  importOptions.batchSize = batchSize;
  importOptions.sampleWeights = sampleWeights;
  importOptions.namesCalls = namesCalls;
  auto module = keras::importStep(&liveSession().context(), kerasModel, layouts,
                                  *kind, importOptions);
  if (failed(module))
    return Error{};
  if (layouts && layouts->pipeline)
    notePipeline(**module, *layouts);
  return std::move(*module);
}

Session &StepCompiler::liveSession() {
  if (!session)
    session = std::make_unique<Session>(printed(flags.model));
  return *session;
}

Compilation StepCompiler::compilation(const std::string &step,
                                      int64_t batchSize) {
  Compilation out{flags.model, [=, this] { return import(step, batchSize); },
                  options()};
  out.scheduled = &scheduled;
  if (step != flags.step || batchSize != flags.batchSize)
    return out;
  out.options.expect = flags.expect;
  out.options.findFixes = [=, this](Explanation &explanation,
                                    const std::optional<Explanation> &costs) {
    findFixes(explanation, costs, step, batchSize);
  };
  return out;
}

Result<std::vector<uint8_t>> StepCompiler::compile(const std::string &step,
                                                   int64_t batchSize) {
  auto image = compilation(step, batchSize).compile([&](ModuleOp module) {
    func::FuncOp function = *module.getOps<func::FuncOp>().begin();
    describePorts(function, kerasModel, weights);
    noteSource(function, hashOfText(settings()));
  });
  if (!image)
    return image;
  session = nullptr;
  releaseCompilerMemory();
  return image;
}

Status StepCompiler::saveModel(const std::string &path, const std::string &,
                               const ModelState &state, bool writesFile) const {
  return keras::saveModel(path, kerasModel, state.stored(), writesFile);
}

Status StepCompiler::saveWeights(const std::string &path,
                                 const ModelState &state, uint64_t mostBytes,
                                 bool writesFile) const {
  return keras::saveModelWeights(path, kerasModel, state.stored(), mostBytes,
                                 writesFile);
}

Result<std::string>
StepCompiler::findNonFinite(const std::string &step, int64_t batchSize,
                            const std::vector<NamedArray> &inputs) {
  Result<Module> module = reach(step, batchSize, Stage::differentiated);
  return module ? tool::findNonFinite(**module, inputs) : module.error();
}

Status StepCompiler::verify(const std::string &step, int64_t batchSize) {
  return verifyStages(
      [&](Stage stage) { return reach(step, batchSize, stage); }, seed());
}
