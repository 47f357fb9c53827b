//===- Import.cpp - a Keras model as a weft module ------------------------===//

#include "weft/compiler/frontends/keras/import/Import.h"
#include "weft/compiler/frontends/keras/import/Differentiate.h"
#include "weft/compiler/frontends/keras/import/Forward.h"
#include "weft/compiler/frontends/keras/import/Update.h"
#include "weft/compiler/frontends/keras/layers/Call.h"

#include <set>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

namespace {

/// The total loss of the model, and the loss of each output before its loss
/// weight is applied.
struct LossValues {
  Value total;
  SmallVector<Value> each;
  std::string complaint = {}; ///< the error of sample weights, or empty
};

class StepImporter {
public:
  StepImporter(MLIRContext *context,
               const Model &model [[clang::lifetimebound]], StepKind step,
               const ImportOptions &options)
      : builder(context), model(model), step(step), options(options),
        unknown(builder.getUnknownLoc()), ports(builder, model, step, options) {
  }

  LogicalResult prepare(const Distribution *distribution);
  FailureOr<OwningOpRef<ModuleOp>> run();

private:
  LogicalResult checkTraining();
  LogicalResult buildTrain();
  LogicalResult buildEvaluate();
  LogicalResult buildPredict();
  FailureOr<ForwardResult> forward(MutableArrayRef<Value> variables,
                                   ArrayRef<Value> inputs, bool training) {
    return buildForward(builder, model, variables, inputs, training,
                        ports.layerLayouts());
  }
  LossValues lossOf(Tensors &t, const ForwardResult &result,
                    ArrayRef<Value> variables, const Batch &batch);
  LogicalResult checkWeights();
  LogicalResult checkMasks(const ForwardResult &result);
  void addMetrics(const LossValues &loss, ArrayRef<Value> predictions,
                  ArrayRef<Value> masks);
  Tensors at(const std::string &name) {
    return Tensors(builder, NameLoc::get(builder.getStringAttr(name)));
  }
  InFlightDiagnostic refuse() { return emitError(unknown); }

  OpBuilder builder;
  const Model &model;
  StepKind step;
  ImportOptions options;
  Location unknown;
  StepPorts ports;
  OwningOpRef<ModuleOp> module;
  StepValues before, values;
};

/// The reason why the metric does not fit the output's shape or labels, or
/// empty.
std::string metricReason(const Model &model, const OutputMetric &of) {
  const Metric &metric = *of.metric;
  std::string reason = metric.complaint(model.outputShape(of.output));
  if (reason.empty() &&
      metric.takesClassNumbers() != model.takesClassNumbers(of.output))
    reason = std::string("wants ") +
             (metric.takesClassNumbers()
                  ? "class numbers as labels, the loss one value for each "
                    "prediction"
                  : "one label for each prediction, the loss class numbers") +
             "; use metrics that fit the loss";
  return reason.empty() ? "" : "metric \"" + of.name + "\" " + reason;
}

LogicalResult StepImporter::checkTraining() {
  if (!model.compileRefusal.empty())
    return refuse() << model.compileRefusal;
  // The loss of a model with metrics only is 0, plus penalties.
  if (model.losses.empty() &&
      (step == StepKind::Train || model.metrics.empty()))
    return refuse() << "compile_config: the model has no loss; give it with "
                       "--loss, --optimizer and --metrics";
  for (const Variable &variable : model.variables)
    if (step == StepKind::Train && variable.takesGradient)
      return refuse() << "layer \"" << variable.layer << "\": its variable \""
                      << variable.path
                      << "\" takes its gradient as value in training, which is "
                         "not supported; predict and evaluate the model, or "
                         "train it as it was before model.quantize(\"float8\")";
  if (step == StepKind::Train && !model.optimizer)
    return refuse() << "compile_config: the model has no optimizer; give it "
                       "with --optimizer";
  if (step == StepKind::Train)
    if (std::string reason = model.optimizer->complaint(model.trainedWeights());
        !reason.empty())
      return refuse() << "compile_config: optimizer: " << reason;
  std::set<std::string> names;
  for (unsigned output = 0; output < model.outputs.size(); ++output) {
    const std::string &name = model.outputName(output);
    if (!names.insert(name).second)
      return refuse() << "two outputs are called \"" << name
                      << "\", after their layer; pass one of them through an "
                         "Identity layer of another name";
    if (!llvm::StringRef(model.nodes[model.outputs[output]].dtype)
             .contains("float") &&
        model.hasLabel(output))
      return refuse() << "layer \"" << name
                      << "\": gives integers, which have no loss; predict "
                         "only, or end with a layer that gives float32";
  }
  for (const OutputLoss &of : model.losses)
    if (std::string reason = of.loss->complaint(model.outputShape(of.output));
        !reason.empty())
      return refuse() << "compile_config: loss " << of.loss->className
                      << " of \"" << model.outputName(of.output) << "\" "
                      << reason;
  for (const OutputMetric &of : model.metrics)
    if (std::string reason = metricReason(model, of); !reason.empty())
      return refuse() << "compile_config: " << reason;
  return success();
}

LogicalResult StepImporter::prepare(const Distribution *distribution) {
  if (options.batchSize < 1)
    return refuse() << "the batch size is " << options.batchSize
                    << "; it must be positive";
  if (step != StepKind::Predict && failed(checkTraining()))
    return failure();
  return ports.annotate(distribution);
}

/// Checks that sample weights fit their metrics.
LogicalResult StepImporter::checkWeights() {
  for (const OutputMetric &of : model.metrics) {
    Value weight = step == StepKind::Predict || !of.isWeighted
                       ? Value()
                       : values.batch.weights[of.output];
    if (!weight)
      continue;
    if (std::string reason = of.metric->weightComplaint(
            Tensors::shape(weight).drop_front(), model.outputShape(of.output));
        !reason.empty())
      return refuse() << "--sample-weight of \"" << model.outputName(of.output)
                      << "\": metric \"" << of.name << "\" " << reason;
  }
  return success();
}

/// Computes the losses of the outputs, and adds penalties of calls and weights
/// to their weighted sum.
LossValues StepImporter::lossOf(Tensors &t, const ForwardResult &result,
                                ArrayRef<Value> variables, const Batch &batch) {
  LossValues out;
  for (const OutputLoss &of : model.losses) {
    std::string complaint;
    Tensor loss = of.loss->reduced(
        t, t(batch.labels[of.output]), t(result.outputs[of.output]),
        t(batch.weights[of.output]), t(result.masks[of.output]), complaint);
    if (!complaint.empty() && out.complaint.empty())
      out.complaint = "--sample-weight of \"" + model.outputName(of.output) +
                      "\": loss " + of.loss->className + ": " + complaint;
    out.each.push_back(loss);
    if (of.weight)
      loss = loss * *of.weight;
    out.total = out.total ? t(out.total) + loss : loss;
  }
  if (!out.total)
    out.total = t.splat(0, RankedTensorType::get({}, builder.getF32Type()));
  out.total = withPenalties(t, model, variables, result.penalties, out.total);
  return out;
}

/// Checks that a mask has one value for each value of the loss.
LogicalResult StepImporter::checkMasks(const ForwardResult &result) {
  for (auto [output, mask] : llvm::enumerate(result.masks)) {
    ArrayRef<int64_t> shape = Tensors::shape(result.outputs[output]);
    if (!mask || !model.hasLabel(output) ||
        Tensors::shape(mask) == shape.drop_back(!shape.empty()))
      continue;
    return refuse() << "layer \"" << model.outputName(output)
                    << "\": the mask of its output has the shape "
                    << shapeText(Tensors::shape(mask))
                    << ", which does not fit the loss of predictions "
                    << shapeText(shape)
                    << "; end with a layer that drops masks, such as Flatten";
  }
  return success();
}

/// Adds the results: the loss, the loss of each output if there are several, as
/// in Keras, and the metrics.
void StepImporter::addMetrics(const LossValues &loss,
                              ArrayRef<Value> predictions,
                              ArrayRef<Value> masks) {
  ports.addMetric("loss", loss.total);
  if (loss.each.size() > 1)
    for (auto [of, value] : llvm::zip_equal(model.losses, loss.each))
      ports.addMetric(model.outputName(of.output) + "_loss", value);
  size_t first = 0;
  for (const OutputMetric &of : model.metrics) {
    Tensors t = at("metrics/" + of.name);
    size_t count = of.metric->variables(model.outputShape(of.output)).size();
    MutableArrayRef<Value> state =
        MutableArrayRef(values.metrics).slice(first, count);
    MetricInputs in{
        t(values.batch.labels[of.output]), t.toFloat(predictions[of.output]),
        of.isWeighted ? t(values.batch.weights[of.output]) : Tensor(),
        t(masks[of.output])};
    MetricResult result = of.metric->compute(t, in, t(state));
    llvm::copy(result.state, state.begin());
    first += count;
    PortFacts facts;
    facts.isRunning = count > 0;
    facts.direction = of.metric->direction();
    ports.addMetric(of.name, result.value, facts);
  }
}

/// Builds a train step. The scaled loss is differentiated. If it differs from
/// the loss, the results of the loss function after it are the loss, the losses
/// of the outputs, and the predictions.
LogicalResult StepImporter::buildTrain() {
  std::optional<unsigned> slot = model.optimizer->scaleVariable();
  std::optional<double> factor = model.optimizer->lossScaleFactor;
  auto loss = [&](MutableArrayRef<Value> variables, const Batch &batch,
                  Value scale) -> FailureOr<SmallVector<Value>> {
    auto result = forward(variables, batch.inputs, true);
    if (failed(result) || failed(checkMasks(*result)))
      return failure();
    Tensors t = at("loss");
    LossValues made = lossOf(t, *result, variables, batch);
    if (!made.complaint.empty())
      return refuse() << made.complaint;
    SmallVector<Value> out;
    if (factor)
      out.push_back(t(made.total) * *factor);
    else if (scale)
      out.push_back(t(made.total) * t(scale));
    out.push_back(made.total);
    llvm::append_range(out, made.each);
    llvm::append_range(out, result->outputs);
    return out;
  };
  FailureOr<Differentiated> found =
      valueAndGrad(builder, *module, model, values,
                   slot ? values.slots[*slot] : Value(), loss);
  if (failed(found))
    return failure();
  ArrayRef<Value> results = found->results;
  results = results.drop_front(factor || slot);
  size_t losses = model.losses.size();
  LossValues shown{results[0], SmallVector<Value>(results.slice(1, losses))};
  SmallVector<Value> predictions(results.drop_front(1 + losses));
  updateWeights(builder, model, std::move(found->gradients), values);
  // Metrics get no masks, as Keras drops the masks in training.
  addMetrics(shown, predictions, SmallVector<Value>(predictions.size()));
  return success();
}

LogicalResult StepImporter::buildEvaluate() {
  auto result = forward(values.variables, values.batch.inputs, false);
  if (failed(result) || failed(checkMasks(*result)))
    return failure();
  Tensors t = at("loss");
  LossValues loss = lossOf(t, *result, values.variables, values.batch);
  if (!loss.complaint.empty())
    return refuse() << loss.complaint;
  addMetrics(loss, result->outputs, result->masks);
  return success();
}

LogicalResult StepImporter::buildPredict() {
  auto result = forward(values.variables, values.batch.inputs, false);
  if (failed(result))
    return failure();
  for (auto [output, value] : llvm::enumerate(result->outputs))
    ports.addOutput(model.outputName(output), value);
  return success();
}

FailureOr<OwningOpRef<ModuleOp>> StepImporter::run() {
  module = ports.createModule();
  func::FuncOp function = ports.createFunction();
  before = values = ports.values(function);
  if (failed(checkWeights()))
    return failure();
  LogicalResult built = step == StepKind::Train      ? buildTrain()
                        : step == StepKind::Evaluate ? buildEvaluate()
                                                     : buildPredict();
  if (failed(built))
    return failure();
  ports.addState(values, before);
  ports.finish(function);
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
