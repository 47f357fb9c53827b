//===- ScheduleTable.cpp - learning rates that follow the step ------------===//
//
// Each class computes the schedule of the same name in
// keras.optimizers.schedules (3.15.1), operation by operation.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/frontends/keras/optimizers/Apply.h"

#include <cmath>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

namespace {

/// Schedules that change an initial rate over `decay_steps`.
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

/// Schedules that depend on p = step / decay_steps, rounded down with
/// `staircase`.
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

/// A cosine decay to alpha times its start, which is the rate or, after a
/// linear warm-up from the rate, `warmup_target`.
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

/// A cosine decay that restarts. Each period is `t_mul` times as long as the
/// previous one and begins at `m_mul` times its height.
class CosineDecayRestarts : public Schedule {
  double initialRate = 0, lengthFactor = 2, heightFactor = 1, alpha = 0;
  int64_t firstSteps = 1;

  void options(Options &o) override {
    o.number("initial_learning_rate", initialRate, kAnyNumber);
    o.integer("first_decay_steps", firstSteps, kPositive);
    o.number("t_mul", lengthFactor, kAnyNumber);
    o.check(lengthFactor > 0, "\"t_mul\" must be above 0");
    o.number("m_mul", heightFactor, kAnyNumber);
    o.number("alpha", alpha, kAnyNumber);
    o.ignored("name", "a name for messages");
  }
  Value rate(Tensors &t, Value step) const override {
    Value done = t.div(step, double(firstSteps)), restart;
    if (lengthFactor == 1) {
      restart = t.make<FloorOp>(done);
      done = t.sub(done, restart);
    } else {
      auto power = [&](double base) {
        return t.make<PowOp>(t.splat(base, restart), restart);
      };
      double grown = double(float(lengthFactor));
      Value reached = t.sub(1.0, t.mul(done, 1 - grown));
      restart = t.make<FloorOp>(
          t.div(t.make<LogOp>(reached), double(std::log(float(lengthFactor)))));
      Value before = t.div(t.sub(1.0, power(grown)), 1 - grown);
      done = t.div(t.sub(done, before), power(grown));
    }
    Value height =
        t.mul(t.make<PowOp>(t.splat(heightFactor, restart), restart), 0.5);
    Value cosine = t.add(t.make<CosOp>(t.mul(done, M_PI)), 1.0);
    Value decayed = t.add(t.mul(t.mul(height, cosine), 1 - alpha), alpha);
    return t.mul(decayed, initialRate);
  }
};

/// The rate values[i] up to boundaries[i], and values.back() after all
/// boundaries.
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
      // Keras casts the boundaries to integers, as the step is an integer.
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
        row<CosineDecayRestarts>("CosineDecayRestarts"),
        row<ExponentialDecay>("ExponentialDecay"),
        row<InverseTimeDecay>("InverseTimeDecay"),
        row<PiecewiseConstantDecay>("PiecewiseConstantDecay"),
        row<PolynomialDecay>("PolynomialDecay")}}};
  return table;
}
