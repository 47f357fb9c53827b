//===- ConstraintTable.cpp - classes of weight constraints ----------------===//

#include "weft/compiler/frontends/keras/regularizers/Regularizer.h"
#include "weft/compiler/frontends/keras/tensors/Tensors.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

namespace {

class NonNeg : public Constraint {
  void options(Options &) override {}
  Tensor apply(Tensors &t, Tensor weight) const override {
    return max(weight, 0);
  }
};

/// Constraints of the 2-norm along some axes.
class OfNorm : public Constraint {
protected:
  std::vector<int64_t> axis = {0};

  std::vector<int64_t> axes() const override { return axis; }

  /// The norm, broadcast to the weight's shape.
  Tensor norm(Tensors &t, Tensor weight) const {
    SmallVector<int64_t> dims = t.dims(weight, axis);
    Tensor total = t.reduce(ReduceKind::Sum, weight * weight, dims);
    return t.spread(sqrt(total), weight, dims);
  }
  /// The weight, scaled so that its norm is `wanted`.
  Tensor scaled(Tensor weight, Tensor wanted, Tensor norm) const {
    return weight * (wanted / (norm + kEpsilon));
  }
};

class MaxNorm : public OfNorm {
  double maxValue = 2;
  void options(Options &o) override {
    o.number("max_value", maxValue, kNotNegative);
    o.axes("axis", axis);
  }
  Tensor apply(Tensors &t, Tensor weight) const override {
    Tensor of = norm(t, weight);
    return scaled(weight, min(max(of, 0), maxValue), of);
  }
};

class UnitNorm : public OfNorm {
  void options(Options &o) override { o.axes("axis", axis); }
  Tensor apply(Tensors &t, Tensor weight) const override {
    return weight / (norm(t, weight) + kEpsilon);
  }
};

class MinMaxNorm : public OfNorm {
  double minValue = 0, maxValue = 1, rate = 1;
  void options(Options &o) override {
    o.number("min_value", minValue, kNotNegative);
    o.number("max_value", maxValue, kNotNegative);
    o.number("rate", rate, kAnyNumber);
    o.axes("axis", axis);
  }
  Tensor apply(Tensors &t, Tensor weight) const override {
    Tensor of = norm(t, weight);
    Tensor inside = min(max(of, minValue), maxValue);
    Tensor wanted = inside * rate + of * (1 - rate);
    return scaled(weight, wanted, of);
  }
};

} // namespace

const Table<Constraint> &weft::keras::constraintTable() {
  static const Table<Constraint> table = {
      {"constraint",
       "constraints",
       {row<MaxNorm>("MaxNorm"), row<MinMaxNorm>("MinMaxNorm"),
        row<NonNeg>("NonNeg", {"nonneg"}), row<UnitNorm>("UnitNorm")}}};
  return table;
}
