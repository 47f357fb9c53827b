#include "weft/training/callbacks/Schedules.h"

#include "weft/base/ClosestName.h"
#include "weft/base/config/Schedules.h"

#include <charconv>
#include <cmath>
#include <functional>
#include <map>

namespace weft {

using nlohmann::json;

namespace {

class Table : public Schedule {
public:
  std::map<int64_t, double> from; ///< values by first epoch; contains epoch 0
  double at(int64_t epoch) const override {
    return std::prev(from.upper_bound(epoch))->second;
  }
};

/// Reads a schedule's options from a callback's arguments.
struct CallbackReader {
  CallbackOptions &o;
  const char *unit = "epochs";

  void required(const char *name) { o.required(name); }
  void number(const char *name, double &value) { o.number(name, value); }
  void number(const char *name, std::optional<double> &value) {
    o.number(name, value);
  }
  void numbers(const char *name, std::vector<double> &values) {
    o.numbers(name, values);
  }
  void flag(const char *name, bool &value) { o.flag(name, value); }
  void name() {
    std::string name;
    o.text("name", name);
  }
  void check(bool fits, const std::string &message) { o.check(fits, message); }
};

template <class Formula> class ScheduleOf : public Schedule {
  Formula formula;
  void options(CallbackOptions &o) override {
    formula.options(CallbackReader{o});
  }
  double at(int64_t epoch) const override {
    return formula.rate(schedules::Single(double(epoch))).value;
  }
};

template <class Formula> std::unique_ptr<Schedule> make() {
  return std::make_unique<ScheduleOf<Formula>>();
}
const std::map<std::string, std::function<std::unique_ptr<Schedule>()>> kKinds =
    {{"ExponentialDecay", make<schedules::ExponentialDecay>},
     {"InverseTimeDecay", make<schedules::InverseTimeDecay>},
     {"PolynomialDecay", make<schedules::PolynomialDecay>},
     {"CosineDecay", make<schedules::CosineDecay>},
     {"CosineDecayRestarts", make<schedules::CosineDecayRestarts>},
     {"PiecewiseConstantDecay", make<schedules::PiecewiseConstantDecay>}};

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
