//===- CustomStep.cpp - a training step of one's own ----------------------===//

#include "weft/compiler/frontends/keras/import/CustomStep.h"
#include "weft/compiler/frontends/keras/import/Differentiate.h"
#include "weft/compiler/frontends/keras/import/Forward.h"
#include "weft/compiler/frontends/keras/import/Update.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

static MLIRContext *prepared(MLIRContext *context) {
  context->loadDialect<WeftDialect, func::FuncDialect>();
  return context;
}

CustomStep::CustomStep(MLIRContext *context, const Model &model,
                       const ImportOptions &options,
                       const Distribution *distribution)
    : builder(prepared(context)), model(model), distribution(distribution),
      ports(builder, model, StepKind::Train, options) {}

LogicalResult CustomStep::begin() {
  Location unknown = builder.getUnknownLoc();
  if (!model.optimizer)
    return emitError(unknown)
           << "the model has no optimizer; give it in ModelOptions";
  if (std::string reason = model.optimizer->complaint(model.trainedWeights());
      !reason.empty())
    return emitError(unknown) << "optimizer: " << reason;
  if (model.optimizer->scaleVariable() || model.optimizer->lossScaleFactor)
    return emitError(unknown) << "the optimizer scales losses, which a step of "
                                 "one's own does not; use the one inside";
  if (failed(ports.annotate(distribution)))
    return failure();
  module = ports.createModule();
  function = ports.createFunction();
  before = values = ports.values(function);
  return success();
}

FailureOr<CustomStep::LossAndGradients> CustomStep::valueAndGrad(Loss loss) {
  auto made = [&](MutableArrayRef<Value> variables, const Batch &batch,
                  Value) -> FailureOr<SmallVector<Value>> {
    auto result = buildForward(builder, model, variables, batch.inputs, true,
                               ports.layerLayouts());
    if (failed(result))
      return failure();
    Tensors t = at("loss");
    return SmallVector<Value>{
        withPenalties(t, model, variables, result->penalties,
                      loss(t, t(result->outputs), batch))};
  };
  auto found =
      keras::valueAndGrad(builder, *module, model, values, Value(), made);
  if (failed(found))
    return failure();
  return LossAndGradients{found->results[0], std::move(found->gradients)};
}

void CustomStep::apply(SmallVector<Value> gradients) {
  updateWeights(builder, model, std::move(gradients), values);
}

void CustomStep::show(const std::string &name, Value scalar) {
  ports.addMetric(name, scalar);
}

OwningOpRef<ModuleOp> CustomStep::finish() {
  ports.addState(values, before);
  ports.finish(function);
  return std::move(module);
}
