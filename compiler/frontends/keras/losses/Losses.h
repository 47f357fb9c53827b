//===- Losses.h - the classes of keras.losses --------------------*- C++ -*-===//
//
// Private to the losses and metrics: a metric of the same name gives the mean of
// the same values. Each is the function of its name in keras.losses (3.15.1),
// operation by operation.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LOSSES_LOSSES_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LOSSES_LOSSES_H

#include "weft/compiler/frontends/keras/losses/Loss.h"
#include "weft/compiler/frontends/keras/tensors/Tensors.h"

namespace weft::keras {

/// mean(f(label, prediction)) of a formula for each element.
template <Value (*formula)(Tensors &, Value, Value)>
class MeanOf : public Loss {
public:
  Value values(Tensors &t, Value label, Value prediction) const override {
    return t.mean(formula(t, label, prediction), {t.last(prediction)});
  }
};

Value squaredError(Tensors &t, Value label, Value prediction);
Value absoluteError(Tensors &t, Value label, Value prediction);
/// 100 |label - prediction| / max(|label|, epsilon).
Value percentageError(Tensors &t, Value label, Value prediction);
/// (log(max(label, epsilon) + 1) - log(max(prediction, epsilon) + 1))^2.
Value squaredLogarithmicError(Tensors &t, Value label, Value prediction);
/// log(cosh(prediction - label)).
Value logCosh(Tensors &t, Value label, Value prediction);
/// prediction - label * log(prediction + epsilon).
Value poisson(Tensors &t, Value label, Value prediction);
/// max(1 - label * prediction, 0), of labels -1 and 1, or 0 and 1.
Value hinge(Tensors &t, Value label, Value prediction);
Value squaredHinge(Tensors &t, Value label, Value prediction);

/// A square up to 1, then a line.
class Huber : public Loss {
  void ownOptions(Options &o) override {
    o.refused("delta", "Keras does not write it to files", "1.0");
  }

public:
  Value values(Tensors &t, Value label, Value prediction) const override;
};

/// sum(label * log(label / prediction)), both within epsilon and 1.
class KLDivergence : public Loss {
public:
  Value values(Tensors &t, Value label, Value prediction) const override;
};

/// max(largest wrong prediction - right prediction + 1, 0).
class CategoricalHinge : public Loss {
public:
  Value values(Tensors &t, Value label, Value prediction) const override;
};

/// Predictions that are probabilities, or logits.
class Crossentropy : public Loss {
public:
  bool fromLogits = false;

protected:
  /// log of the predictions' shares of their sum, or of their softmax.
  Value logProbabilities(Tensors &t, Value prediction) const;
  Value crossentropy(Tensors &t, Value label, Value prediction) const;
};

class BinaryCrossentropy : public Crossentropy {
  double labelSmoothing = 0;
  void ownOptions(Options &o) override;

public:
  Value values(Tensors &t, Value label, Value prediction) const override;
};

class CategoricalCrossentropy : public Crossentropy {
  double labelSmoothing = 0;
  void ownOptions(Options &o) override;

public:
  Value values(Tensors &t, Value label, Value prediction) const override;
};

/// Labels are numbers of classes.
class SparseCategoricalCrossentropy : public Crossentropy {
  void ownOptions(Options &o) override;

public:
  bool takesClassNumbers() const override { return true; }
  Value values(Tensors &t, Value label, Value prediction) const override;
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LOSSES_LOSSES_H
