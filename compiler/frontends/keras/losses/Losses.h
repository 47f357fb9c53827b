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
Value quotient(Tensors &t, Value a, Value b);
/// Brings values and weights to one shape, as Keras does. If their ranks differ
/// by one, a trailing size of 1 is added or removed; then sizes of 1 are
/// broadcast. A weight of a sample is for all its values. Returns false if they
/// do not fit.
bool paired(Tensors &t, Value &values, Value &weights);

/// The loss mean(f(label, prediction)) for an elementwise formula f.
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
/// max(1 - label * prediction, 0), for labels -1 and 1; labels of 0 count as
/// -1.
Value hinge(Tensors &t, Value label, Value prediction);
Value squaredHinge(Tensors &t, Value label, Value prediction);

/// A loss that is quadratic up to an error of 1, then linear.
class Huber : public Loss {
  void ownOptions(Options &o) override {
    o.refused("delta", "Keras does not write it to files", "1.0");
  }

public:
  Value values(Tensors &t, Value label, Value prediction) const override;
};

/// sum(label * log(label / prediction)), both clipped to [epsilon, 1].
class KLDivergence : public Loss {
public:
  Value values(Tensors &t, Value label, Value prediction) const override;
};

/// max(max((1 - label) * prediction) - sum(label * prediction) + 1, 0).
class CategoricalHinge : public Loss {
public:
  Value values(Tensors &t, Value label, Value prediction) const override;
};

/// x divided by its 2-norm along `dims`; the norm is taken as at least epsilon.
Value normalized(Tensors &t, Value x, llvm::ArrayRef<int64_t> dims);

/// -cosine of the angle between label and prediction.
class CosineSimilarity : public Loss {
  void ownOptions(Options &o) override {
    o.refused("axis", "Keras does not write it to files", "-1");
  }

public:
  Value values(Tensors &t, Value label, Value prediction) const override;
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
  Value values(Tensors &t, Value label, Value prediction) const override;
  Value mask(Tensors &t, Value, Value values) const override {
    return t.compare(CompareKind::GT, values, 0);
  }
};

/// Losses of the overlap of two sets, with sums over all axes by default.
class Overlap : public Loss {
  std::vector<int64_t> axis;

protected:
  void ownOptions(Options &o) override { o.axes("axis", axis); }
  Value sum(Tensors &t, Value x) const;

public:
  std::string complaint(llvm::ArrayRef<int64_t> sample) const override;
};

class Dice : public Overlap {
public:
  Value values(Tensors &t, Value label, Value prediction) const override;
};

class Tversky : public Overlap {
  double alpha = 0.5, beta = 0.5;
  void ownOptions(Options &o) override {
    o.number("alpha", alpha, kAnyNumber);
    o.number("beta", beta, kAnyNumber);
    Overlap::ownOptions(o);
  }

public:
  Value values(Tensors &t, Value label, Value prediction) const override;
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LOSSES_LOSSES_H
