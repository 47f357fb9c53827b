//===- Apply.h - one step of an optimizer ------------------------*- C++ -*-===//
//
// Private to the Keras front end. keras.optimizers.Optimizer.apply on all
// weights at once: clipping may need the norm of every gradient.
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
  Value weight, gradient; ///< the weight has decayed
  llvm::ArrayRef<Value> slots;
  Value iteration; ///< i32, 0 at the first step
  Value rate;      ///< in the type of the weight
  const WeightFacts &facts;
  llvm::ArrayRef<Value> scalars = {}; ///< as newScalars has made them
  Value before = {};                  ///< the weight before it decayed
};

struct WeightUpdate {
  Value weight;
  llvm::SmallVector<Value, 3> slots;
};

/// The values that a step of an optimizer changes. Weights, their facts and
/// gradients have one order; variables that of Optimizer::variables.
struct OptimizerStep {
  mlir::OpBuilder &builder;
  llvm::ArrayRef<WeightFacts> facts;
  llvm::SmallVector<Value> gradients, weights, variables;
  /// The gradients are those of the loss times this number.
  std::optional<double> lossScale = std::nullopt;
  bool isScaled = false; ///< inside a LossScaleOptimizer

  Tensors at(const std::string &name) const;
};

/// The learning rate of this step: the variable, or the schedule's, which needs
/// none.
Value rateOf(Tensors &t, const Optimizer &optimizer, Value iteration,
             Value variable);
/// clipnorm, global_clipnorm or clipvalue, whichever is set.
void clip(Tensors &t, const Optimizer &optimizer,
          llvm::MutableArrayRef<Value> gradients);
/// Decay of the weight, then its update.
WeightUpdate apply(Tensors &t, const Optimizer &optimizer, UpdateInputs in);
/// The weight's moving average after a step; the first step takes the weight.
Value averaged(Tensors &t, const Optimizer &optimizer, Value iteration,
               Value average, Value weight);
/// i1: is (iteration + 1) a multiple of the period?
Value isEvery(Tensors &t, Value iteration, int64_t period);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_OPTIMIZERS_APPLY_H
