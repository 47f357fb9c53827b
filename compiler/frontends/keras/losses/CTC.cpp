//===- CTC.cpp - the loss of label sequences without times ----------------===//

#include "weft/compiler/frontends/keras/losses/CTC.h"
#include "weft/compiler/frontends/keras/tensors/Loops.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

/// The value for log(0).
static constexpr double kLogZero = -1e5;

std::string CTC::complaint(llvm::ArrayRef<int64_t> sample) const {
  return sample.size() == 2
             ? ""
             : "needs scores of classes for each time, predictions of a sample "
               "have the shape " +
                   shapeText(sample) + "; end with (times, classes)";
}

/// Adds the scores to all columns except the first, in log space.
static Value withoutLabel(Tensors &t, Value blank, Value scores) {
  int64_t count = t.size(blank, 1);
  Value first = t.slice(blank, 1, 0, 1), others = t.slice(blank, 1, 1, count);
  return t.concatenate({first, t.logAddExp(others, scores)}, 1);
}

/// 1 where the next label is the same, else 0; 0 for the last label.
static Value repeats(Tensors &t, Value label) {
  int64_t count = t.size(label, 1);
  Value same =
      t.toFloat(t.compare(CompareKind::EQ, t.slice(label, 1, 0, count - 1),
                          t.slice(label, 1, 1, count)));
  Value last = t.splat(
      0, RankedTensorType::get({t.size(label, 0), 1}, t.builder.getF32Type()));
  return t.concatenate({same, last}, 1);
}

/// The log-probability of each label at each time, (batch, times, labels).
static Value ofLabels(Tensors &t, Value logs, Value label) {
  auto hot = RankedTensorType::get(
      {t.size(label, 0), t.size(label, 1), t.size(logs, 2)},
      t.builder.getF32Type());
  Value labels = t.oneHot(label, t.splat(0, hot));
  return t.make<DotOp>(logs, labels, ArrayRef<int64_t>{2}, ArrayRef<int64_t>{2},
                       ArrayRef<int64_t>{0}, ArrayRef<int64_t>{0});
}

Value CTC::values(Tensors &t, Value label, Value prediction) const {
  Value logs = t.logSoftmax(prediction), repeat = repeats(t, label);
  Value isNew = t.sub(1.0, repeat);
  int64_t batch = t.size(label, 0), count = t.size(label, 1);
  auto scores = [&](int64_t size) {
    return RankedTensorType::get({batch, size}, t.builder.getF32Type());
  };
  // The states are the log-probabilities by the number of labels so far: those
  // after a blank, and those after a label.
  Value none = t.splat(kLogZero, scores(count));
  Value start = t.concatenate({t.splat(0, scores(1)), none}, 1);
  Value ofBlank = t.slice(logs, 2, 0, 1);
  Scanned all =
      scan(t, {ofLabels(t, logs, label), ofBlank}, 1, {start, none}, false,
           [&](ArrayRef<Value> now, ArrayRef<Value> state) {
             Value blank = state[0], said = state[1];
             Value free =
                 withoutLabel(t, blank, t.add(said, t.mul(repeat, kLogZero)));
             Value next = t.logAddExp(t.add(t.slice(free, 1, 0, count), now[0]),
                                      t.add(said, now[0]));
             Value silent = t.stretch(now[1], {batch, count + 1});
             Value after = t.add(said, t.slice(silent, 1, 0, count));
             Value waits = withoutLabel(t, t.add(free, silent),
                                        t.add(after, t.mul(isNew, kLogZero)));
             return Scanned{{waits, next}, {}};
           });
  Value last = withoutLabel(t, all.states[0], all.states[1]);
  Value isLabel = t.toInteger(t.compare(CompareKind::NE, label, 0));
  Value length = t.reduce(ReduceKind::Sum, isLabel, {1});
  Value chosen = t.mul(last, t.oneHot(length, last));
  return t.neg(t.reduce(ReduceKind::Sum, chosen, {1}));
}
