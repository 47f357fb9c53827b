//===- Recurrent.h - keras.layers.RNN and its relatives ----------*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_RECURRENT_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_RECURRENT_H

#include "weft/compiler/frontends/keras/layers/RecurrentCells.h"
#include "weft/compiler/frontends/keras/tensors/Loops.h"

namespace weft::keras {

/// Runs a cell along the times of a sequence (batch, times, ...). A masked time
/// does not change the states; its output is the previous one, or 0 with
/// `zero_output_for_mask` and without `unroll`.
class Recurrent : public Layer {
public:
  bool returnSequences = false, returnState = false, goBackwards = false;

  /// The output, followed by the last states with `return_state`.
  std::vector<Tensor> results(Call &c, const CallInputs &inputs) const override;
  Facts facts() const override {
    return {.tensors = {"sequences", "initial_state", "mask"},
            .passesMask = returnSequences,
            .activityRegularizer = outputRegularizer};
  }
  /// The mask that the call uses: Keras passes a tensor's mask only if no other
  /// argument is a tensor.
  static Tensor usedMask(const CallInputs &inputs) {
    bool isAlone = inputs.list("initial_state").empty();
    return isAlone || inputs.arguments.keyword("mask") ? inputs.mask()
                                                       : Tensor();
  }
  /// The keyword by which an outer layer chooses whether outputs at masked
  /// times are 0.
  static constexpr const char *kZeroOutput = "zero_output_for_mask";

protected:
  virtual const RecurrentCell &cell() const = 0;
  /// The rank of the input, with the batch and the times.
  virtual int64_t rank() const { return 3; }
  /// Reads the options of sequences. `unroll` affects the result only by the
  /// outputs at masked times.
  void sequenceOptions(Options &o);

  RegularizerPtr outputRegularizer;
  bool unroll = false, zeroOutputForMask = false;

private:
  Tensor usedTimes(Call &c, const CallInputs &inputs) const;
  bool begins(Call &c, const CallInputs &inputs, CellOfCall &run) const;
  Scanned along(Call &c, const CallInputs &inputs, const CellOfCall &run,
                Tensor used) const;
};

/// A recurrent layer of any cell.  keras.layers.RNN
class RNN : public Recurrent {
  std::shared_ptr<const Layer> given;

  void options(Options &o) override;
  const RecurrentCell &cell() const override {
    return static_cast<const RecurrentCell &>(*given);
  }
};

/// A recurrent layer whose options include those of its cell.
template <class Cell> class RecurrentOf : public Recurrent {
public:
  explicit RecurrentOf(const char *cellName) { unit.name = cellName; }

protected:
  Cell unit;
  void options(Options &o) override {
    unit.options(o);
    sequenceOptions(o);
    o.object("activity_regularizer", outputRegularizer, regularizerTable());
  }
  const RecurrentCell &cell() const override { return unit; }
};

class SimpleRNN : public RecurrentOf<SimpleRNNCell> {
public:
  SimpleRNN() : RecurrentOf("simple_rnn_cell") {}
  void options(Options &o) override {
    unit.options(o);
    sequenceOptions(o);
    o.ignored("activity_regularizer", "Keras' SimpleRNN does not use it");
  }
};
class GRU : public RecurrentOf<GRUCell> {
public:
  GRU() : RecurrentOf("gru_cell") {}
};
class LSTM : public RecurrentOf<LSTMCell> {
public:
  LSTM() : RecurrentOf("lstm_cell") {}
};

/// Runs cells one after the other at each time.  keras.layers.StackedRNNCells
class StackedRNNCells : public RecurrentCell {
  std::vector<std::shared_ptr<const Layer>> cells;

  void options(Options &o) override;
  CellOfCall begin(Call &c, Tensor x) const override;
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_RECURRENT_H
