//===- ScheduleTable.cpp - learning rate schedules ------------------------===//

#include "weft/base/config/Schedules.h"
#include "weft/compiler/frontends/keras/optimizers/Apply.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

namespace {

/// Reads a schedule's options from a model.
struct ModelReader {
  Options &o;
  const char *unit = "steps";

  void required(const char *) {}
  void number(const char *name, double &value) {
    o.number(name, value, kAnyNumber);
  }
  void number(const char *name, std::optional<double> &value) {
    o.maybeNumber(name, value, kAnyNumber);
  }
  void numbers(const char *name, std::vector<double> &values) {
    o.numbers(name, values);
  }
  void flag(const char *name, bool &value) { o.flag(name, value); }
  void name() { o.ignored("name", "a name for messages"); }
  void check(bool fits, const std::string &message) { o.check(fits, message); }
};

template <class Formula> class ScheduleOf : public Schedule {
  Formula formula;
  void options(Options &o) override { formula.options(ModelReader{o}); }
  Tensor rate(Tensors &, Tensor step) const override {
    return formula.rate(step);
  }
};

} // namespace

const Table<Schedule> &weft::keras::scheduleTable() {
  using namespace schedules;
  static const Table<Schedule> table = {
      {"learning rate schedule",
       "learning rate schedules",
       {row<ScheduleOf<CosineDecay>>("CosineDecay"),
        row<ScheduleOf<CosineDecayRestarts>>("CosineDecayRestarts"),
        row<ScheduleOf<ExponentialDecay>>("ExponentialDecay"),
        row<ScheduleOf<InverseTimeDecay>>("InverseTimeDecay"),
        row<ScheduleOf<PiecewiseConstantDecay>>("PiecewiseConstantDecay"),
        row<ScheduleOf<PolynomialDecay>>("PolynomialDecay")}}};
  return table;
}
