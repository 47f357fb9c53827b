//===- ConstraintTable.cpp - classes of weight constraints ----------------===//

#include "weft/compiler/frontends/keras/regularizers/Regularizer.h"
#include "weft/compiler/frontends/keras/tensors/Tensors.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

namespace {

class NonNeg : public Constraint {
  void options(Options &) override {}
  Value apply(Tensors &t, Value weight) const override {
    return t.max(weight, 0);
  }
};

/// Constraints of the 2-norm along some axes.
class OfNorm : public Constraint {
protected:
  std::vector<int64_t> axis = {0};

  std::vector<int64_t> axes() const override { return axis; }

  /// The norm, broadcast to the weight's shape.
  Value norm(Tensors &t, Value weight) const {
    SmallVector<int64_t> dims = t.dims(weight, axis);
    Value total = t.reduce(ReduceKind::Sum, t.mul(weight, weight), dims);
    return t.spread(t.make<SqrtOp>(total), weight, dims);
  }
  /// The weight, scaled so that its norm is `wanted`.
  Value scaled(Tensors &t, Value weight, Value wanted, Value norm) const {
    return t.mul(weight, t.div(wanted, t.add(norm, kEpsilon)));
  }
};

class MaxNorm : public OfNorm {
  double maxValue = 2;
  void options(Options &o) override {
    o.number("max_value", maxValue, kNotNegative);
    o.axes("axis", axis);
  }
  Value apply(Tensors &t, Value weight) const override {
    Value of = norm(t, weight);
    return scaled(t, weight, t.min(t.max(of, 0), maxValue), of);
  }
};

class UnitNorm : public OfNorm {
  void options(Options &o) override { o.axes("axis", axis); }
  Value apply(Tensors &t, Value weight) const override {
    return t.div(weight, t.add(norm(t, weight), kEpsilon));
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
  Value apply(Tensors &t, Value weight) const override {
    Value of = norm(t, weight);
    Value inside = t.min(t.max(of, minValue), maxValue);
    Value wanted = t.add(t.mul(inside, rate), t.mul(of, 1 - rate));
    return scaled(t, weight, wanted, of);
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
