#include "weft/training/callbacks/LearningRateScheduler.h"

#include "weft/base/config/Schedules.h"
#include "weft/training/callbacks/LearningRates.h"
#include "weft/training/callbacks/PythonText.h"

#include <charconv>

namespace weft {

using keras::Argument;

namespace {
template <class Formula> class ScheduleOf : public Schedule {
  Formula formula;
  void options(keras::Options &o) override { formula.options(o); }
  float at(int64_t epoch) const override {
    return formula.rate(schedules::Single(double(epoch))).value;
  }
};

} // namespace

static const keras::Table<Schedule> &scheduleTable() {
  static const keras::Table<Schedule> table = {
      {"schedule", "schedules", schedules::scheduleRows<ScheduleOf>()}};
  return table;
}

/// Reads [0.1, 0.1, 0.01], whose last value stays, or {"0": 0.1, "2": 0.01};
/// empty for other values.
static std::map<int64_t, double> readRates(const Argument &said) {
  std::map<int64_t, double> out;
  for (size_t i = 0; i < said.items.size(); ++i) {
    const Argument &rate = said.items[i];
    auto epoch = int64_t(i);
    std::string key = said.isList() ? "" : said.keys[i];
    auto [end, error] =
        std::from_chars(key.data(), key.data() + key.size(), epoch);
    bool isEpoch = said.isList() || (error == std::errc() && epoch >= 0 &&
                                     end == key.data() + key.size());
    bool isRate = rate.kind == Argument::Kind::Integer ||
                  rate.kind == Argument::Kind::Real;
    if (!isEpoch || !isRate)
      return {};
    out[epoch] =
        rate.kind == Argument::Kind::Real ? rate.real : double(rate.integer);
  }
  return out.contains(0) ? out : std::map<int64_t, double>();
}

void LearningRateScheduler::options(keras::Options &o) {
  o.required("schedule");
  Argument said;
  o.argumentOr("schedule", said, schedule, scheduleTable());
  if (said.isList() || said.kind == Argument::Kind::Object)
    rates = readRates(said);
  o.check(!said.isGiven() || !rates.empty(),
          "\"schedule\": " + said.written +
              " is no schedule; give a list of rates, an object of rates from "
              "an epoch on, with one for \"0\", or a schedule of Keras with "
              "\"class_name\" and \"config\"");
  o.integer("verbose", verbose, keras::kNotNegative);
}

Status LearningRateScheduler::trainBegin(TrainingRun &run) {
  auto rates = settableRates(run.state(), "LearningRateScheduler");
  return rates ? Status{} : Status{rates.error()};
}

Status LearningRateScheduler::epochBegin(TrainingRun &run) {
  double value = schedule ? schedule->at(run.epoch)
                          : std::prev(rates.upper_bound(run.epoch))->second;
  for (const LearningRate &rate : learningRates(run.state())) {
    if (Status ok = writeRate(run.state(), rate, value); !ok)
      return ok;
    if (verbose > 0)
      run.print("\nEpoch " + std::to_string(run.epoch + 1) +
                ": LearningRateScheduler setting " + rate.called +
                "learning rate to " + pythonText(value) + ".\n");
  }
  return {};
}

Status LearningRateScheduler::epochEnd(TrainingRun &run, Logs &logs) {
  return addRates(run.state(), logs);
}

} // namespace weft
