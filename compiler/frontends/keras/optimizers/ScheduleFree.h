//===- ScheduleFree.h - averages in the place of a schedule ------*- C++ -*-===//
//
// Private to the optimizers.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_OPTIMIZERS_SCHEDULEFREE_H
#define WEFT_COMPILER_FRONTENDS_KERAS_OPTIMIZERS_SCHEDULEFREE_H

#include "weft/compiler/frontends/keras/optimizers/Apply.h"

namespace weft::keras {

/// keras.optimizers.ScheduleFreeAdamW. "momentum" is the sequence that
/// gradients update; weights interpolate between it and its average.
class ScheduleFreeAdamW : public Optimizer {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  int64_t warmupSteps = 0;

  void ownOptions(Options &o) override;
  std::vector<std::vector<SlotKind>> slots() const override {
    return {{{"momentum"}, {"velocity"}}};
  }
  WeightUpdate update(Tensors &t, const UpdateInputs &in) const override;

public:
  ScheduleFreeAdamW() { learningRate = 0.0025; }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_OPTIMIZERS_SCHEDULEFREE_H
