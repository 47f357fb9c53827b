//===- Wrappers.h - optimizers made of others --------------------*- C++ -*-===//
//
// Private to the optimizers. Their variables stand before those of the optimizers
// inside:
//
//   LossScaleOptimizer   loss_scale_optimizer/iteration, learning_rate,
//                        step_counter, dynamic_scale
//     Adam               adam/iteration, adam/learning_rate, ...
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_OPTIMIZERS_WRAPPERS_H
#define WEFT_COMPILER_FRONTENDS_KERAS_OPTIMIZERS_WRAPPERS_H

#include "weft/compiler/frontends/keras/optimizers/Apply.h"

namespace weft::keras {

/// Takes gradients of the loss times a number that is doubled after so many good
/// steps, and halved where a gradient is not finite; such a step changes nothing
/// else.
class LossScaleOptimizer : public Optimizer {
  OptimizerPtr inner;
  double initialScale = 1 << 15;
  int64_t growthSteps = 2000;

public:
  std::string ratePath() const override { return inner->ratePath(); }
  void options(Options &o) override;
  std::vector<OptimizerVariable> variables(llvm::ArrayRef<WeightFacts> weights,
                                           bool) const override;
  void step(OptimizerStep &step) const override;
  std::optional<unsigned> scaleVariable() const override;
  std::vector<OptimizerPart> parts(llvm::ArrayRef<WeightFacts> weights,
                                   bool) const override;

private:
  /// What a step makes of its counter and its scale.
  void updateScale(Tensors &t, Value isFinite, Value &counter,
                   Value &scale) const;
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_OPTIMIZERS_WRAPPERS_H
