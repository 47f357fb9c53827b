//===- Convolutions.h - keras.layers.Conv and its relatives ------*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_CONVOLUTIONS_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_CONVOLUTIONS_H

#include "weft/compiler/frontends/keras/layers/ActivationOption.h"
#include "weft/compiler/frontends/keras/layers/Images.h"
#include "weft/compiler/frontends/keras/layers/LowRank.h"

namespace weft::keras {

/// The options of all convolutions of `rank` spatial dimensions.
template <int rank> class AnyConvolution : public OfImages {
protected:
  std::vector<int64_t> kernelSize = std::vector<int64_t>(rank, 1);
  std::vector<int64_t> strides = kernelSize, dilation = kernelSize;
  std::string padding = "valid";
  ActivationOption activation{"activation"};
  bool useBias = true;
  Weight kernel{glorotUniform()}, bias{zeros()};
  RegularizerPtr outputRegularizer;

  void windowOptions(Options &o, std::vector<const char *> paddings) {
    o.sizes("kernel_size", kernelSize, rank);
    o.sizes("strides", strides, rank);
    o.choice("padding", padding, std::move(paddings));
    formatOption(o);
    o.sizes("dilation_rate", dilation, rank);
    activation.read(o);
    o.flag("use_bias", useBias);
    bool isStrided = false, isDilated = false;
    for (int64_t stride : strides)
      isStrided |= stride > 1;
    for (int64_t step : dilation)
      isDilated |= step > 1;
    o.check(!(isStrided && isDilated),
            "\"strides\" and \"dilation_rate\" cannot both be above 1; set "
            "one of them to 1");
  }
  void kernelOptions(Options &o, const char *which) {
    weightOptions(o, {{which, kernel}, {"bias", bias}}, &outputRegularizer);
  }
  Facts facts() const override {
    return {.castsIntegers = true, .activityRegularizer = outputRegularizer};
  }
  SpatialWindow window(Tensor x) const {
    return paddedWindow(x, channelsFirst(), kernelSize, strides, dilation,
                        padding);
  }
  std::vector<int64_t> kernelShape(int64_t in, int64_t out) const {
    std::vector<int64_t> shape = kernelSize;
    shape.push_back(in);
    shape.push_back(out);
    return shape;
  }
  /// The bias of this number of features, or null.
  Tensor shift(Call &c, int64_t features) const {
    return useBias ? c.weight("bias", {features}, bias) : Tensor();
  }
  /// Returns activation(x + shift).
  Tensor finished(Call &c, Tensor x, Tensor shift) const {
    if (shift)
      x = x + alongFeatures(c.t, shift, x);
    return activation.apply(c, x);
  }
  Tensor finished(Call &c, Tensor x) const {
    return finished(c, x, shift(c, features(x)));
  }
};

/// A convolution over `groups` groups of features. keras.layers.Conv1D, Conv2D,
/// Conv3D
template <int rank> class Conv : public AnyConvolution<rank> {
  int64_t filters = 0, groups = 1;
  LowRank lora;

  void options(Options &o) override {
    o.integer("filters", filters, kPositive);
    rank == 1 ? this->windowOptions(o, {"valid", "same", "causal"})
              : this->windowOptions(o, {"valid", "same"});
    o.integer("groups", groups, kPositive);
    o.check(groups < 1 || filters % groups == 0,
            "\"filters\" is " + std::to_string(filters) +
                "; it must be a multiple of \"groups\", " +
                std::to_string(groups));
    this->kernelOptions(o, "kernel");
    lora.read(o, /*usesAlpha=*/true, this->kernel.constraint);
    o.ignored("quantization_config",
              "\"dtype\" says whether weights are quantized");
  }
  Tensor call(Call &c, Tensor x) const override {
    if (!c.hasRank(x, rank + 2))
      return x;
    int64_t in = this->features(x);
    if (in % groups != 0) {
      c.refuse("the image has " + std::to_string(in) +
               " features; they must be a multiple of \"groups\", " +
               std::to_string(groups));
      return x;
    }
    SpatialWindow window = this->window(x);
    if (!this->fits(c, x, window))
      return x;
    const Weight &of = this->kernel;
    Tensor kernel = c.weight("kernel", this->kernelShape(in / groups, filters),
                             lora.rules("kernel", of));
    Tensor shift = this->shift(c, filters);
    kernel = lora.applied(c, "kernel", kernel, of);
    return this->finished(
        c, convolve(c.t, x, kernel, window, groups, this->channelsFirst()),
        shift);
  }
};

/// A convolution of each feature with kernels of its own, which gives
/// `depth_multiplier` features. keras.layers.DepthwiseConv1D, DepthwiseConv2D
template <int rank> class DepthwiseConv : public AnyConvolution<rank> {
  int64_t multiplier = 1;

  void options(Options &o) override {
    this->windowOptions(o, {"valid", "same"});
    o.integer("depth_multiplier", multiplier, kPositive);
    this->kernelOptions(o, "depthwise");
  }
  Tensor call(Call &c, Tensor x) const override {
    if (!c.hasRank(x, rank + 2))
      return x;
    SpatialWindow window = this->window(x);
    if (!this->fits(c, x, window))
      return x;
    int64_t in = this->features(x);
    Tensor kernel =
        c.weight("kernel", this->kernelShape(in, multiplier), this->kernel);
    kernel = c.t.reshape(kernel, this->kernelShape(1, in * multiplier));
    return this->finished(
        c, convolve(c.t, x, kernel, window, in, this->channelsFirst()));
  }
};

/// A depthwise convolution, then one of 1 x 1 windows.
/// keras.layers.SeparableConv1D, SeparableConv2D
template <int rank> class SeparableConv : public AnyConvolution<rank> {
  int64_t filters = 0, multiplier = 1;
  Weight pointwise{glorotUniform()};

  void options(Options &o) override {
    o.integer("filters", filters, kPositive);
    this->windowOptions(
        o, rank == 1 ? std::vector<const char *>{"valid", "same", "causal"}
                     : std::vector<const char *>{"valid", "same"});
    o.integer("depth_multiplier", multiplier, kPositive);
    weightOptions(o,
                  {{"depthwise", this->kernel},
                   {"pointwise", pointwise},
                   {"bias", this->bias}},
                  &this->outputRegularizer);
  }
  Tensor call(Call &c, Tensor x) const override {
    if (!c.hasRank(x, rank + 2))
      return x;
    SpatialWindow window = this->window(x);
    if (!this->fits(c, x, window))
      return x;
    bool first = this->channelsFirst();
    int64_t in = this->features(x);
    Tensor depthwise = c.weight(
        "depthwise_kernel", this->kernelShape(in, multiplier), this->kernel);
    std::vector<int64_t> shape(rank, 1);
    shape.push_back(in * multiplier);
    shape.push_back(filters);
    Tensor mixing = c.weight("pointwise_kernel", shape, pointwise);
    depthwise = c.t.reshape(depthwise, this->kernelShape(1, in * multiplier));
    x = convolve(c.t, x, depthwise, window, in, first);
    std::vector<int64_t> ones(rank, 1);
    SpatialWindow point = paddedWindow(x, first, ones, ones, ones, "valid");
    return this->finished(c, convolve(c.t, x, mixing, point, 1, first));
  }
};

/// The adjoint of a convolution, which enlarges images by its strides.
/// keras.layers.Conv1DTranspose, Conv2DTranspose, Conv3DTranspose
template <int rank> class ConvTranspose : public AnyConvolution<rank> {
  int64_t filters = 0;
  std::vector<int64_t> outputPadding; ///< one for each dimension; empty if null

  void options(Options &o) override {
    o.integer("filters", filters, kPositive);
    this->windowOptions(o, {"valid", "same"});
    o.axes("output_padding", outputPadding);
    if (outputPadding.size() == 1)
      outputPadding.assign(rank, outputPadding[0]);
    bool fits = outputPadding.empty() || outputPadding.size() == rank;
    for (size_t i = 0; fits && i < outputPadding.size(); ++i)
      fits = outputPadding[i] >= 0 && outputPadding[i] < this->strides[i];
    o.check(fits, "\"output_padding\" " + shapeText(outputPadding) +
                      " must be one number or one for each dimension, from 0 "
                      "to below \"strides\" " +
                      shapeText(this->strides));
    this->kernelOptions(o, "kernel");
  }
  /// Computes compute_conv_transpose_padding_args_for_jax of Keras' backend.
  SpatialWindow transposedWindow() const {
    SpatialWindow out{this->kernelSize,
                      std::vector<int64_t>(rank, 1),
                      this->dilation,
                      std::vector<int64_t>(rank, 0),
                      std::vector<int64_t>(rank, 0),
                      this->strides};
    for (int i = 0; i < rank; ++i) {
      int64_t stride = this->strides[i];
      int64_t reach = (this->kernelSize[i] - 1) * this->dilation[i] + 1;
      bool isGiven = i < int(outputPadding.size());
      if (this->padding == "valid") {
        out.low[i] = reach - 1;
        out.high[i] =
            reach - 1 +
            (isGiven ? outputPadding[i] : std::max(reach, stride) - reach);
        continue;
      }
      int64_t total = isGiven ? reach + reach % 2 - 2 + outputPadding[i]
                              : stride + reach - 2;
      out.low[i] = std::min(total / 2 + total % 2, reach - 1);
      out.high[i] = total - out.low[i];
    }
    return out;
  }
  Tensor call(Call &c, Tensor x) const override {
    if (!c.hasRank(x, rank + 2))
      return x;
    SpatialWindow window = transposedWindow();
    if (!this->fits(c, x, window))
      return x;
    Tensor kernel = c.weight(
        "kernel", this->kernelShape(filters, this->features(x)), this->kernel);
    return this->finished(c, convolve(c.t, x, kernel, window, 1,
                                      this->channelsFirst(),
                                      /*isTransposed=*/true));
  }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_CONVOLUTIONS_H
