//===- Ports.cpp - arguments and results of a step ------------------------===//

#include "weft/compiler/frontends/keras/import/Ports.h"

#include "weft/dialects/weft/PortFactsAttr.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

LogicalResult StepPorts::annotate(const Distribution *given) {
  if (!given)
    return success();
  Result<ResolvedLayouts> resolved = resolveLayouts(*given, model);
  if (!resolved)
    return emitError(builder.getUnknownLoc()) << resolved.message();
  distribution = given;
  layouts = std::move(*resolved);
  mesh = MeshAttr::get(builder.getContext(), given->mesh);
  return success();
}

OwningOpRef<ModuleOp> StepPorts::createModule() {
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
  if (mesh)
    module.get()->setAttr(kMeshAttr, mesh);
  builder.setInsertionPointToEnd(module->getBody());
  return module;
}

LayerLayouts StepPorts::layerLayouts() const {
  static const OutputLayouts none;
  const bool named = options.namesCalls;
  return layouts ? LayerLayouts{layouts->outputs,
                                layouts->places,
                                layouts->callPlaces,
                                mesh,
                                distribution->pipeline.has_value(),
                                named}
                 : LayerLayouts{none, {}, {}, mesh, false, named};
}

RankedTensorType StepPorts::batched(ArrayRef<int64_t> sample,
                                    Type element) const {
  SmallVector<int64_t> shape = {options.batchSize};
  shape.append(sample.begin(), sample.end());
  return RankedTensorType::get(shape, element);
}

const ResolvedLayout *StepPorts::layoutOf(const std::string &path,
                                          int64_t rank) {
  if (!layouts)
    return nullptr;
  if (auto found = layouts->variables.find(path);
      found != layouts->variables.end())
    return &found->second;
  auto [entry, added] = replicated.try_emplace(rank);
  if (added)
    entry->second = {Layout::replicated(rank), "no rule matches"};
  return &entry->second;
}

/// The layout of labels or their weights. In a pipeline they are where the output
/// is.
const ResolvedLayout *StepPorts::batchLayoutOf(ArrayRef<int64_t> sample,
                                               unsigned output) {
  if (!layouts)
    return nullptr;
  std::vector<int64_t> shape{options.batchSize};
  shape.insert(shape.end(), sample.begin(), sample.end());
  MeshPart part;
  if (distribution->pipeline)
    part = layouts->callPlaces[model.outputs[output]].part;
  auto [entry, added] = ofBatch.try_emplace({shape, part});
  if (added) {
    entry->second = batchLayout(*distribution, shape);
    entry->second.layout = onPart(entry->second.layout, part);
  }
  return &entry->second;
}

/// Whether the step has an argument for the variable.
static bool takes(StepKind step, const Variable &variable) {
  return step == StepKind::Train || !variable.isSeedState() ||
         variable.isDrawnAlways;
}

void StepPorts::addVariables() {
  std::map<std::string, std::string> averages;
  const std::vector<unsigned> trained = model.trained();
  if (step == StepKind::Train)
    for (const OptimizerVariable &variable : model.optimizerVariables())
      if (variable.use == SlotUse::Average)
        averages[model.variables[trained[variable.weight]].path] =
            variable.path;
  for (const Variable &variable : model.variables) {
    bool isRandom = variable.isSeedState();
    if (!takes(step, variable))
      continue;
    Type element = isRandom ? Type(builder.getIntegerType(32, false))
                            : typeOf(builder, variable.dtype);
    PortFacts facts = variableFacts(variable);
    // fit copies the average to the weight (ModelState::takeAverages).
    if (auto average = averages.find(variable.path); average != averages.end())
      facts.average = average->second;
    add(variable.path, variable.isUpdated ? Role::State : Role::Weight, facts,
        RankedTensorType::get(variable.shape, element),
        layoutOf(variable.path, variable.shape.size()));
  }
}

void StepPorts::addOptimizer() {
  const std::vector<WeightFacts> weights = model.trainedWeights();
  for (const OptimizerVariable &variable : model.optimizerVariables()) {
    bool isSlot = variable.weight >= 0;
    // A slot with the shape of its weight has the weight's layout.
    bool liesAlike =
        isSlot && weights[variable.weight].shape == ArrayRef(variable.shape);
    const std::string &path =
        liesAlike ? weights[variable.weight].path : variable.path;
    PortFacts facts;
    facts.value = {variable.first};
    facts.rate = variable.rateOf;
    if (liesAlike)
      facts.weight = path;
    add(variable.path, isSlot ? Role::Slot : Role::State, facts,
        RankedTensorType::get(variable.shape, typeOf(builder, variable.dtype)),
        layoutOf(path, variable.shape.size()));
    ++optimizerVariables;
  }
}

void StepPorts::addMetrics() {
  for (const OutputMetric &of : model.metrics)
    for (const MetricVariable &variable :
         of.metric->variables(model.outputShape(of.output))) {
      std::string name = of.name + "/" + variable.name;
      Type element = variable.isInteger ? Type(builder.getI32Type())
                                        : builder.getF32Type();
      PortFacts facts;
      facts.value = {0};
      add(name, Role::MetricState, facts,
          RankedTensorType::get(variable.shape, element),
          layoutOf(name, variable.shape.size()));
      ++metricVariables;
    }
}

void StepPorts::addBatch() {
  for (auto [i, node] : llvm::enumerate(model.inputs)) {
    const std::string &name = model.layerOf(node).name;
    add(portName("x", model.inputNames[i], model.inputs.size()), Role::Input,
        {},
        batched(model.nodes[node].shape,
                typeOf(builder, model.nodes[node].dtype)),
        layouts ? &layouts->inputs[name] : nullptr);
  }
  if (step == StepKind::Predict)
    return;
  for (unsigned output = 0; output < model.outputs.size(); ++output) {
    if (!model.hasLabel(output))
      continue;
    std::vector<int64_t> shape = model.labelShape(output);
    const Loss *loss = model.lossOf(output);
    PortFacts facts;
    facts.padding = loss ? loss->labelPadding() : std::nullopt;
    add(portName("y", model.outputName(output), model.outputs.size()),
        Role::Label, facts,
        batched(shape, model.takesClassNumbers(output)
                           ? Type(builder.getI32Type())
                           : builder.getF32Type()),
        batchLayoutOf(shape, output));
  }
  for (unsigned output = 0;
       options.sampleWeights && output < model.outputs.size(); ++output)
    if (model.hasLabel(output)) {
      const std::string &name = model.outputName(output);
      auto given = options.sampleWeights->find(name);
      if (given == options.sampleWeights->end())
        given = options.sampleWeights->find("");
      std::vector<int64_t> shape;
      if (given != options.sampleWeights->end())
        shape = given->second;
      add(portName("sample_weight", name, model.outputs.size()),
          Role::SampleWeight, {}, batched(shape, builder.getF32Type()),
          batchLayoutOf(shape, output));
    }
}

func::FuncOp StepPorts::createFunction() {
  addVariables();
  if (step == StepKind::Train)
    addOptimizer();
  if (step != StepKind::Predict)
    addMetrics();
  addBatch();
  auto function =
      func::FuncOp::create(builder, builder.getUnknownLoc(), stepName(step),
                           builder.getFunctionType(types, {}));
  builder.setInsertionPointToEnd(function.addEntryBlock());
  return function;
}

StepValues StepPorts::values(func::FuncOp function) const {
  StepValues out;
  auto argument = function.getArguments().begin();
  for (const Variable &variable : model.variables)
    out.variables.push_back(takes(step, variable) ? Value(*argument++)
                                                  : Value());
  for (size_t i = 0; i < optimizerVariables; ++i)
    out.slots.push_back(*argument++);
  for (size_t i = 0; i < metricVariables; ++i)
    out.metrics.push_back(*argument++);
  for (unsigned node : model.inputs) {
    out.batch.inputs.push_back(*argument++);
    // The location names the layer's output, as layout maps do.
    out.batch.inputs.back().setLoc(NameLoc::get(
        builder.getStringAttr(model.layerOf(node).name + "/output")));
  }
  bool isLabelled = step != StepKind::Predict;
  for (auto [list, isThere] :
       {std::pair(&out.batch.labels, isLabelled),
        std::pair(&out.batch.weights, isLabelled && options.sampleWeights)})
    for (unsigned output = 0; output < model.outputs.size(); ++output)
      list->push_back(isThere && model.hasLabel(output) ? Value(*argument++)
                                                        : Value());
  return out;
}

void StepPorts::addState(const StepValues &after, const StepValues &before) {
  size_t port = 0;
  auto addChanged = [&](ArrayRef<Value> now, ArrayRef<Value> then) {
    for (auto [value, old] : llvm::zip_equal(now, then)) {
      if (!old)
        continue; // the step has no such argument
      if (value != old) {
        results.emplace_back(arguments[port], value);
        results.back().first.erase(kFactsAttr);
        arguments[port].append(kDonatedAttr, builder.getI64IntegerAttr(
                                                 int64_t(results.size()) - 1));
      }
      ++port;
    }
  };
  addChanged(after.variables, before.variables);
  addChanged(after.slots, before.slots);
  addChanged(after.metrics, before.metrics);
}

void StepPorts::addMetric(const std::string &name, Value value,
                          const PortFacts &facts) {
  shown.emplace_back(attributesOf("metrics/" + name, Role::Metric, facts,
                                  layoutOf("", tensorType(value).getRank())),
                     value);
}

void StepPorts::addOutput(const std::string &name, Value value) {
  shown.emplace_back(attributesOf(portName("y", name, model.outputs.size()),
                                  Role::Output, {}, nullptr),
                     value);
}

NamedAttrList StepPorts::attributesOf(const std::string &name, Role role,
                                      const PortFacts &facts,
                                      const ResolvedLayout *layout) {
  NamedAttrList list;
  list.append(kNameAttr, builder.getStringAttr(name));
  list.append(kRoleAttr, builder.getStringAttr(roleName(role)));
  if (DictionaryAttr given = factsAttr(builder.getContext(), facts))
    list.append(kFactsAttr, given);
  if (layout) {
    list.append(kLayoutAttr, LayoutAttr::get(mesh, layout->layout));
    list.append(kReasonAttr, builder.getStringAttr(layout->reason));
  }
  return list;
}

void StepPorts::finish(func::FuncOp function) {
  SmallVector<Value> values;
  SmallVector<DictionaryAttr> taken, given;
  llvm::append_range(results, shown);
  for (const auto &[attributes, value] : results) {
    values.push_back(value);
    given.push_back(attributes.getDictionary(builder.getContext()));
  }
  func::ReturnOp::create(builder, builder.getUnknownLoc(), values);
  function.setFunctionType(builder.getFunctionType(
      function.getArgumentTypes(), ValueRange(values).getTypes()));
  for (const NamedAttrList &attributes : arguments)
    taken.push_back(attributes.getDictionary(builder.getContext()));
  function.setAllArgAttrs(taken);
  function.setAllResultAttrs(given);
}
