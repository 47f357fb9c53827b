//===- Losses.h - the classes of keras.losses --------------------*- C++ -*-===//
//
// Private to the losses and metrics: a metric of the same name gives the mean
// of the same values (CosineSimilarity: of their negatives). Each is the
// function of its name in keras.losses (3.15.1), operation by operation.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LOSSES_LOSSES_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LOSSES_LOSSES_H

#include "weft/compiler/frontends/keras/losses/Loss.h"
#include "weft/compiler/frontends/keras/tensors/Tensors.h"

namespace weft::keras {

/// a / b, or 0 if b is 0.
Tensor quotient(Tensors &t, Tensor a, Tensor b);
/// Brings values and weights to one shape, as Keras does. If their ranks differ
/// by one, a trailing size of 1 is added or removed; then sizes of 1 are
/// broadcast. A weight of a sample is for all its values. Returns false if they
/// do not fit.
bool paired(Tensors &t, Tensor &values, Tensor &weights);

/// The loss mean(f(label, prediction)) for an elementwise formula f.
template <Tensor (*formula)(Tensors &, Tensor, Tensor)>
class MeanOf : public Loss {
public:
  Tensor values(Tensors &t, Tensor label, Tensor prediction) const override {
    return t.mean(formula(t, label, prediction), {t.last(prediction)});
  }
};

Tensor squaredError(Tensors &t, Tensor label, Tensor prediction);
Tensor absoluteError(Tensors &t, Tensor label, Tensor prediction);
/// 100 |label - prediction| / max(|label|, epsilon).
Tensor percentageError(Tensors &t, Tensor label, Tensor prediction);
/// (log(max(label, epsilon) + 1) - log(max(prediction, epsilon) + 1))^2.
Tensor squaredLogarithmicError(Tensors &t, Tensor label, Tensor prediction);
/// log(cosh(prediction - label)).
Tensor logCosh(Tensors &t, Tensor label, Tensor prediction);
/// prediction - label * log(prediction + epsilon).
Tensor poisson(Tensors &t, Tensor label, Tensor prediction);
/// max(1 - label * prediction, 0), for labels -1 and 1; labels of 0 count as
/// -1.
Tensor hinge(Tensors &t, Tensor label, Tensor prediction);
Tensor squaredHinge(Tensors &t, Tensor label, Tensor prediction);

/// A loss that is quadratic up to an error of 1, then linear.
class Huber : public Loss {
  void ownOptions(Options &o) override {
    o.refused("delta", "Keras does not write it to files", "1.0");
  }

public:
  Tensor values(Tensors &t, Tensor label, Tensor prediction) const override;
};

/// sum(label * log(label / prediction)), both clipped to [epsilon, 1].
class KLDivergence : public Loss {
public:
  Tensor values(Tensors &t, Tensor label, Tensor prediction) const override;
};

/// max(max((1 - label) * prediction) - sum(label * prediction) + 1, 0).
class CategoricalHinge : public Loss {
public:
  Tensor values(Tensors &t, Tensor label, Tensor prediction) const override;
};

/// x divided by its 2-norm along `dims`; the norm is taken as at least epsilon.
Tensor normalized(Tensors &t, Tensor x, llvm::ArrayRef<int64_t> dims);

/// -cosine of the angle between label and prediction.
class CosineSimilarity : public Loss {
  void ownOptions(Options &o) override {
    o.refused("axis", "Keras does not write it to files", "-1");
  }

public:
  Tensor values(Tensors &t, Tensor label, Tensor prediction) const override;
};

/// A loss that compares the distances between embeddings of one class with
/// those between classes. Labels are class numbers.
class Circle : public Loss {
  double gamma = 80, margin = 0.4;
  bool removeDiagonal = true;
  void ownOptions(Options &o) override {
    o.number("gamma", gamma, kAnyNumber);
    o.number("margin", margin, kAnyNumber);
    o.flag("remove_diagonal", removeDiagonal);
  }

public:
  bool takesClassNumbers() const override { return true; }
  std::string complaint(llvm::ArrayRef<int64_t> sample) const override;
  Tensor values(Tensors &t, Tensor label, Tensor prediction) const override;
  Tensor mask(Tensors &t, Tensor, Tensor values) const override {
    return values > 0;
  }
};

/// Losses of the overlap of two sets, with sums over all axes by default.
class Overlap : public Loss {
  std::vector<int64_t> axis;

protected:
  void ownOptions(Options &o) override { o.axes("axis", axis); }
  Tensor sum(Tensors &t, Tensor x) const;

public:
  std::string complaint(llvm::ArrayRef<int64_t> sample) const override;
};

class Dice : public Overlap {
public:
  Tensor values(Tensors &t, Tensor label, Tensor prediction) const override;
};

class Tversky : public Overlap {
  double alpha = 0.5, beta = 0.5;
  void ownOptions(Options &o) override {
    o.number("alpha", alpha, kAnyNumber);
    o.number("beta", beta, kAnyNumber);
    Overlap::ownOptions(o);
  }

public:
  Tensor values(Tensors &t, Tensor label, Tensor prediction) const override;
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LOSSES_LOSSES_H
