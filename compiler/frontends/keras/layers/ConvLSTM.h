//===- ConvLSTM.h - keras.layers.ConvLSTM ------------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_CONVLSTM_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_CONVLSTM_H

#include "weft/compiler/frontends/keras/layers/Recurrent.h"
#include "weft/compiler/frontends/keras/tensors/Windows.h"

namespace weft::keras {

/// An LSTM whose products are convolutions of images.
template <int rank> class ConvLSTMCell : public GatedCell<4> {
  int64_t filters = 0;
  std::vector<int64_t> kernelSize = std::vector<int64_t>(rank, 1);
  std::vector<int64_t> strides = kernelSize, dilation = kernelSize;
  std::string padding = "valid", dataFormat = "channels_last";
  bool unitForgetBias = true;

  bool isFirst() const { return dataFormat == "channels_first"; }
  /// The dimension of features, counted from the end.
  int64_t featureDim() const { return isFirst() ? -rank - 1 : -1; }

public:
  void options(Options &o) override {
    countOption(o, "filters", filters);
    o.sizes("kernel_size", kernelSize, rank);
    o.sizes("strides", strides, rank);
    o.choice("padding", padding, {"valid", "same"});
    o.choice("data_format", dataFormat, {"channels_last", "channels_first"});
    o.sizes("dilation_rate", dilation, rank);
    auto isLarge = [](int64_t size) { return size > 1; };
    o.check(!llvm::any_of(strides, isLarge) || !llvm::any_of(dilation, isLarge),
            "\"strides\" and \"dilation_rate\" cannot both be above 1; set "
            "one of them to 1");
    activation.read(o);
    gateActivation.read(o);
    o.flag("use_bias", useBias);
    seedOption(o);
    initialOptions(o);
    o.flag("unit_forget_bias", unitForgetBias);
    ruleOptions(o);
  }
  CellOfCall begin(Call &c, Tensor x) const override {
    Tensors &t = c.t;
    SpatialWindow window =
        paddedWindow(x, isFirst(), kernelSize, strides, dilation, padding);
    std::vector<int64_t> state = window.over(spatialSizes(x, isFirst()));
    if (llvm::any_of(state, [](int64_t size) { return size < 1; })) {
      c.refuse("its windows do not fit in samples of shape " + sampleText(x));
      return {};
    }
    Tensor kernel = kernelOf(c, kernelShape(t.size(x, featureDim())));
    Tensor recurrent = recurrentOf(c, kernelShape(filters));
    Tensor bias = biasOf(c, {4 * filters}, unitForgetBias);
    this->holdSeed(c);
    state.insert(isFirst() ? state.begin() : state.end(), filters);
    Tensor zeros = zerosOf(c, x, state);
    SmallVector<Tensor> ofInput = used(dropoutMasks(c, x, rate, 4), rate);
    SmallVector<Tensor> ofState =
        used(dropoutMasks(c, zeros, recurrentRate, 4), recurrentRate);
    std::vector<int64_t> ones(rank, 1);
    SpatialWindow same =
        paddedWindow(zeros, isFirst(), kernelSize, ones, ones, "same");
    return {{zeros, zeros},
            [=, this, &t](Tensor x) {
              Tensor sums = convolved(t, x, kernel, ofInput, window);
              return bias ? sums + t.along(bias, sums, featureDim()) : sums;
            },
            [=, this, &t, call = c](Tensor x, ArrayRef<Tensor> states) mutable {
              Tensor h = convolved(t, states[0], recurrent, ofState, same);
              return longShort(call, x + h, states[1], featureDim());
            }};
  }

private:
  std::vector<int64_t> kernelShape(int64_t in) const {
    std::vector<int64_t> shape = kernelSize;
    shape.push_back(in);
    shape.push_back(4 * filters);
    return shape;
  }
  /// Convolves x at one time, or at all times as one batch; with masks,
  /// convolves each gate separately.
  Tensor convolved(Tensors &t, Tensor x, Tensor kernel, ArrayRef<Tensor> masks,
                   const SpatialWindow &window) const {
    auto convolution = [&](Tensor x, Tensor kernel) {
      if (t.rank(x) == rank + 2)
        return convolve(t, x, kernel, window, 1, isFirst());
      SmallVector<int64_t> shape(t.shape(x)), flat(shape);
      flat.erase(flat.begin());
      flat[0] *= shape[0];
      Tensor out =
          convolve(t, t.reshape(x, flat), kernel, window, 1, isFirst());
      SmallVector<int64_t> result = {shape[0], shape[1]};
      llvm::append_range(result, t.shape(out).drop_front());
      return t.reshape(out, result);
    };
    if (masks.empty())
      return convolution(x, kernel);
    SmallVector<Tensor> gates;
    for (int i = 0; i < 4; ++i)
      gates.push_back(
          convolution(masked(t, x, masks, i), gate(t, kernel, i, 4)));
    return t.concatenate(gates, featureDim());
  }
};

/// keras.layers.ConvLSTM1D, ConvLSTM2D, ConvLSTM3D
template <int images>
class ConvLSTM : public RecurrentOf<ConvLSTMCell<images>> {
public:
  ConvLSTM() : RecurrentOf<ConvLSTMCell<images>>("conv_lstm_cell") {}

private:
  int64_t rank() const override { return images + 3; }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_CONVLSTM_H
