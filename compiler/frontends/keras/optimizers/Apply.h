//===- Apply.h - one step of an optimizer ------------------------*- C++ -*-===//
//
// Private to the Keras front end. The operations of
// keras.optimizers.Optimizer.apply. They see all weights at once, as clipping
// may need the norm of every gradient.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_OPTIMIZERS_APPLY_H
#define WEFT_COMPILER_FRONTENDS_KERAS_OPTIMIZERS_APPLY_H

#include "weft/compiler/frontends/keras/optimizers/Optimizer.h"
#include "weft/compiler/frontends/keras/tensors/Tensors.h"

namespace weft::keras {

/// The values from which one weight is updated. `slots` are in the order of
/// Optimizer::slots.
struct UpdateInputs {
  Tensor weight, gradient; ///< weight: after its decay
  llvm::ArrayRef<Tensor> slots;
  Tensor iteration; ///< i32, 0 at the first step
  Tensor rate;      ///< in the type of the weight
  const WeightFacts &facts;
  llvm::ArrayRef<Tensor> scalars = {}; ///< the results of newScalars
  Tensor before = {};                  ///< the weight before it decayed
};

struct WeightUpdate {
  Tensor weight;
  llvm::SmallVector<Tensor, 3> slots;
};

/// The values that a step of an optimizer changes. Weights, facts and gradients
/// have the same order; variables have that of Optimizer::variables.
struct OptimizerStep {
  mlir::OpBuilder &builder;
  llvm::ArrayRef<WeightFacts> facts;
  llvm::SmallVector<Value> gradients, weights, variables;
  /// The factor by which the loss, and so the gradients, were multiplied.
  std::optional<double> lossScale = std::nullopt;
  bool isScaled = false; ///< whether a LossScaleOptimizer contains it

  Tensors at(const std::string &name) const;
};

/// The learning rate of this step: the value of the schedule or, without one,
/// of the variable, which is null otherwise.
Tensor rateOf(Tensors &t, const Optimizer &optimizer, Tensor iteration,
              Tensor variable);
/// Applies clipnorm, global_clipnorm or clipvalue, whichever is set and above
/// 0.
void clip(Tensors &t, const Optimizer &optimizer,
          llvm::MutableArrayRef<Value> gradients);
/// Applies the weight's decay, then the optimizer's update.
WeightUpdate apply(Tensors &t, const Optimizer &optimizer, UpdateInputs in);
/// The weight's moving average after a step; the first step sets it to the
/// weight.
Tensor averaged(Tensors &t, const Optimizer &optimizer, Tensor iteration,
                Tensor average, Tensor weight);
/// Whether (iteration + 1) is a multiple of the period, as i1.
Tensor isEvery(Tensors &t, Tensor iteration, int64_t period);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_OPTIMIZERS_APPLY_H
