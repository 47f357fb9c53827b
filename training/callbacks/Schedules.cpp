#include "weft/training/callbacks/Schedules.h"

#include "weft/base/ClosestName.h"

#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>

namespace weft {

using nlohmann::json;

namespace {

constexpr float kPi = std::numbers::pi_v<float>;

class Table : public Schedule {
public:
  std::map<int64_t, double> from; ///< values by first epoch; contains epoch 0
  double at(int64_t epoch) const override {
    return std::prev(from.upper_bound(epoch))->second;
  }
};

/// The common options of Keras' schedules except the piecewise one.
class Decay : public Schedule {
protected:
  double initial = 0, steps = 0;
  void begin(CallbackOptions &o, const char *stepsName = "decay_steps") {
    o.required("initial_learning_rate");
    o.number("initial_learning_rate", initial);
    o.required(stepsName);
    o.number(stepsName, steps);
    o.check(steps > 0, std::string("\"") + stepsName +
                           "\" must be above 0; give a number of epochs");
    std::string name;
    o.text("name", name);
  }
};

template <bool isInverse> class RateDecay : public Decay {
  double rate = 0;
  bool staircase = false;
  void options(CallbackOptions &o) override {
    begin(o);
    o.required("decay_rate");
    o.number("decay_rate", rate);
    o.flag("staircase", staircase);
  }
  double at(int64_t epoch) const override {
    float p = float(epoch) / float(steps);
    p = staircase ? std::floor(p) : p;
    return isInverse ? float(initial) / (1 + float(rate) * p)
                     : float(initial) * std::pow(float(rate), p);
  }
};

class PolynomialDecay : public Decay {
  double end = 1e-4, power = 1;
  bool cycle = false;
  void options(CallbackOptions &o) override {
    begin(o);
    o.number("end_learning_rate", end);
    o.number("power", power);
    o.flag("cycle", cycle);
  }
  double at(int64_t epoch) const override {
    auto step = float(epoch), all = float(steps);
    if (cycle)
      all *= step == 0 ? 1 : std::ceil(step / all);
    else
      step = std::min(step, all);
    float p = step / all, least = float(end);
    return (float(initial) - least) * std::pow(1 - p, float(power)) + least;
  }
};

class CosineDecay : public Decay {
  double alpha = 0, warmupSteps = 0;
  std::optional<double> warmupTarget;
  void options(CallbackOptions &o) override {
    begin(o);
    o.number("alpha", alpha);
    o.number("warmup_target", warmupTarget);
    o.number("warmup_steps", warmupSteps);
  }
  float decayed(float step, float from) const {
    float cosine = 0.5f * (1 + std::cos(kPi * (step / float(steps))));
    return from * ((1 - float(alpha)) * cosine + float(alpha));
  }
  double at(int64_t epoch) const override {
    auto step = float(epoch), warm = float(warmupSteps);
    if (!warmupTarget)
      return decayed(std::min(step, float(steps)), float(initial));
    step = std::min(step, float(steps) + warm);
    auto target = float(*warmupTarget);
    return step < warm
               ? (target - float(initial)) * (step / warm) + float(initial)
               : decayed(step - warm, target);
  }
};

class CosineDecayRestarts : public Decay {
  double longer = 2, lower = 1, alpha = 0;
  void options(CallbackOptions &o) override {
    begin(o, "first_decay_steps");
    o.number("t_mul", longer);
    o.number("m_mul", lower);
    o.number("alpha", alpha);
    o.check(longer >= 1, "\"t_mul\" must be 1 or more; give 2");
  }
  double at(int64_t epoch) const override {
    float done = float(epoch) / float(steps), t = float(longer), restart;
    if (t == 1) {
      restart = std::floor(done);
      done -= restart;
    } else {
      restart = std::floor(std::log(1 - done * (1 - t)) / std::log(t));
      float before = (1 - std::pow(t, restart)) / (1 - t);
      done = (done - before) / std::pow(t, restart);
    }
    float cosine =
        0.5f * std::pow(float(lower), restart) * (1 + std::cos(kPi * done));
    return float(initial) * ((1 - float(alpha)) * cosine + float(alpha));
  }
};

class PiecewiseConstantDecay : public Schedule {
  std::vector<double> boundaries, values;
  void options(CallbackOptions &o) override {
    o.required("boundaries");
    o.numbers("boundaries", boundaries);
    o.required("values");
    o.numbers("values", values);
    o.check(values.size() == boundaries.size() + 1,
            "has " + std::to_string(values.size()) + " values for " +
                std::to_string(boundaries.size()) +
                " boundaries; give one value more than boundaries");
    std::string name;
    o.text("name", name);
  }
  double at(int64_t epoch) const override {
    size_t i = 0;
    while (i < boundaries.size() && double(epoch) > boundaries[i])
      ++i;
    return float(values[i]);
  }
};

template <typename T> std::unique_ptr<Schedule> make() {
  return std::make_unique<T>();
}
const std::map<std::string, std::function<std::unique_ptr<Schedule>()>> kKinds =
    {{"ExponentialDecay", make<RateDecay<false>>},
     {"InverseTimeDecay", make<RateDecay<true>>},
     {"PolynomialDecay", make<PolynomialDecay>},
     {"CosineDecay", make<CosineDecay>},
     {"CosineDecayRestarts", make<CosineDecayRestarts>},
     {"PiecewiseConstantDecay", make<PiecewiseConstantDecay>}};

/// A schedule of a table; null if the JSON is none.
std::unique_ptr<Schedule> readTable(const json &said) {
  auto table = std::make_unique<Table>();
  for (const auto &[key, value] : said.items()) {
    int64_t epoch = 0;
    auto [end, error] =
        std::from_chars(key.data(), key.data() + key.size(), epoch);
    if (error != std::errc() || end != key.data() + key.size() || epoch < 0 ||
        !value.is_number() || !std::isfinite(value.get<double>()))
      return nullptr;
    table->from[epoch] = value.get<double>();
  }
  return table->from.contains(0) ? std::move(table) : nullptr;
}

} // namespace

Result<std::unique_ptr<Schedule>> Schedule::read(const json &said,
                                                 const std::string &where) {
  bool isNamed = said.is_object() && said.contains("class_name");
  if (!isNamed) {
    bool isTable = said.is_object() || said.is_array();
    if (auto table = isTable ? readTable(said) : nullptr)
      return Result<std::unique_ptr<Schedule>>(std::move(table));
    return Error{where + ": " + said.dump() +
                 " is no schedule; give a list of rates, an object of rates "
                 "from an epoch on, with one for \"0\", or a schedule of Keras "
                 "with \"class_name\" and \"config\""};
  }
  std::string name = said["class_name"].is_string()
                         ? said["class_name"].get<std::string>()
                         : said["class_name"].dump();
  auto kind = kKinds.find(name);
  if (kind == kKinds.end()) {
    std::set<std::string> known;
    for (const auto &[other, maker] : kKinds)
      known.insert(other);
    return Error{where + ": no schedule is called " + name + "; " +
                 suggestion(name, known, "there are " + listOf(known))};
  }
  std::unique_ptr<Schedule> schedule = kind->second();
  json config = said.contains("config") ? said["config"] : json::object();
  CallbackOptions options(where + " " + name, config);
  schedule->options(options);
  if (Status ok = options.finish(); !ok)
    return ok.error();
  return schedule;
}

} // namespace weft
