//===- Schedules.h - the learning rates of Keras' schedules -----*- C++ -*-===//
//
// Each schedule of keras.optimizers.schedules: its options, and its formula as
// Keras computes it in float32. The formula is one template: a model's step has
// it as tensors, a callback computes it for the number of an epoch.
//
//   ExponentialDecay decay;
//   decay.options(reader);                 // of Options.h
//   decay.rate(Single(3)).value;           // for epoch 3
//   decay.rate(step);                      // of a scalar tensor: two ops
//
// A number type has operators with itself and with double, and the functions
// pow, floor, ceil, log, cos, min and select.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_CONFIG_SCHEDULES_H
#define WEFT_BASE_CONFIG_SCHEDULES_H

#include "weft/base/config/Options.h"

#include <cmath>
#include <numbers>

namespace weft::schedules {

/// A float32, which rounds the numbers that it meets.
struct Single {
  float value;
  explicit Single(double value) : value(float(value)) {}
  Single number(double other) const { return Single(other); }
};
inline Single operator+(Single a, Single b) {
  return Single(a.value + b.value);
}
inline Single operator-(Single a, Single b) {
  return Single(a.value - b.value);
}
inline Single operator*(Single a, Single b) {
  return Single(a.value * b.value);
}
inline Single operator/(Single a, Single b) {
  return Single(a.value / b.value);
}
inline Single operator+(Single a, double b) { return a + Single(b); }
inline Single operator*(Single a, double b) { return a * Single(b); }
inline Single operator/(Single a, double b) { return a / Single(b); }
inline Single operator-(double a, Single b) { return Single(a) - b; }
inline Single operator/(double a, Single b) { return Single(a) / b; }
inline bool operator==(Single a, double b) { return a.value == float(b); }
inline bool operator<(Single a, double b) { return a.value < float(b); }
inline bool operator<=(Single a, double b) { return a.value <= float(b); }
inline Single pow(Single x, Single y) {
  return Single(std::pow(x.value, y.value));
}
inline Single pow(double x, Single y) { return pow(Single(x), y); }
inline Single pow(Single x, double y) { return pow(x, Single(y)); }
inline Single floor(Single x) { return Single(std::floor(x.value)); }
inline Single ceil(Single x) { return Single(std::ceil(x.value)); }
inline Single log(Single x) { return Single(std::log(x.value)); }
inline Single cos(Single x) { return Single(std::cos(x.value)); }
inline Single min(Single x, Single y) { return y.value < x.value ? y : x; }
inline Single min(Single x, double y) { return min(x, Single(y)); }
inline Single select(bool isFirst, Single a, Single b) {
  return isFirst ? a : b;
}
inline Single select(bool isFirst, double a, Single b) {
  return isFirst ? Single(a) : b;
}

using keras::kAnyNumber;
using keras::Options;

inline void nameOption(Options &o) { o.ignored("name", "a name for messages"); }

/// The options of most schedules.
class Decay {
protected:
  double initialRate = 0, steps = 1;

  void begin(Options &o, const char *stepsName = "decay_steps") {
    o.required("initial_learning_rate");
    o.number("initial_learning_rate", initialRate, kAnyNumber);
    o.required(stepsName);
    o.number(stepsName, steps, kAnyNumber);
    o.check(steps > 0, "\"" + std::string(stepsName) +
                           "\" must be above 0; give a number of steps");
    nameOption(o);
  }
};

class RatedDecay : public Decay {
protected:
  double decayRate = 1;
  bool staircase = false;

  template <class Number> Number periods(Number step) const {
    Number p = step / steps;
    return staircase ? floor(p) : p;
  }

public:
  void options(Options &o) {
    begin(o);
    o.required("decay_rate");
    o.number("decay_rate", decayRate, kAnyNumber);
    o.flag("staircase", staircase);
  }
};

/// initial * rate^(step / steps); with `staircase` the exponent is whole.
class ExponentialDecay : public RatedDecay {
public:
  template <class Number> Number rate(Number step) const {
    return pow(decayRate, periods(step)) * initialRate;
  }
};

/// initial / (1 + rate * step / steps).
class InverseTimeDecay : public RatedDecay {
public:
  template <class Number> Number rate(Number step) const {
    return initialRate / (periods(step) * decayRate + 1.0);
  }
};

/// From the initial to the end rate along (1 - step / steps)^power, once or,
/// with `cycle`, again and again over longer times.
class PolynomialDecay : public Decay {
  double endRate = 0.0001, power = 1;
  bool cycle = false;

public:
  void options(Options &o) {
    begin(o);
    o.number("end_learning_rate", endRate, kAnyNumber);
    o.number("power", power, kAnyNumber);
    o.flag("cycle", cycle);
  }
  template <class Number> Number rate(Number step) const {
    Number length = step.number(steps);
    if (cycle) {
      Number cycles = ceil(step / steps);
      auto isFirst = step == 0;
      length = length * select(isFirst, 1, cycles);
    } else {
      step = min(step, length);
    }
    Number share = pow(1.0 - step / length, power);
    return share * double(float(initialRate) - float(endRate)) + endRate;
  }
};

/// Half a cosine from the initial rate to alpha times it, after a line up to
/// `warmup_target`.
class CosineDecay : public Decay {
  double alpha = 0, warmupSteps = 0;
  std::optional<double> warmupTarget;

  template <class Number> Number decayed(Number step, double from) const {
    Number angle = step / steps * std::numbers::pi;
    Number cosine = (cos(angle) + 1.0) * 0.5;
    return (cosine * (1 - alpha) + alpha) * from;
  }

public:
  void options(Options &o) {
    begin(o);
    o.number("alpha", alpha, kAnyNumber);
    o.maybeNumber("warmup_target", warmupTarget, kAnyNumber);
    o.number("warmup_steps", warmupSteps, kAnyNumber);
    o.check(warmupSteps >= 0, "\"warmup_steps\" must not be negative; give a "
                              "number of steps");
  }
  template <class Number> Number rate(Number step) const {
    if (!warmupTarget)
      return decayed(min(step, steps), initialRate);
    step = min(step, steps + warmupSteps);
    Number after = decayed(step + -warmupSteps, *warmupTarget);
    if (warmupSteps == 0)
      return after;
    Number line =
        step / warmupSteps * double(float(*warmupTarget) - float(initialRate)) +
        initialRate;
    auto isWarm = step < warmupSteps;
    return select(isWarm, line, after);
  }
};

/// Half a cosine again and again, each t_mul times as long and m_mul times as
/// high as the one before.
class CosineDecayRestarts : public Decay {
  double lengthFactor = 2, heightFactor = 1, alpha = 0;

public:
  void options(Options &o) {
    begin(o, "first_decay_steps");
    o.number("t_mul", lengthFactor, kAnyNumber);
    o.check(lengthFactor > 0, "\"t_mul\" must be above 0; give 2");
    o.number("m_mul", heightFactor, kAnyNumber);
    o.number("alpha", alpha, kAnyNumber);
  }
  template <class Number> Number rate(Number step) const {
    Number done = step / steps, restart = done;
    if (lengthFactor == 1) {
      restart = floor(done);
      done = done - restart;
    } else {
      double grown = double(float(lengthFactor));
      Number reached = 1.0 - done * (1 - grown);
      restart = floor(log(reached) / double(std::log(float(lengthFactor))));
      Number before = (1.0 - pow(grown, restart)) / (1 - grown);
      done = (done - before) / pow(grown, restart);
    }
    Number height = pow(heightFactor, restart) * 0.5;
    Number cosine = cos(done * std::numbers::pi) + 1.0;
    return (height * cosine * (1 - alpha) + alpha) * initialRate;
  }
};

/// values[i] up to boundaries[i], then the last value.
class PiecewiseConstantDecay {
  std::vector<double> boundaries, values;

public:
  void options(Options &o) {
    o.required("boundaries");
    o.numbers("boundaries", boundaries);
    o.required("values");
    o.numbers("values", values);
    o.check(values.size() == boundaries.size() + 1,
            "has " + std::to_string(values.size()) + " values for " +
                std::to_string(boundaries.size()) +
                " boundaries; give one value more than boundaries");
    nameOption(o);
  }
  template <class Number> Number rate(Number step) const {
    Number out = step.number(values.back());
    for (size_t i = boundaries.size(); i--;) {
      // Keras casts the boundaries to integers, as the step is an integer.
      auto isBefore = step <= std::trunc(boundaries[i]);
      out = select(isBefore, values[i], out);
    }
    return out;
  }
};

/// The rows of a table of Kind<Formula>, a Configured, for all schedules.
template <template <class> class Kind>
std::vector<keras::TableRow> scheduleRows() {
  using keras::row;
  return {row<Kind<CosineDecay>>("CosineDecay"),
          row<Kind<CosineDecayRestarts>>("CosineDecayRestarts"),
          row<Kind<ExponentialDecay>>("ExponentialDecay"),
          row<Kind<InverseTimeDecay>>("InverseTimeDecay"),
          row<Kind<PiecewiseConstantDecay>>("PiecewiseConstantDecay"),
          row<Kind<PolynomialDecay>>("PolynomialDecay")};
}

} // namespace weft::schedules

#endif // WEFT_BASE_CONFIG_SCHEDULES_H
