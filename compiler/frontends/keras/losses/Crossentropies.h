//===- Crossentropies.h - losses of probabilities ----------------*- C++ -*-===//
//
// Private to the losses and metrics, like Losses.h.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LOSSES_CROSSENTROPIES_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LOSSES_CROSSENTROPIES_H

#include "weft/compiler/frontends/keras/losses/Losses.h"

namespace weft::keras {

/// Losses whose predictions are probabilities, or logits.
class Crossentropy : public Loss {
public:
  bool fromLogits = false;

protected:
  /// The log of the softmax of logits, or of probabilities divided by their sum
  /// and clipped.
  Tensor logProbabilities(Tensors &t, Tensor prediction) const;
  Tensor crossentropy(Tensors &t, Tensor label, Tensor prediction) const;
};

/// Losses with classes along an axis whose labels can be smoothed.
class SmoothedCrossentropy : public Crossentropy {
protected:
  double labelSmoothing = 0;
  int64_t axis = -1;

  void ownOptions(Options &o) override {
    o.flag("from_logits", fromLogits);
    o.number("label_smoothing", labelSmoothing, kShare);
    o.integer("axis", axis, kAnyNumber);
  }
  /// The labels, of which a share `labelSmoothing` is spread evenly over
  /// `classes`.
  Tensor smoothed(Tensors &t, Tensor label, double classes) const;
  /// Transposes the value so that `axis` is its last dimension.
  Tensor axisLast(Tensors &t, Tensor x) const;
  Tensor meanOfAxis(Tensors &t, Tensor x) const {
    return t.mean(x, t.dims(x, {axis}));
  }

public:
  std::string complaint(llvm::ArrayRef<int64_t> sample) const override;
};

class BinaryCrossentropy : public SmoothedCrossentropy {
  void metricOptions(Options &o) override {
    o.flag("from_logits", fromLogits);
    o.number("label_smoothing", labelSmoothing, kShare);
  }

public:
  Tensor values(Tensors &t, Tensor label, Tensor prediction) const override;
};

/// Reduces the weight of easy samples by the factor (1 - probability)^gamma.
class BinaryFocalCrossentropy : public SmoothedCrossentropy {
  bool applyClassBalancing = false;
  double alpha = 0.25, gamma = 2;

  void ownOptions(Options &o) override {
    o.flag("apply_class_balancing", applyClassBalancing);
    o.number("alpha", alpha, kAnyNumber);
    o.number("gamma", gamma, kAnyNumber);
    SmoothedCrossentropy::ownOptions(o);
  }

public:
  Tensor values(Tensors &t, Tensor label, Tensor prediction) const override;
};

class CategoricalCrossentropy : public SmoothedCrossentropy {
public:
  Tensor values(Tensors &t, Tensor label, Tensor prediction) const override;
};

class CategoricalFocalCrossentropy : public SmoothedCrossentropy {
  double alpha = 0.25, gamma = 2;

  void ownOptions(Options &o) override {
    o.number("alpha", alpha, kAnyNumber);
    o.number("gamma", gamma, kAnyNumber);
    SmoothedCrossentropy::ownOptions(o);
  }

public:
  Tensor values(Tensors &t, Tensor label, Tensor prediction) const override;
};

/// Cross-entropy for labels that are class numbers.
class SparseCategoricalCrossentropy : public Crossentropy {
  std::optional<int64_t> ignoreClass;

  void ownOptions(Options &o) override {
    o.flag("from_logits", fromLogits);
    o.maybeInteger("ignore_class", ignoreClass, kAnyNumber);
    o.refused("axis", "classes along another axis", "-1");
  }

public:
  bool takesClassNumbers() const override { return true; }
  bool labelsArePositions() const override { return !ignoreClass; }
  Tensor values(Tensors &t, Tensor label, Tensor prediction) const override;
  Tensor mask(Tensors &t, Tensor label, Tensor values) const override;
};

/// The loss (1 - p^q) / q, where p is the probability of the label's class.
class CategoricalGeneralizedCrossEntropy : public Loss {
  double q = 0.5;
  void ownOptions(Options &o) override {
    o.number("q", q, kAnyNumber);
    o.check(q > 0 && q < 1, "\"q\" must lie between 0 and 1");
  }

public:
  bool takesClassNumbers() const override { return true; }
  bool labelsArePositions() const override { return true; }
  Tensor values(Tensors &t, Tensor label, Tensor prediction) const override;
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LOSSES_CROSSENTROPIES_H
