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
  Tensor periods(Tensors &t, Tensor step) const {
    Tensor p = step / double(decaySteps);
    return staircase ? floor(p) : p;
  }
};

/// rate * decay_rate^p.
class ExponentialDecay : public RatedDecay {
  Tensor rate(Tensors &t, Tensor step) const override {
    Tensor p = periods(t, step);
    return pow(decayRate, p) * initialRate;
  }
};

/// rate / (1 + decay_rate * p).
class InverseTimeDecay : public RatedDecay {
  Tensor rate(Tensors &t, Tensor step) const override {
    Tensor divisor = periods(t, step) * decayRate + 1.0;
    return t.splat(initialRate, divisor) / divisor;
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
  Tensor rate(Tensors &t, Tensor step) const override {
    Tensor length = t.splat(double(decaySteps), step);
    if (cycle) {
      Tensor cycles = ceil(step / double(decaySteps));
      Tensor isFirst = step == 0;
      length = length * select(isFirst, 1, cycles);
    } else {
      step = min(step, length);
    }
    Tensor left = 1.0 - step / length;
    Tensor share = pow(left, power);
    return share * double(float(initialRate) - float(endRate)) + endRate;
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
  Tensor decayed(Tensors &t, Tensor step, double from) const {
    Tensor angle = step / double(decaySteps) * M_PI;
    Tensor cosine = (cos(angle) + 1.0) * 0.5;
    return (cosine * (1 - alpha) + alpha) * from;
  }
  Tensor rate(Tensors &t, Tensor step) const override {
    if (!warmupTarget)
      return decayed(t, min(step, double(decaySteps)), initialRate);
    step = min(step, double(decaySteps + warmupSteps));
    Tensor after = decayed(t, step + -double(warmupSteps), *warmupTarget);
    if (warmupSteps == 0)
      return after;
    Tensor line = step / double(warmupSteps) *
                      double(float(*warmupTarget) - float(initialRate)) +
                  initialRate;
    Tensor isWarm = step < double(warmupSteps);
    return select(isWarm, line, after);
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
  Tensor rate(Tensors &t, Tensor step) const override {
    Tensor done = step / double(firstSteps), restart;
    if (lengthFactor == 1) {
      restart = floor(done);
      done = done - restart;
    } else {
      auto power = [&](double base) { return pow(base, restart); };
      double grown = double(float(lengthFactor));
      Tensor reached = 1.0 - done * (1 - grown);
      restart = floor(log(reached) / double(std::log(float(lengthFactor))));
      Tensor before = (1.0 - power(grown)) / (1 - grown);
      done = (done - before) / power(grown);
    }
    Tensor height = pow(heightFactor, restart) * 0.5;
    Tensor cosine = cos(done * M_PI) + 1.0;
    Tensor decayed = height * cosine * (1 - alpha) + alpha;
    return decayed * initialRate;
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
  Tensor rate(Tensors &t, Tensor step) const override {
    Tensor out = t.splat(values.back(), step);
    for (size_t i = boundaries.size(); i--;)
      // Keras casts the boundaries to integers, as the step is an integer.
      out = select(step <= std::trunc(boundaries[i]), values[i], out);
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
