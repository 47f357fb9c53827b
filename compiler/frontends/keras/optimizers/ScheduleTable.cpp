//===- ScheduleTable.cpp - learning rates that follow the step ------------===//
//
// Each class is that of its name in keras.optimizers.schedules (3.15.1),
// operation by operation.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/frontends/keras/optimizers/Apply.h"

#include <cmath>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

namespace {

/// Schedules that begin at a rate and change it over `decay_steps`.
class Decay : public Schedule {
protected:
  double initialRate = 0;
  int64_t decaySteps = 1;

  void options(Options &o) override {
    o.number("initial_learning_rate", initialRate, kAnyNumber);
    o.integer("decay_steps", decaySteps, kPositive);
    o.ignored("name", "a name for messages");
  }
};

/// step / decay_steps, cut to whole numbers for a staircase.
class RatedDecay : public Decay {
protected:
  double decayRate = 1;
  bool staircase = false;

  void options(Options &o) override {
    Decay::options(o);
    o.number("decay_rate", decayRate, kAnyNumber);
    o.flag("staircase", staircase);
  }
  Value periods(Tensors &t, Value step) const {
    Value p = t.div(step, double(decaySteps));
    return staircase ? t.make<FloorOp>(p) : p;
  }
};

/// rate * decay_rate^p.
class ExponentialDecay : public RatedDecay {
  Value rate(Tensors &t, Value step) const override {
    Value p = periods(t, step);
    return t.mul(t.make<PowOp>(t.splat(decayRate, p), p), initialRate);
  }
};

/// rate / (1 + decay_rate * p).
class InverseTimeDecay : public RatedDecay {
  Value rate(Tensors &t, Value step) const override {
    Value divisor = t.add(t.mul(periods(t, step), decayRate), 1.0);
    return t.div(t.splat(initialRate, divisor), divisor);
  }
};

/// (rate - end) * (1 - p)^power + end.
class PolynomialDecay : public Decay {
  double endRate = 0.0001, power = 1;
  bool cycle = false;

  void options(Options &o) override {
    Decay::options(o);
    o.number("end_learning_rate", endRate, kAnyNumber);
    o.number("power", power, kAnyNumber);
    o.flag("cycle", cycle);
  }
  Value rate(Tensors &t, Value step) const override {
    Value length = t.splat(double(decaySteps), step);
    if (cycle) {
      Value cycles = t.make<CeilOp>(t.div(step, double(decaySteps)));
      Value isFirst = t.compare(CompareKind::EQ, step, 0);
      length = t.mul(length, t.select(isFirst, t.splat(1, step), cycles));
    } else {
      step = t.make<MinOp>(step, length);
    }
    Value left = t.sub(1.0, t.div(step, length));
    Value share = t.make<PowOp>(left, t.splat(power, left));
    return t.add(t.mul(share, double(float(initialRate) - float(endRate))),
                 endRate);
  }
};

/// Half a cosine from the rate to alpha times it; before that a line from the
/// rate to `warmup_target`.
class CosineDecay : public Decay {
  double alpha = 0;
  std::optional<double> warmupTarget;
  int64_t warmupSteps = 0;

  void options(Options &o) override {
    Decay::options(o);
    o.number("alpha", alpha, kAnyNumber);
    o.maybeNumber("warmup_target", warmupTarget, kAnyNumber);
    o.integer("warmup_steps", warmupSteps, kNotNegative);
  }
  Value decayed(Tensors &t, Value step, double from) const {
    Value angle = t.mul(t.div(step, double(decaySteps)), M_PI);
    Value cosine = t.mul(t.add(t.make<CosOp>(angle), 1.0), 0.5);
    return t.mul(t.add(t.mul(cosine, 1 - alpha), alpha), from);
  }
  Value rate(Tensors &t, Value step) const override {
    if (!warmupTarget)
      return decayed(t, t.min(step, double(decaySteps)), initialRate);
    step = t.min(step, double(decaySteps + warmupSteps));
    Value after = decayed(t, t.add(step, -double(warmupSteps)), *warmupTarget);
    if (warmupSteps == 0)
      return after;
    Value line = t.add(t.mul(t.div(step, double(warmupSteps)),
                             double(float(*warmupTarget) - float(initialRate))),
                       initialRate);
    Value isWarm = t.compare(CompareKind::LT, step, double(warmupSteps));
    return t.select(isWarm, line, after);
  }
};

/// values[i] up to boundaries[i], then values.back().
class PiecewiseConstantDecay : public Schedule {
  std::vector<double> boundaries, values;

  void options(Options &o) override {
    o.numbers("boundaries", boundaries);
    o.numbers("values", values);
    o.check(values.size() == boundaries.size() + 1,
            "\"values\" has " + std::to_string(values.size()) +
                " entries for " + std::to_string(boundaries.size()) +
                " \"boundaries\"; it has one more");
    o.ignored("name", "a name for messages");
  }
  Value rate(Tensors &t, Value step) const override {
    Value out = t.splat(values.back(), step);
    for (size_t i = boundaries.size(); i--;)
      // Keras casts the boundaries to integers, as the step is one.
      out =
          t.select(t.compare(CompareKind::LE, step, std::trunc(boundaries[i])),
                   t.splat(values[i], step), out);
    return out;
  }
};

} // namespace

const Table<Schedule> &weft::keras::scheduleTable() {
  static const Table<Schedule> table = {
      {"learning rate schedule",
       "learning rate schedules",
       {row<CosineDecay>("CosineDecay"),
        row<ExponentialDecay>("ExponentialDecay"),
        row<InverseTimeDecay>("InverseTimeDecay"),
        row<PiecewiseConstantDecay>("PiecewiseConstantDecay"),
        row<PolynomialDecay>("PolynomialDecay")}}};
  return table;
}
