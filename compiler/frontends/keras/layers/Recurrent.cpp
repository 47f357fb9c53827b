//===- Recurrent.cpp - a cell along the times of a sequence ---------------===//

#include "weft/compiler/frontends/keras/layers/Recurrent.h"
#include "weft/compiler/frontends/keras/layers/Masking.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

void Recurrent::sequenceOptions(Options &o) {
  o.flag("return_sequences", returnSequences);
  o.flag("return_state", returnState);
  o.flag("go_backwards", goBackwards);
  o.ignored("stateful",
            "fit, evaluate and predict of Keras on JAX begin each batch with "
            "zeros",
            "false");
  o.flag("unroll", unroll);
  o.flag("zero_output_for_mask", zeroOutputForMask);
}

/// The input at the first time; only its shape matters.
static Tensor firstOf(Tensors &t, Tensor x) {
  SmallVector<int64_t> shape(t.shape(x));
  shape.erase(shape.begin() + 1);
  return t.reshape(t.slice(x, 1, 0, 1), shape);
}

/// The mask (batch, times) that applies to the call, or null.
Tensor Recurrent::usedTimes(Call &c, const CallInputs &inputs) const {
  Tensors &t = c.t;
  Tensor mask = usedMask(inputs), x = inputs.values[0];
  if (!mask)
    return {};
  ArrayRef<int64_t> shape = t.shape(mask);
  bool isByFeature = shape.size() == 3 && !(unroll && shape[2] > 1);
  if ((shape.size() != 2 && !isByFeature) ||
      shape.take_front(2) != t.shape(x).take_front(2)) {
    c.refuse("its mask " + sampleText(mask) +
             " does not fit samples of shape " + sampleText(x) +
             "; masks have a value for each time");
    return {};
  }
  if (t.rank(x) > 3 && !unroll) {
    c.refuse("is called with a mask, which Keras on JAX takes for images only "
             "with \"unroll\": true; set it");
    return {};
  }
  mask = maskBits(mask);
  return isByFeature ? t.reduce(ReduceKind::Or, mask, {2}) : mask;
}

/// Replaces the initial zeros by the states that the call is given; returns
/// false after an error.
bool Recurrent::begins(Call &c, const CallInputs &inputs,
                       CellOfCall &run) const {
  SmallVector<Tensor> given = inputs.list("initial_state");
  if (run.states.empty()) // an error has been reported
    return false;
  if (given.empty())
    return true;
  if (given.size() != run.states.size()) {
    c.refuse("is called with " + std::to_string(given.size()) +
             " tensors as \"initial_state\"; its cell has " +
             std::to_string(run.states.size()));
    return false;
  }
  for (auto [first, state] : llvm::zip_equal(run.states, given)) {
    if (c.t.shape(first) != c.t.shape(state)) {
      c.refuse("is called with samples of shape " + sampleText(state) +
               " as \"initial_state\"; this state of its cell has the shape " +
               sampleText(first));
      return false;
    }
    first = c.cast(state);
  }
  return true;
}

/// Selects `value` for samples whose mask (batch) is true, else `otherwise`.
static Tensor chosen(Tensors &t, Tensor mask, Tensor value, Tensor otherwise) {
  Tensor wide = t.make<BroadcastOp>(mask, t.shape(value), ArrayRef<int64_t>{0});
  return select(wide, value, otherwise);
}

/// Runs the cell along the times and returns the last states and, for
/// `return_sequences`, the outputs. If masked times keep or zero the output,
/// the output is appended as one more state.
Scanned Recurrent::along(Call &c, const CallInputs &inputs,
                         const CellOfCall &run, Tensor used) const {
  Tensors &t = c.t;
  const Argument *fromOutside = inputs.arguments.keyword(kZeroOutput);
  bool isZero = fromOutside ? fromOutside->isTrue() : zeroOutputForMask;
  bool keepsOutput = used && (isZero || unroll);
  SmallVector<Tensor> sequences = {run.project(inputs.values[0])},
                      first = run.states;
  if (used)
    sequences.push_back(used);
  if (keepsOutput)
    first.push_back(t.splat(0, first[run.output]));
  auto step = [&](ArrayRef<Tensor> elements, ArrayRef<Tensor> all) {
    ArrayRef<Tensor> states = all.take_front(run.states.size());
    Scanned next{run.step(elements[0], states), {}};
    Tensor output = next.states[run.output];
    if (used)
      for (auto [state, before] : llvm::zip_equal(next.states, states))
        state = chosen(t, elements[1], state, before);
    if (keepsOutput)
      next.states.push_back(chosen(t, elements[1], output,
                                   unroll ? all.back() : t.splat(0, output)));
    if (returnSequences)
      next.outputs.push_back(keepsOutput ? next.states.back()
                                         : next.states[run.output]);
    return next;
  };
  return scan(t, sequences, 1, first, goBackwards, step);
}

std::vector<Tensor> Recurrent::results(Call &c,
                                       const CallInputs &inputs) const {
  Tensor x = inputs.values[0];
  if (!c.hasRank(x, rank()))
    return {x};
  Tensor used = usedTimes(c, inputs);
  Call inside = c.inside(cell(), "cell");
  CellOfCall run = cell().begin(inside, firstOf(c.t, x));
  if (!begins(c, inputs, run))
    return {x};
  Scanned found = along(c, inputs, run, used);
  bool keepsOutput = found.states.size() > run.states.size();
  std::vector<Tensor> out = {
      returnSequences
          ? found.outputs[0]
          : found.states[keepsOutput ? run.states.size() : size_t(run.output)]};
  if (returnState)
    llvm::append_range(out,
                       ArrayRef(found.states).take_front(run.states.size()));
  return out;
}

static bool isCell(const Layer &layer) {
  return dynamic_cast<const RecurrentCell *>(&layer);
}

void RNN::options(Options &o) {
  o.object("cell", given, layerTable());
  o.check(given && isCell(*given),
          "\"cell\" must be a cell of keras.layers, as LSTMCell or "
          "StackedRNNCells");
  sequenceOptions(o);
  o.object("activity_regularizer", outputRegularizer, regularizerTable());
}

void StackedRNNCells::options(Options &o) {
  o.objects("cells", cells, layerTable());
  bool isGood = !cells.empty();
  for (const auto &layer : cells)
    isGood &= layer && isCell(*layer);
  o.check(isGood, "\"cells\" must be a list of cells of keras.layers");
}

CellOfCall StackedRNNCells::begin(Call &c, Tensor x) const {
  std::vector<CellOfCall> runs;
  SmallVector<size_t> starts;
  CellOfCall out;
  for (const auto &layer : cells) {
    const auto &cell = static_cast<const RecurrentCell &>(*layer);
    Call inside = c.inside(cell, "cells/" + cell.name);
    runs.push_back(cell.begin(inside, x));
    starts.push_back(out.states.size());
    out.output = out.states.size() + runs.back().output;
    llvm::append_range(out.states, runs.back().states);
    x = runs.back().states[runs.back().output];
  }
  out.project = runs[0].project;
  out.step = [runs, starts](Tensor x, ArrayRef<Tensor> states) {
    SmallVector<Tensor> all;
    for (auto [i, run] : llvm::enumerate(runs)) {
      if (i > 0)
        x = run.project(x);
      auto next = run.step(x, states.slice(starts[i], run.states.size()));
      x = next[run.output];
      llvm::append_range(all, next);
    }
    return all;
  };
  return out;
}
