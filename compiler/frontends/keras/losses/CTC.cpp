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
static Tensor withoutLabel(Tensors &t, Tensor blank, Tensor scores) {
  int64_t count = t.size(blank, 1);
  Tensor first = t.slice(blank, 1, 0, 1), others = t.slice(blank, 1, 1, count);
  return t.concatenate({first, t.logAddExp(others, scores)}, 1);
}

/// 1 where the next label is the same, else 0; 0 for the last label.
static Tensor repeats(Tensors &t, Tensor label) {
  int64_t count = t.size(label, 1);
  Tensor same =
      t.toFloat(t.slice(label, 1, 0, count - 1) == t.slice(label, 1, 1, count));
  Tensor last = t.splat(
      0, RankedTensorType::get({t.size(label, 0), 1}, t.builder.getF32Type()));
  return t.concatenate({same, last}, 1);
}

/// The log-probability of each label at each time, (batch, times, labels).
static Tensor ofLabels(Tensors &t, Tensor logs, Tensor label) {
  auto hot = RankedTensorType::get(
      {t.size(label, 0), t.size(label, 1), t.size(logs, 2)},
      t.builder.getF32Type());
  Tensor labels = t.oneHot(label, t.splat(0, hot));
  return t.make<DotOp>(logs, labels, ArrayRef<int64_t>{2}, ArrayRef<int64_t>{2},
                       ArrayRef<int64_t>{0}, ArrayRef<int64_t>{0});
}

Tensor CTC::values(Tensors &t, Tensor label, Tensor prediction) const {
  Tensor logs = t.logSoftmax(prediction), repeat = repeats(t, label);
  Tensor isNew = 1.0 - repeat;
  int64_t batch = t.size(label, 0), count = t.size(label, 1);
  auto scores = [&](int64_t size) {
    return RankedTensorType::get({batch, size}, t.builder.getF32Type());
  };
  // The states are the log-probabilities by the number of labels so far: those
  // after a blank, and those after a label.
  Tensor none = t.splat(kLogZero, scores(count));
  Tensor start = t.concatenate({t.splat(0, scores(1)), none}, 1);
  Tensor ofBlank = t.slice(logs, 2, 0, 1);
  Scanned all = scan(
      t, {ofLabels(t, logs, label), ofBlank}, 1, {start, none}, false,
      [&](ArrayRef<Tensor> now, ArrayRef<Tensor> state) {
        Tensor blank = state[0], said = state[1];
        Tensor free = withoutLabel(t, blank, said + repeat * kLogZero);
        Tensor next =
            t.logAddExp(t.slice(free, 1, 0, count) + now[0], said + now[0]);
        Tensor silent = t.stretch(now[1], {batch, count + 1});
        Tensor after = said + t.slice(silent, 1, 0, count);
        Tensor waits = withoutLabel(t, free + silent, after + isNew * kLogZero);
        return Scanned{{waits, next}, {}};
      });
  Tensor last = withoutLabel(t, all.states[0], all.states[1]);
  Tensor isLabel = t.toInteger(label != 0);
  Tensor length = t.reduce(ReduceKind::Sum, isLabel, {1});
  Tensor chosen = last * t.oneHot(length, last);
  return -t.reduce(ReduceKind::Sum, chosen, {1});
}
