//===- ForeignProgram.cpp - a program that is no Keras model --------------===//

#include "weft/tools/weft/compiler/ForeignProgram.h"

#include "weft/base/ClosestName.h"
#include "weft/compiler/driver/AnnotationFixes.h"
#include "weft/compiler/frontends/keras/distribution/PortLayouts.h"
#include "weft/compiler/frontends/stablehlo/Import.h"
#include "weft/dialects/weft/Ports.h"
#include "weft/passes/planning/Passes.h"
#include "weft/passes/training/Passes.h"
#include "weft/tools/weft/artifact/ReadArtifact.h"
#include "weft/tools/weft/compiler/CompilerMemory.h"
#include "weft/tools/weft/compiler/DescribePorts.h"
#include "weft/tools/weft/compiler/DistributionFlags.h"
#include "weft/tools/weft/compiler/ReadIr.h"
#include "weft/tools/weft/compiler/StepCompiler.h"

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

/// Whether this is Weft's own text; JAX's custom calls may name weft, too.
static bool looksLikeIr(llvm::StringRef text) {
  return text.contains("weft.") && !text.contains("stablehlo.") &&
         !stablehlo::isArtifact(text);
}

/// Checks that annotations of Weft have names that are known: those of
/// docs/annotations.md, which a person may write.
static Status checkAnnotations(ModuleOp module, const std::string &file,
                               bool isIr) {
  static const std::set<std::string> known = {kNameAttr.str(),
                                              kRoleAttr.str(),
                                              kLayoutAttr.str(),
                                              kReasonAttr.str(),
                                              kDonatedAttr.str(),
                                              kFactsAttr.str(),
                                              kMeshAttr.str(),
                                              kMemoryAttr.str(),
                                              kExpectAttr.str(),
                                              "weft.open",
                                              "weft.replicated",
                                              "weft.priority",
                                              "weft.group",
                                              "weft.step",
                                              "weft.batch",
                                              kFullPortsAttr.str(),
                                              kMicrobatchesAttr.str(),
                                              kPipelineAttr.str(),
                                              kMicrobatchStatisticsAttr.str()};
  std::string unknown;
  auto check = [&](NamedAttribute attribute) {
    std::string name = attribute.getName().str();
    // StableHLO's reader has a better message for an older weft.trace.
    bool isOlder = !isIr && name == "weft.metadata";
    if (name.starts_with("weft.") && !known.contains(name) && !isOlder)
      unknown = name;
  };
  llvm::for_each(module->getDiscardableAttrs(), check);
  for (auto function : module.getOps<FunctionOpInterface>()) {
    llvm::for_each(function->getDiscardableAttrs(), check);
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      llvm::for_each(function.getArgAttrs(i), check);
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      llvm::for_each(function.getResultAttrs(i), check);
  }
  if (unknown.empty())
    return {};
  return Error{file + ": unknown annotation " + unknown + "; " +
               suggestion(unknown, known, "docs/annotations.md lists them")};
}

Result<std::unique_ptr<ForeignProgram>>
ForeignProgram::open(const ModelFlags &flags, bool warns) {
  std::unique_ptr<ForeignProgram> self(new ForeignProgram());
  self->flags = flags;
  self->devices = flags.devices ? flags.devices->count : 0;
  auto bytes = readTextFile(flags.model);
  if (!bytes)
    return bytes.error();
  self->session = std::make_unique<Session>(
      printed(flags.model, /*namesOps=*/true),
      ArrayRef<Session::Register>{stablehlo::registerDialects});
  self->isIr = looksLikeIr(*bytes);
  if (Status read = self->isIr ? self->readIr(*bytes)
                               : self->readStablehlo(std::move(*bytes));
      !read)
    return read.error();
  if (Status known = checkAnnotations(*self->program, flags.model, self->isIr);
      !known)
    return known.error();
  if (Status fits = self->checkModelFlags(); !fits)
    return fits.error();
  if (self->functions.empty())
    return self;
  std::optional<int64_t> batch;
  if (flags.namesBatchSize)
    batch = flags.batchSize;
  const std::string &step =
      flags.namesStep ? flags.step : self->functions.front().kind;
  if (Status known = self->choose(step, batch); !known)
    return known.error();
  if (Status read = self->readDistribution(warns); !read)
    return read.error();
  return self;
}

Status ForeignProgram::readDistribution(bool warns) {
  DeviceList named;
  auto read = readDistributionFlags(flags, named);
  if (!read)
    return read.error();
  distribution = std::move(*read);
  if (!distribution)
    return {};
  auto module = importLaidOut(warns);
  return module ? Status() : Status(module.error());
}

Status ForeignProgram::checkModelFlags() const {
  const char *ofSteps = flags.namesBatchSize ? "--batch-size"
                        : flags.namesStep    ? "--step"
                                             : nullptr;
  if (ofSteps && functions.empty())
    return Error{flags.model +
                 ": is a program of its own, and has no steps; leave out " +
                 ofSteps};
  ModelFlags others = flags;
  if (!functions.empty()) // a traced model's layouts may differ
    others.distribution.clear(), others.dataParallel = false;
  const char *flag = flagOfModels(others);
  if (flag && functions.empty())
    return Error{std::string(flag) + " has no effect on " + flags.model +
                 ", which has its shapes and layouts; leave it out"};
  if (flag)
    return Error{std::string(flag) + " has no effect on " + flags.model +
                 ", a model that was traced with its shapes and its loss; "
                 "trace it again: python -m weft.trace --help"};
  return {};
}

Result<std::string>
weft::tool::functionOf(const std::vector<stablehlo::StepFunction> &steps,
                       const std::string &file, const std::string &step,
                       std::optional<int64_t> batchSize) {
  std::string has;
  for (const stablehlo::StepFunction &function : steps) {
    if (function.kind == step &&
        batchSize.value_or(function.batch) == function.batch)
      return function.name;
    has += (has.empty() ? "" : ", ") + function.kind + " of " +
           std::to_string(function.batch);
  }
  std::string wanted =
      batchSize ? " of " + std::to_string(*batchSize) + " samples" : "";
  return Error{file + ": has no " + step + " step" + wanted + ", but " + has +
               "; trace the model with --batch-size for each size of a batch, "
               "that of a short last one included"};
}

Status ForeignProgram::choose(const std::string &step,
                              std::optional<int64_t> batchSize) {
  auto function = functionOf(functions, flags.model, step, batchSize);
  if (!function)
    return function.error();
  chosen = *function;
  return {};
}

int64_t ForeignProgram::deviceCount() const {
  return distribution ? distribution->mesh.size()
                      : stablehlo::deviceCount(*program);
}

Status ForeignProgram::readStablehlo(std::string bytes) {
  if (!stablehlo::looksLikeProgram(bytes))
    return Error{flags.model + ": is no StableHLO program; write it with "
                               "jax.jit(f).lower(...).as_text(), or say with "
                               "--from at which stage IR of Weft is"};
  if (stablehlo::isArtifact(bytes)) {
    auto text = artifactText(bytes, flags.model);
    if (!text)
      return text.error();
    bytes = std::move(*text);
  }
  program = stablehlo::read(bytes, flags.model, &session->context());
  if (!program)
    return Error{};
  auto found = stablehlo::stepFunctions(*program);
  functions.assign(found.begin(), found.end());
  return {};
}

/// Reads Weft's text, whose mesh determines the number of devices.
Status ForeignProgram::readIr(const std::string &text) {
  program = parseIr(text, flags.model, session->context());
  if (!program)
    return Error{};
  auto mesh = program.get()->getAttrOfType<MeshAttr>(kMeshAttr);
  int64_t size = mesh ? mesh.getMesh().size() : 1;
  if (devices && devices != size)
    return Error{"--devices " + flags.devices->text() + ": the mesh of " +
                 flags.model + " has " + std::to_string(size) +
                 "; leave the flag out, or change weft.mesh"};
  return {};
}

/// The module, or an error whose diagnostic was printed.
static Result<Module> imported(Module module) {
  if (!module)
    return Error{};
  return module;
}

Result<Module> ForeignProgram::import() {
  if (isIr)
    return Module(program->clone());
  if (distribution)
    return importLaidOut();
  stablehlo::ImportOptions options;
  options.devices = devices;
  options.function = chosen;
  return imported(stablehlo::import(*program, options));
}

Result<Module> ForeignProgram::importLaidOut(bool warns) {
  stablehlo::ImportOptions options;
  options.devices = 1; // ignores the file's own shardings
  options.function = chosen;
  Module module = stablehlo::import(*program, options);
  if (!module)
    return Error{};
  auto rules = keras::layOutPorts(module->lookupSymbol<func::FuncOp>(chosen),
                                  *distribution);
  if (!rules)
    return refusedLayouts(flags, rules.message());
  if (warns)
    warnOfDeadRules(flags, *rules);
  return module;
}

Compilation ForeignProgram::compilation() {
  Compilation out{flags.model, [this] { return import(); },
                  compileOptions(flags), isIr, &scheduled};
  out.options.expect = flags.expect;
  out.options.findFixes = [this](Explanation &explanation,
                                 const std::optional<Explanation> &costs) {
    findFixes(explanation, costs);
  };
  return out;
}

void ForeignProgram::findFixes(Explanation &explanation,
                               const std::optional<Explanation> &costs) {
  if (auto original = import())
    findAnnotationFixes(explanation, costs, **original, compileOptions(flags));
}

Result<std::vector<uint8_t>> ForeignProgram::compile() {
  return compilation().compile([&](ModuleOp module) {
    if (!functions.empty())
      noteSource(module.lookupSymbol<func::FuncOp>(chosen),
                 hashOfFile(flags.model));
  });
}

int weft::tool::compileForeignProgram(const ModelFlags &flags,
                                      std::vector<uint8_t> &image) {
  if (Status valid = checkFlags(flags); !valid) // WEFT_TARGET
    return fail(valid.error());
  auto program = ForeignProgram::open(flags);
  if (!program)
    return fail(program.error());
  auto compiled = (*program)->compile();
  if (!compiled)
    return fail(compiled.error());
  image = std::move(*compiled);
  *program = nullptr;
  releaseCompilerMemory();
  return 0;
}
