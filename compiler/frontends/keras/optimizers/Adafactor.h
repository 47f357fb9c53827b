//===- Adafactor.h - moments of rows and columns -----------------*- C++ -*-===//
//
// Private to the optimizers.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_OPTIMIZERS_ADAFACTOR_H
#define WEFT_COMPILER_FRONTENDS_KERAS_OPTIMIZERS_ADAFACTOR_H

#include "weft/compiler/frontends/keras/optimizers/Apply.h"

namespace weft::keras {

/// keras.optimizers.Adafactor
class Adafactor : public Optimizer {
  double decayOfMoments = -0.8, epsilon1 = 1e-30, epsilon2 = 1e-3,
         clipThreshold = 1;
  bool relativeStep = true;

  void ownOptions(Options &o) override;
  std::vector<std::vector<SlotKind>> slots() const override {
    return {{{"row"}, {"column"}, {"velocity"}}};
  }
  OptimizerVariable slotOf(const SlotKind &slot,
                           const WeightFacts &facts) const override;
  WeightUpdate update(Tensors &t, const UpdateInputs &in) const override;
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_OPTIMIZERS_ADAFACTOR_H
