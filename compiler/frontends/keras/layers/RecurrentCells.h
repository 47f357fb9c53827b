//===- RecurrentCells.h - one time step of recurrent layers -----*- C++ -*-===//
//
// A cell is called once for a sequence and returns the functions to run at each
// time. For SimpleRNN and xs (batch, times, features):
//
//   ps = cell.project(xs)            xs . kernel + bias, all times at once
//   h  = cell.step(p, {h})           tanh(p + h . recurrent_kernel), time by time
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_RECURRENTCELLS_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_RECURRENTCELLS_H

#include "weft/compiler/frontends/keras/layers/ActivationOption.h"

#include <functional>

namespace weft::keras {

/// A cell with its weights and dropout masks, which are the same at all times.
struct CellOfCall {
  /// The initial states, which are zeros unless the call gives others.
  SmallVector<Tensor> states;
  /// The part of a step that does not depend on states, for one time or several.
  std::function<Tensor(Tensor)> project;
  /// The new states from the projected input and the old states.
  std::function<SmallVector<Tensor>(Tensor, ArrayRef<Tensor>)> step;
  /// The index of the state that is the output.
  unsigned output = 0;
};

class RecurrentCell : public Layer {
public:
  /// Begins a call. `x` is the input at one time; only its shape is used.
  virtual CellOfCall begin(Call &c, Tensor x) const = 0;
  Tensor call(Call &c, Tensor x) const override {
    c.refuse(
        "is the cell of a recurrent layer; put it into a keras.layers.RNN");
    return x;
  }
};

/// The common part of the cells of SimpleRNN, GRU, LSTM and ConvLSTM.
class WeightedCell : public RecurrentCell {
public:
  double rate = 0, recurrentRate = 0;
  /// The seed of the dropout masks. A cell that is not an option has that of
  /// its layer's config.
  InitializerPtr seed;

protected:
  bool useBias = true;
  ActivationOption activation{"activation", "tanh"};
  Weight kernel{glorotUniform()},
      recurrent{initializerTable().make("Orthogonal")}, bias{zeros()};

  /// Read the options, in the order in which Keras' constructor draws seeds:
  /// the generator's comes before or after those of the initializers.
  void seedOption(Options &o) { o.seed("seed", seed, true); }
  void initialOptions(Options &o) {
    initializerOptions(
        o, {{"kernel", kernel}, {"recurrent", recurrent}, {"bias", bias}});
  }
  void ruleOptions(Options &o) {
    NamedWeights all = {
        {"kernel", kernel}, {"recurrent", recurrent}, {"bias", bias}};
    regularizerOptions(o, all);
    constraintOptions(o, all);
    o.number("dropout", rate, kShare);
    o.number("recurrent_dropout", recurrentRate, kShare);
  }

  Tensor kernelOf(Call &c, std::vector<int64_t> shape) const {
    return c.weight("kernel", std::move(shape), kernel);
  }
  Tensor recurrentOf(Call &c, std::vector<int64_t> shape) const {
    return c.weight("recurrent_kernel", std::move(shape), recurrent);
  }
  /// The bias, or null. With `unitForgetBias` that of an LSTM's forget gate is
  /// 1 at first.
  Tensor biasOf(Call &c, std::vector<int64_t> shape,
                bool unitForgetBias = false) const {
    if (!useBias)
      return {};
    Weight rules = bias;
    if (unitForgetBias)
      rules.initializer = withUnitForgetBias(bias.initializer);
    return c.weight("bias", std::move(shape), rules);
  }
  static Tensor zerosOf(Call &c, Tensor x, ArrayRef<int64_t> sample) {
    SmallVector<int64_t> shape = {c.t.size(x, 0)};
    llvm::append_range(shape, sample);
    return c.t.splat(0, tensorType(x).clone(shape));
  }

  static bool draws(double rate) { return rate > 0 && rate < 1; }
  /// Adds the generator's state; each step advances it if Keras draws masks.
  void holdSeed(Call &c) const {
    c.hold(seed, draws(rate) || draws(recurrentRate));
  }
  /// Dropout masks for a product with the input or a state, the same at all
  /// times; none if the rate is 0, or the step does not train. Cells with gates
  /// use them if the rate is below 1.
  SmallVector<Tensor> dropoutMasks(Call &c, Tensor like, double rate,
                                   int count) const {
    SmallVector<Tensor> out;
    if (!c.training && draws(rate))
      c.skip(seed, count);
    for (int i = 0; i < count && rate > 0 && c.training; ++i)
      out.push_back(c.dropout(c.t.splat(1, like), std::min(rate, 1.0), seed));
    return out;
  }
  /// Multiplies x, at one time or at all times, by mask i.
  static Tensor masked(Tensors &t, Tensor x, ArrayRef<Tensor> masks, size_t i) {
    if (masks.empty())
      return x;
    Tensor mask = masks[std::min(i, masks.size() - 1)];
    if (t.rank(mask) == t.rank(x))
      return x * mask;
    SmallVector<int64_t> dims = {0};
    for (int64_t dim = 2; dim < t.rank(x); ++dim)
      dims.push_back(dim);
    return x * t.make<BroadcastOp>(mask, t.shape(x), dims);
  }
  static Tensor plus(Tensors &t, Tensor x, Tensor bias) {
    return bias ? x + t.along(bias, x) : x;
  }
  /// The slice of gate i out of `count` along a dimension.
  static Tensor gate(Tensors &t, Tensor all, int i, int count,
                     int64_t dim = -1) {
    int64_t size = t.size(all, dim) / count;
    return t.slice(all, dim, i * size, (i + 1) * size);
  }
  static Tensor joined(Tensors &t, ArrayRef<Tensor> gates) {
    return t.concatenate(gates, -1);
  }
};

/// tanh(x . kernel + bias + h . recurrent_kernel).
class SimpleRNNCell : public WeightedCell {
  int64_t units = 0;

public:
  void options(Options &o) override {
    o.integer("units", units, kPositive);
    activation.read(o);
    o.flag("use_bias", useBias);
    seedOption(o);
    initialOptions(o);
    ruleOptions(o);
  }
  CellOfCall begin(Call &c, Tensor x) const override {
    Tensors &t = c.t;
    Tensor kernel = kernelOf(c, {t.size(x, -1), units});
    Tensor recurrent = recurrentOf(c, {units, units});
    Tensor bias = biasOf(c, {units});
    holdSeed(c);
    Tensor zeros = zerosOf(c, x, {units});
    SmallVector<Tensor> ofInput = dropoutMasks(c, x, rate, 1);
    SmallVector<Tensor> ofState = dropoutMasks(c, zeros, recurrentRate, 1);
    return {{zeros},
            [=, &t](Tensor x) {
              return plus(t, t.matmul(masked(t, x, ofInput, 0), kernel), bias);
            },
            [=, this, &t, call = c](Tensor x, ArrayRef<Tensor> states) mutable {
              Tensor h = masked(t, states[0], ofState, 0);
              Tensor sum = x + t.matmul(h, recurrent);
              return SmallVector<Tensor>{activation.apply(call, sum)};
            }};
  }
};

/// Cells with several gates, whose weights are adjacent: GRU, LSTM, ConvLSTM.
template <int gates> class GatedCell : public WeightedCell {
protected:
  int64_t units = 0;
  ActivationOption gateActivation{"recurrent_activation", "sigmoid"};

  /// Reads a count that is small enough for the joint weight of all gates,
  /// whose size then does not overflow.
  static void countOption(Options &o, const char *name, int64_t &count) {
    o.integer(name, count, kPositive);
    o.check(count <= int64_t(1) << 40,
            "\"" + std::string(name) + "\" is " + std::to_string(count) +
                ", more than any memory holds; take fewer");
  }
  void gateOptions(Options &o) {
    countOption(o, "units", units);
    activation.read(o);
    gateActivation.read(o);
    o.flag("use_bias", useBias);
    initialOptions(o);
    ruleOptions(o);
  }
  /// Computes c = f c + i tanh(..), h = o tanh(c), where i, f and o are gates.
  /// The four pre-activations are adjacent along `dim`.
  SmallVector<Tensor> longShort(Call &c, Tensor sums, Tensor carry,
                                int64_t dim = -1) const {
    Tensors &t = c.t;
    Tensor in = gateActivation.apply(c, gate(t, sums, 0, 4, dim));
    Tensor forget = gateActivation.apply(c, gate(t, sums, 1, 4, dim));
    Tensor candidate = activation.apply(c, gate(t, sums, 2, 4, dim));
    Tensor next = forget * carry + in * candidate;
    Tensor out = gateActivation.apply(c, gate(t, sums, 3, 4, dim));
    return {out * activation.apply(c, next), next};
  }
  /// The number of masks of the input: one for each gate if states are dropped
  /// too.
  int maskCount() const { return recurrentRate > 0 ? gates : 1; }
  static SmallVector<Tensor> used(SmallVector<Tensor> masks, double rate) {
    return rate < 1 ? masks : SmallVector<Tensor>();
  }
  /// Computes x . kernel, gate by gate if each has a mask.
  static Tensor product(Tensors &t, Tensor x, Tensor kernel,
                        ArrayRef<Tensor> masks) {
    if (masks.size() < 2)
      return t.matmul(masked(t, x, masks, 0), kernel);
    SmallVector<Tensor> out;
    for (int i = 0; i < gates; ++i)
      out.push_back(
          t.matmul(masked(t, x, masks, i), gate(t, kernel, i, gates)));
    return joined(t, out);
  }
};

/// The cell h = z h + (1 - z) tanh(..); z and r are gates.
class GRUCell : public GatedCell<3> {
  bool resetAfter = true;

public:
  void options(Options &o) override {
    gateOptions(o);
    o.flag("reset_after", resetAfter);
    seedOption(o);
  }
  CellOfCall begin(Call &c, Tensor x) const override {
    Tensors &t = c.t;
    Tensor kernel = kernelOf(c, {t.size(x, -1), 3 * units});
    Tensor recurrent = recurrentOf(c, {units, 3 * units});
    Tensor bias, stateBias;
    if (resetAfter && useBias) {
      Tensor both = biasOf(c, {2, 3 * units});
      bias = t.reshape(t.slice(both, 0, 0, 1), {3 * units});
      stateBias = t.reshape(t.slice(both, 0, 1, 2), {3 * units});
    } else {
      bias = biasOf(c, {3 * units});
    }
    holdSeed(c);
    Tensor zeros = zerosOf(c, x, {units});
    SmallVector<Tensor> ofInput = dropoutMasks(c, x, rate, maskCount());
    ofInput = used(ofInput, rate);
    SmallVector<Tensor> ofState = dropoutMasks(c, zeros, recurrentRate, 3);
    ofState = used(ofState, recurrentRate);
    return {{zeros},
            [=, &t](Tensor x) {
              return plus(t, product(t, x, kernel, ofInput), bias);
            },
            [=, this, call = c](Tensor x, ArrayRef<Tensor> states) mutable {
              return step(call, x, states[0], recurrent, stateBias, ofState);
            }};
  }

private:
  SmallVector<Tensor> step(Call &c, Tensor x, Tensor h, Tensor recurrent,
                           Tensor stateBias, ArrayRef<Tensor> masks) const {
    Tensors &t = c.t;
    Tensor products, z, r, candidate;
    if (resetAfter) {
      products = plus(t, product(t, h, recurrent, masks), stateBias);
      z = gated(c, x, gate(t, products, 0, 3), 0);
      r = gated(c, x, gate(t, products, 1, 3), 1);
      candidate = r * gate(t, products, 2, 3);
    } else {
      auto product = [&](Tensor h, int i) {
        return t.matmul(h, gate(t, recurrent, i, 3));
      };
      z = gated(c, x, product(masked(t, h, masks, 0), 0), 0);
      r = gated(c, x, product(masked(t, h, masks, 1), 1), 1);
      candidate = product(r * masked(t, h, masks, 2), 2);
    }
    candidate = activation.apply(c, gate(t, x, 2, 3) + candidate);
    return {z * h + (1.0 - z) * candidate};
  }
  Tensor gated(Call &c, Tensor x, Tensor product, int i) const {
    Tensors &t = c.t;
    return gateActivation.apply(c, gate(t, x, i, 3) + product);
  }
};

/// keras.layers.LSTMCell
class LSTMCell : public GatedCell<4> {
  bool unitForgetBias = true;

public:
  void options(Options &o) override {
    gateOptions(o);
    o.flag("unit_forget_bias", unitForgetBias);
    seedOption(o);
  }
  CellOfCall begin(Call &c, Tensor x) const override {
    Tensors &t = c.t;
    Tensor kernel = kernelOf(c, {t.size(x, -1), 4 * units});
    Tensor recurrent = recurrentOf(c, {units, 4 * units});
    Tensor bias = biasOf(c, {4 * units}, unitForgetBias);
    holdSeed(c);
    Tensor zeros = zerosOf(c, x, {units});
    SmallVector<Tensor> ofInput = dropoutMasks(c, x, rate, maskCount());
    ofInput = used(ofInput, rate);
    SmallVector<Tensor> ofState = dropoutMasks(c, zeros, recurrentRate, 4);
    ofState = used(ofState, recurrentRate);
    // Keras adds the bias before the recurrent product if gates have masks.
    bool isByGate = recurrentRate > 0;
    return {{zeros, zeros},
            [=, &t](Tensor x) {
              Tensor out = product(t, x, kernel, ofInput);
              return isByGate ? plus(t, out, bias) : out;
            },
            [=, this, &t, call = c](Tensor x, ArrayRef<Tensor> states) mutable {
              Tensor z = x + product(t, states[0], recurrent, ofState);
              return longShort(call, isByGate ? z : plus(t, z, bias),
                               states[1]);
            }};
  }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_RECURRENTCELLS_H
