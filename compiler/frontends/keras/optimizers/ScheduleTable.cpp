//===- ScheduleTable.cpp - learning rate schedules ------------------------===//

#include "weft/base/config/Schedules.h"
#include "weft/compiler/frontends/keras/optimizers/Apply.h"

using namespace weft::keras;

namespace {
template <class Formula> class ScheduleOf : public Schedule {
  Formula formula;
  void options(Options &o) override { formula.options(o); }
  Tensor rate(Tensors &, Tensor step) const override {
    return formula.rate(step);
  }
};
} // namespace

const Table<Schedule> &weft::keras::scheduleTable() {
  static const Table<Schedule> table = {
      {"learning rate schedule", "learning rate schedules",
       weft::schedules::scheduleRows<ScheduleOf>()}};
  return table;
}
