//===- Import.cpp - a Keras model as a weft module ------------------------===//

#include "weft/compiler/frontends/keras/import/Import.h"
#include "weft/compiler/frontends/keras/import/Forward.h"
#include "weft/compiler/frontends/keras/layers/Call.h"
#include "weft/compiler/frontends/keras/optimizers/Apply.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

namespace {

/// What stands for a value at the public function's border.
struct Port {
  std::string name, role, metadata;
  RankedTensorType type;
  const ResolvedLayout *layout = nullptr;
  std::optional<int64_t> donated = std::nullopt; ///< the result it becomes
};

class StepImporter {
public:
  StepImporter(MLIRContext *context, const Model &model, StepKind step,
               const ImportOptions &options)
      : builder(context), model(model), step(step), options(options),
        unknown(builder.getUnknownLoc()) {}

  LogicalResult prepare(const Distribution *distribution);
  FailureOr<OwningOpRef<ModuleOp>> run();

private:
  void addPorts();
  void addOptimizerPorts();
  void addBatchPorts();
  void addPort(Port port) { ports.push_back(std::move(port)); }
  const ResolvedLayout *layoutOf(const std::string &path, int64_t rank);
  DictionaryAttr attributesOf(const Port &port);
  RankedTensorType batched(ArrayRef<int64_t> sample, Type element) const;

  func::FuncOp createFunction();
  FailureOr<func::FuncOp> createLoss();
  LogicalResult buildTrain();
  LogicalResult buildEvaluate();
  LogicalResult buildPredict();
  FailureOr<ForwardResult> forward(MutableArrayRef<Value> variables,
                                   ArrayRef<Value> inputs, bool training) {
    return buildForward(builder, model, variables, inputs, training,
                        layouts ? layouts->outputs : OutputLayouts(), mesh);
  }
  LogicalResult checkMask(const ForwardResult &result);
  Value totalLoss(Tensors &t, const ForwardResult &result,
                  ArrayRef<Value> variables, Value label, Value weight);
  void updateWeights(SmallVector<Value> gradients);
  void addMetrics(Value loss, Value prediction, Value mask);
  void addResult(Port port, Value value) {
    results.emplace_back(std::move(port), value);
  }
  void finish(func::FuncOp function);
  Tensors at(const std::string &name) {
    return Tensors(builder, NameLoc::get(builder.getStringAttr(name)));
  }
  InFlightDiagnostic refuse() { return emitError(unknown); }

  OpBuilder builder;
  const Model &model;
  StepKind step;
  ImportOptions options;
  Location unknown;
  std::optional<ResolvedLayouts> layouts;
  ResolvedLayout labelLayout, weightLayout;
  std::map<int64_t, ResolvedLayout> replicated;
  MeshAttr mesh;
  OwningOpRef<ModuleOp> module;

  std::vector<OptimizerVariable> optimizerVariables;
  std::vector<Port> ports;
  /// The argument of each variable (null: not needed), then what follows it.
  SmallVector<Value> variables, slots, inputs;
  Value label, sampleWeight;
  bool hasMask = false; ///< does @loss return the mask of the predictions?
  std::vector<std::pair<Port, Value>> results;
};

/// Why the metric cannot be computed from labels of the loss, or empty.
std::string metricReason(const Metric &metric, const Loss &loss) {
  if (metric.takesClassNumbers() == loss.takesClassNumbers())
    return "";
  return "metric \"" + metric.name + "\" wants " +
         (metric.takesClassNumbers()
              ? "class numbers as labels, the loss one value for each "
                "prediction"
              : "one label for each prediction, the loss class numbers") +
         "; use metrics that fit the loss";
}

LogicalResult StepImporter::prepare(const Distribution *distribution) {
  if (options.batchSize < 1)
    return refuse() << "the batch size is " << options.batchSize
                    << "; it must be positive";
  if (step != StepKind::Predict && !model.compileRefusal.empty())
    return refuse() << model.compileRefusal;
  if (step != StepKind::Predict && !model.loss)
    return refuse() << "compile_config: the model has no loss; give it with "
                       "--loss, --optimizer and --metrics";
  if (step == StepKind::Train && !model.optimizer)
    return refuse() << "compile_config: the model has no optimizer; give it "
                       "with --optimizer";
  for (unsigned node : model.outputs)
    if (step != StepKind::Predict && model.nodes[node].dtype == "int32")
      return refuse() << "layer \"" << model.layerOf(node).name
                      << "\": gives integers, which have no loss; predict "
                         "only, or end with a layer that gives float32";
  if (step != StepKind::Predict)
    for (const MetricPtr &metric : model.metrics)
      if (std::string reason = metricReason(*metric, *model.loss);
          !reason.empty())
        return refuse() << "compile_config: " << reason;
  if (!distribution)
    return success();
  Result<ResolvedLayouts> resolved = resolveLayouts(*distribution, model);
  if (!resolved)
    return refuse() << resolved.error;
  layouts = std::move(*resolved);
  mesh = MeshAttr::get(builder.getContext(), distribution->mesh);
  weightLayout = batchLayout(*distribution, 1);
  if (step != StepKind::Predict) {
    int64_t rank = model.nodes[model.outputs[0]].shape.size() + 1;
    rank -= model.loss->takesClassNumbers();
    labelLayout = batchLayout(*distribution, rank);
  }
  return success();
}

RankedTensorType StepImporter::batched(ArrayRef<int64_t> sample,
                                       Type element) const {
  SmallVector<int64_t> shape = {options.batchSize};
  shape.append(sample.begin(), sample.end());
  return RankedTensorType::get(shape, element);
}

const ResolvedLayout *StepImporter::layoutOf(const std::string &path,
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

void StepImporter::addOptimizerPorts() {
  optimizerVariables = model.optimizerVariables();
  for (const OptimizerVariable &variable : optimizerVariables) {
    bool isSlot = variable.weight >= 0;
    Type element = variable.slot == "iteration" ? Type(builder.getI32Type())
                                                : builder.getF32Type();
    SmallVector<int64_t> shape;
    std::string path = variable.path;
    if (isSlot) {
      const Variable &weight = model.variables[variable.weight];
      element = typeOf(builder, weight.dtype);
      shape.assign(weight.shape.begin(), weight.shape.end());
      path = weight.path; // slots lie as their weights
    }
    addPort({variable.path, isSlot ? "slot" : "state",
             constantMetadata(variable.first),
             RankedTensorType::get(shape, element),
             layoutOf(path, shape.size())});
  }
}

void StepImporter::addBatchPorts() {
  for (auto [i, node] : llvm::enumerate(model.inputs)) {
    const std::string &name = model.layerOf(node).name;
    addPort({model.inputs.size() == 1 ? "x" : "x/" + model.inputNames[i],
             "input", "",
             batched(model.nodes[node].shape,
                     typeOf(builder, model.nodes[node].dtype)),
             layouts ? &layouts->inputs[name] : nullptr});
  }
  if (step == StepKind::Predict)
    return;
  ArrayRef<int64_t> shape = model.nodes[model.outputs[0]].shape;
  bool sparse = model.loss->takesClassNumbers();
  addPort({"y", "label", "",
           sparse ? batched(shape.drop_back(), builder.getI32Type())
                  : batched(shape, builder.getF32Type()),
           layouts ? &labelLayout : nullptr});
  if (options.sampleWeight)
    addPort({"sample_weight", "sample_weight", "",
             batched({}, builder.getF32Type()),
             layouts ? &weightLayout : nullptr});
}

void StepImporter::addPorts() {
  for (const Variable &variable : model.variables) {
    bool isRandom = variable.isSeedState();
    if (isRandom && step != StepKind::Train)
      continue;
    Type element = isRandom ? Type(builder.getIntegerType(32, false))
                            : typeOf(builder, variable.dtype);
    addPort({variable.path, variable.isUpdated ? "state" : "weight",
             variableMetadata(variable),
             RankedTensorType::get(variable.shape, element),
             layoutOf(variable.path, variable.shape.size())});
  }
  if (step == StepKind::Train)
    addOptimizerPorts();
  addBatchPorts();
}

DictionaryAttr StepImporter::attributesOf(const Port &port) {
  NamedAttrList list;
  list.append(kNameAttr, builder.getStringAttr(port.name));
  list.append(kRoleAttr, builder.getStringAttr(port.role));
  if (port.donated)
    list.append(kDonatedAttr, builder.getI64IntegerAttr(*port.donated));
  if (!port.metadata.empty())
    list.append(kMetadataAttr, builder.getStringAttr(port.metadata));
  if (port.layout) {
    list.append(kLayoutAttr, LayoutAttr::get(mesh, port.layout->layout));
    list.append(kReasonAttr, builder.getStringAttr(port.layout->reason));
  }
  return list.getDictionary(builder.getContext());
}

func::FuncOp StepImporter::createFunction() {
  static constexpr const char *names[] = {"train", "evaluate", "predict"};
  SmallVector<Type> types;
  for (const Port &port : ports)
    types.push_back(port.type);
  auto function = func::FuncOp::create(builder, unknown, names[unsigned(step)],
                                       builder.getFunctionType(types, {}));
  Block *entry = function.addEntryBlock();
  auto argument = entry->args_begin();
  for (const Variable &variable : model.variables)
    variables.push_back(variable.isSeedState() && step != StepKind::Train
                            ? Value()
                            : Value(*argument++));
  for (size_t i = 0; i < optimizerVariables.size(); ++i)
    slots.push_back(*argument++);
  for (size_t i = 0; i < model.inputs.size(); ++i)
    inputs.push_back(*argument++);
  // A layout map knows an input by its layer.
  for (auto [value, node] : llvm::zip_equal(inputs, model.inputs))
    value.setLoc(NameLoc::get(
        builder.getStringAttr(model.layerOf(node).name + "/output")));
  if (argument != entry->args_end())
    label = *argument++;
  if (argument != entry->args_end())
    sampleWeight = *argument++;
  builder.setInsertionPointToEnd(entry);
  return function;
}

/// The loss of the labels, penalties that calls added, and those of weights.
Value StepImporter::totalLoss(Tensors &t, const ForwardResult &result,
                              ArrayRef<Value> variables, Value label,
                              Value weight) {
  Value total = model.loss->reduced(t, label, result.outputs.front(), weight,
                                    result.masks.front());
  for (Value penalty : result.penalties)
    total = t.add(total, t.toFloat(penalty));
  for (auto [variable, value] : llvm::zip_equal(model.variables, variables))
    if (variable.regularizer && variable.trainable)
      total = t.add(total, t.toFloat(variable.regularizer->penalty(t, value)));
  return total;
}

/// A mask has one value for each value of the loss.
LogicalResult StepImporter::checkMask(const ForwardResult &result) {
  Value mask = result.masks.front();
  ArrayRef<int64_t> shape = Tensors::shape(result.outputs.front());
  if (!mask || Tensors::shape(mask) == shape.drop_back(!shape.empty()))
    return success();
  return refuse() << "layer \"" << model.layerOf(model.outputs[0]).name
                  << "\": the mask of what it gives has the shape "
                  << shapeText(Tensors::shape(mask))
                  << ", which does not fit the loss of predictions "
                  << shapeText(shape)
                  << "; end with a layer that drops masks, such as Flatten";
}

/// @loss takes the variables (weights, then those that training updates beside
/// them), inputs, labels and sample weights; it returns the loss, the predictions
/// and what is updated.
FailureOr<func::FuncOp> StepImporter::createLoss() {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(module->getBody());
  SmallVector<Type> types;
  SmallVector<unsigned> order;
  for (bool states : {false, true})
    for (unsigned i = 0; i < variables.size(); ++i)
      if (model.variables[i].isUpdated == states) {
        order.push_back(i);
        types.push_back(variables[i].getType());
      }
  for (Value value : inputs)
    types.push_back(value.getType());
  types.push_back(label.getType());
  if (sampleWeight)
    types.push_back(sampleWeight.getType());
  auto function = func::FuncOp::create(builder, unknown, "loss",
                                       builder.getFunctionType(types, {}));
  function.setPrivate();
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToEnd(entry);
  SmallVector<Value> local(variables.size());
  for (auto [position, variable] : llvm::enumerate(order))
    local[variable] = entry->getArgument(position);
  SmallVector<Value> rest(entry->getArguments().drop_front(order.size()));
  size_t count = inputs.size();
  auto result = forward(local, ArrayRef<Value>(rest).take_front(count), true);
  if (failed(result) || failed(checkMask(*result)))
    return failure();
  Tensors t = at("loss");
  Value prediction = result->outputs.front();
  SmallVector<Value> returned = {
      totalLoss(t, *result, local, rest[count],
                sampleWeight ? rest[count + 1] : Value()),
      prediction};
  hasMask = bool(result->masks.front());
  if (hasMask)
    returned.push_back(result->masks.front());
  for (unsigned variable : order)
    if (model.variables[variable].isUpdated)
      returned.push_back(local[variable]);
  func::ReturnOp::create(builder, t.loc, returned);
  function.setFunctionType(
      builder.getFunctionType(types, ValueRange(returned).getTypes()));
  return function;
}

void StepImporter::updateWeights(SmallVector<Value> gradients) {
  const Optimizer &optimizer = *model.optimizer;
  Tensors whole = at(optimizer.name);
  Value iteration = slots[0];
  Value rate = rateOf(whole, optimizer, iteration,
                      optimizer.schedule ? Value() : slots[1]);
  clip(whole, optimizer, gradients);
  const Value *gradient = gradients.begin();
  for (unsigned i = 0; i < variables.size(); ++i) {
    if (!model.variables[i].trainable)
      continue;
    SmallVector<Value> old;
    SmallVector<unsigned> positions;
    for (unsigned k = 0; k < slots.size(); ++k)
      if (optimizerVariables[k].weight == int(i)) {
        old.push_back(slots[k]);
        positions.push_back(k);
      }
    Tensors t = at(optimizer.name + "/" + model.variables[i].path);
    WeightUpdate update =
        apply(t, optimizer, {variables[i], *gradient++, old, iteration, rate});
    variables[i] = update.weight;
    if (const ConstraintPtr &constraint = model.variables[i].constraint)
      variables[i] = constraint->apply(t, variables[i]);
    for (auto [position, slot] : llvm::zip_equal(positions, update.slots))
      slots[position] = slot;
  }
  slots[0] = whole.add(iteration, 1.0);
}

void StepImporter::addMetrics(Value loss, Value prediction, Value mask) {
  Port port{"metrics/loss", "metric", "", tensorType(loss),
            layouts ? layoutOf("", 0) : nullptr};
  addResult(port, loss);
  for (const MetricPtr &metric : model.metrics) {
    port.name = "metrics/" + metric->name;
    Tensors t = at(port.name);
    addResult(port, metric->mean(t, label, prediction, mask));
  }
}

LogicalResult StepImporter::buildTrain() {
  FailureOr<func::FuncOp> loss = createLoss();
  if (failed(loss))
    return failure();
  SmallVector<Value> operands;
  SmallVector<int64_t> wrt;
  SmallVector<Type> types(loss->getResultTypes());
  for (unsigned i = 0; i < variables.size(); ++i) {
    if (model.variables[i].isUpdated)
      continue;
    if (model.variables[i].trainable) {
      wrt.push_back(operands.size());
      types.push_back(variables[i].getType());
    }
    operands.push_back(variables[i]);
  }
  SmallVector<unsigned> states;
  for (unsigned i = 0; i < variables.size(); ++i)
    if (model.variables[i].isUpdated) {
      states.push_back(i);
      operands.push_back(variables[i]);
    }
  operands.append(inputs);
  operands.push_back(label);
  if (sampleWeight)
    operands.push_back(sampleWeight);
  SmallVector<Value> before = variables, slotsBefore = slots;
  auto step = ValueAndGradOp::create(builder, at("loss").loc, types, "loss",
                                     operands, wrt);
  for (auto [position, variable] : llvm::enumerate(states))
    variables[variable] = step.getResult(2 + hasMask + position);
  SmallVector<Value> gradients(
      step.getResults().drop_front(2 + hasMask + states.size()));
  updateWeights(gradients);
  for (unsigned i = 0; i < variables.size(); ++i)
    if (variables[i] != before[i])
      addResult(ports[i], variables[i]);
  for (unsigned i = 0; i < slots.size(); ++i)
    if (slots[i] != slotsBefore[i])
      addResult(ports[variables.size() + i], slots[i]);
  llvm::StringMap<int64_t> positions;
  for (auto [position, result] : llvm::enumerate(results))
    positions[result.first.name] = position;
  for (Port &port : ports)
    if (auto found = positions.find(port.name); found != positions.end())
      port.donated = found->second;
  addMetrics(step.getResult(0), step.getResult(1),
             hasMask ? step.getResult(2) : Value());
  return success();
}

LogicalResult StepImporter::buildEvaluate() {
  auto result = forward(variables, inputs, false);
  if (failed(result) || failed(checkMask(*result)))
    return failure();
  Tensors t = at("loss");
  addMetrics(totalLoss(t, *result, variables, label, sampleWeight),
             result->outputs.front(), result->masks.front());
  return success();
}

LogicalResult StepImporter::buildPredict() {
  auto result = forward(variables, inputs, false);
  if (failed(result))
    return failure();
  for (auto [name, value] : llvm::zip_equal(model.outputNames, result->outputs))
    addResult({model.outputs.size() == 1 ? "y" : "y/" + name, "output", "",
               tensorType(value)},
              value);
  return success();
}

void StepImporter::finish(func::FuncOp function) {
  SmallVector<Value> values;
  for (const auto &result : results)
    values.push_back(result.second);
  func::ReturnOp::create(builder, unknown, values);
  function.setFunctionType(builder.getFunctionType(
      function.getArgumentTypes(), ValueRange(values).getTypes()));
  SmallVector<DictionaryAttr> attributes;
  for (const Port &port : ports)
    attributes.push_back(attributesOf(port));
  function.setAllArgAttrs(attributes);
  attributes.clear();
  for (auto &result : results) {
    result.first.metadata.clear();
    attributes.push_back(attributesOf(result.first));
  }
  function.setAllResultAttrs(attributes);
}

FailureOr<OwningOpRef<ModuleOp>> StepImporter::run() {
  module = ModuleOp::create(unknown);
  if (mesh)
    module.get()->setAttr(kMeshAttr, mesh);
  builder.setInsertionPointToEnd(module->getBody());
  addPorts();
  func::FuncOp function = createFunction();
  LogicalResult built = step == StepKind::Train      ? buildTrain()
                        : step == StepKind::Evaluate ? buildEvaluate()
                                                     : buildPredict();
  if (failed(built))
    return failure();
  finish(function);
  return std::move(module);
}

} // namespace

FailureOr<OwningOpRef<ModuleOp>>
weft::keras::importStep(MLIRContext *context, const Model &model,
                        const Distribution *distribution, StepKind step,
                        const ImportOptions &options) {
  context->loadDialect<WeftDialect, func::FuncDialect>();
  StepImporter importer(context, model, step, options);
  if (failed(importer.prepare(distribution)))
    return failure();
  return importer.run();
}
