//===- Recurrent.cpp - a cell along the times of a sequence ---------------===//

#include "weft/compiler/frontends/keras/layers/Recurrent.h"
#include "weft/compiler/frontends/keras/tensors/Loops.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

void Recurrent::sequenceOptions(Options &o) {
  o.flag("return_sequences", returnSequences);
  o.refused("return_state", "several results", "false");
  o.flag("go_backwards", goBackwards);
  o.refused("stateful", "states that stay from batch to batch", "false");
  o.flag("unroll", unroll);
  o.flag("zero_output_for_mask", zeroOutputForMask);
}

/// The element at the first time, whose shape is that of all.
static Value firstOf(Tensors &t, Value x) {
  SmallVector<int64_t> shape(t.shape(x));
  shape.erase(shape.begin() + 1);
  return t.reshape(t.part(x, 1, 0, 1), shape);
}

Value Recurrent::call(Call &c, Value x) const {
  if (!c.hasRank(x, rank()))
    return x;
  Tensors &t = c.t;
  Call inside = c.inside(cell(), "cell");
  CellOfCall run = cell().begin(inside, firstOf(t, x));
  Scanned found = scan(t, {run.project(x)}, 1, run.zeros, goBackwards,
                       [&](ArrayRef<Value> parts, ArrayRef<Value> states) {
                         Scanned next{run.step(parts[0], states), {}};
                         if (returnSequences)
                           next.outputs.push_back(next.states[run.output]);
                         return next;
                       });
  return returnSequences ? found.outputs[0] : found.states[run.output];
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

CellOfCall StackedRNNCells::begin(Call &c, Value x) const {
  std::vector<CellOfCall> runs;
  SmallVector<size_t> starts;
  CellOfCall out;
  for (const auto &layer : cells) {
    const auto &cell = static_cast<const RecurrentCell &>(*layer);
    Call inside = c.inside(cell, "cells/" + cell.name);
    runs.push_back(cell.begin(inside, x));
    starts.push_back(out.zeros.size());
    out.output = out.zeros.size() + runs.back().output;
    llvm::append_range(out.zeros, runs.back().zeros);
    x = runs.back().zeros[runs.back().output];
  }
  out.project = runs[0].project;
  out.step = [runs, starts](Value x, ArrayRef<Value> states) {
    SmallVector<Value> all;
    for (auto [i, run] : llvm::enumerate(runs)) {
      if (i > 0)
        x = run.project(x);
      auto next = run.step(x, states.slice(starts[i], run.zeros.size()));
      x = next[run.output];
      llvm::append_range(all, next);
    }
    return all;
  };
  return out;
}
