//===- StepParts.h - forward, loss, metrics, update -------------*- C++ -*-===//
//
// Private to the Keras front end: what importStep is made of.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_STEPPARTS_H
#define WEFT_COMPILER_FRONTENDS_KERAS_STEPPARTS_H

#include "weft/compiler/frontends/keras/Import.h"
#include "weft/compiler/frontends/keras/Tensors.h"

namespace weft::keras {

/// A layout for the model's layers, by name; null entries are not annotated.
using OutputLayouts = std::map<std::string, ResolvedLayout>;

/// Runs the layers on `variables` (one value for each of the model's, seed
/// states are replaced by their successors when training) and `inputs`.
/// Returns the outputs.
mlir::FailureOr<llvm::SmallVector<Value>>
buildForward(mlir::OpBuilder &builder, const Model &model,
             llvm::MutableArrayRef<Value> variables,
             llvm::ArrayRef<Value> inputs, bool training,
             const OutputLayouts &layouts, mlir::Attribute mesh);

/// Scalar loss of one batch; `weight` may be null.
Value buildLoss(Tensors &t, const Loss &loss, Value label, Value prediction,
                Value weight);
/// Why the metric cannot be computed from labels of the loss, or empty.
std::string metricReason(const Metric &metric, const Loss &loss);
Value buildMetric(Tensors &t, const Metric &metric, Value label,
                  Value prediction);
/// New weight and new slots from the old, in Keras' order of operations.
/// `slots` are in the order of Model::optimizerVariables for one weight.
struct WeightUpdate {
  Value weight;
  llvm::SmallVector<Value, 3> slots;
};
WeightUpdate buildUpdate(Tensors &t, const Optimizer &optimizer, Value weight,
                         Value gradient, llvm::ArrayRef<Value> slots,
                         Value iteration, Value learningRate);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_STEPPARTS_H
