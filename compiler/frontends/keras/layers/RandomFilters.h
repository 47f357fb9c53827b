//===- RandomFilters.h - images that are blurred or erased -------*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_RANDOMFILTERS_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_RANDOMFILTERS_H

#include "weft/compiler/frontends/keras/layers/ColorImages.h"

namespace weft::keras {

/// Layers that convolve each feature with a kernel.
class OfNeighbours : public OfValueRange {
protected:
  /// Convolves each feature with the kernel (height, width).
  Tensor filtered(Tensors &t, Tensor x, Tensor kernel) const {
    int64_t height = t.size(kernel, 0), width = t.size(kernel, 1);
    Tensor wide = t.make<BroadcastOp>(
        kernel, ArrayRef<int64_t>{height, width, 1, features(x)},
        ArrayRef<int64_t>{0, 1});
    SpatialWindow window = paddedWindow(x, channelsFirst(), {height, width},
                                        {1, 1}, {1, 1}, "same");
    return convolve(t, x, wide, window, features(x), channelsFirst());
  }
};

/// Sharpens or blurs images.  keras.layers.RandomSharpness
class RandomSharpness : public OfNeighbours {
  std::vector<double> factor = {0, 0};

  void options(Options &o) override {
    imageOptions(o);
    factorOption(o, "factor", factor, 0);
    rangeOption(o);
    o.seed("seed", seed, true);
  }
  int64_t drawsAlways() const override { return 1; }
  Tensor changed(Call &c, Tensor x) const override {
    Tensors &t = c.t;
    Tensor by = c.cast(each(c, x, limits(factor, 0)) * 2.0);
    std::vector<float> weights(9, 1.0f / 13);
    weights[4] = 5.0f / 13;
    Tensor smooth = filtered(t, x, c.cast(t.constant(weights, {3, 3})));
    Tensor share = t.along(1.0 - by, x, 0);
    return clipped(t, x + share * (smooth - x), range()[0], range()[1]);
  }
};

/// keras.layers.RandomGaussianBlur
class RandomGaussianBlur : public OfNeighbours {
  std::vector<double> factor = {0, 1}, sigma = {0, 1};
  std::vector<int64_t> size = {3, 3}; ///< width, height

  void options(Options &o) override {
    imageOptions(o);
    factorOption(o, "factor", factor, 0);
    o.sizes("kernel_size", size, 2);
    for (int64_t each : size)
      o.check(each % 2 == 1 && each < 1 << 15,
              "\"kernel_size\" must be odd and below 32768");
    factorOption(o, "sigma", sigma, 0);
    rangeOption(o);
    o.seed("seed", seed, true);
  }
  /// A Gaussian kernel of `count` elements that add up to 1; its deviation is
  /// widths[which].
  Tensor bell(Tensors &t, int64_t count, Tensor widths, int64_t which) const {
    std::vector<float> places(count);
    for (int64_t i = 0; i < count; ++i)
      places[i] = float(i) - float(count - 1) / 2;
    Tensor x = t.castLike(t.constant(places, {count}), widths);
    Tensor width = t.stretch(t.slice(widths, 0, which, which + 1), {count});
    Tensor share = x / width;
    Tensor y = exp(share * share * -0.5);
    return y / t.spread(t.reduce(ReduceKind::Sum, y, {0}), y, {0});
  }
  Tensor changed(Call &c, Tensor x) const override {
    Tensors &t = c.t;
    Tensor isChosen = chosen(c, x, factor);
    Tensor widths =
        uniform(c, {2}, limits(sigma, 0), tensorType(x).getElementType()) +
        1e-6;
    Tensor across = bell(t, size[0], widths, 0),
           down = bell(t, size[1], widths, 1);
    int64_t shape[] = {size[1], size[0]};
    Tensor kernel = t.make<BroadcastOp>(down, shape, ArrayRef<int64_t>{0}) *
                    t.make<BroadcastOp>(across, shape, ArrayRef<int64_t>{1});
    Tensor out = select(isChosen, filtered(t, x, kernel), x);
    return clipped(t, out, valueRange[0], valueRange[1]);
  }
};

/// Fills a rectangle with noise or one colour.  keras.layers.RandomErasing
class RandomErasing : public OfValueRange {
  std::vector<double> factor = {0, 1}, scale = {0.02, 0.33};
  std::optional<double> fill; ///< none: noise is drawn

  void options(Options &o) override {
    imageOptions(o);
    factorOption(o, "factor", factor, 0);
    factorOption(o, "scale", scale, 0);
    o.maybeNumber("fill_value", fill, kAnyNumber);
    rangeOption(o);
    o.seed("seed", seed, true);
  }
  /// Whether each position along a dimension is in an interval of drawn
  /// position, whose length is `ratio` times the size.
  Tensor inside(Call &c, Tensor x, int64_t dim, Tensor ratio) const {
    Tensors &t = c.t;
    double size = double(t.size(x, dim));
    Tensor length = ratio * size;
    Tensor begin = eachOfType(c, x, {0, 1}) * (size - length);
    auto type = tensorType(x).clone(t.builder.getI32Type());
    Tensor place = t.castLike(
        t.make<IotaOp>(type, t.builder.getI64IntegerAttr(dim), Tensor()), x);
    Tensor end = t.along(begin + length, place, 0);
    return (place >= t.along(begin, place, 0)) & (place < end);
  }
  Tensor noise(Call &c, Tensor x) const {
    Tensors &t = c.t;
    Tensor drawn = c.random(
        seed, [&](Tensor key) { return t.normal(key, tensorType(x)); });
    return drawn * valueRange[1];
  }
  Tensor changed(Call &c, Tensor x) const override {
    Tensors &t = c.t;
    int64_t count = t.size(x, 0);
    Tensor ratios = sqrt(uniform(c, {count, 2}, limits(scale, 0),
                                 tensorType(x).getElementType()));
    auto ratio = [&](int64_t i) {
      return t.reshape(t.slice(ratios, 1, i, i + 1), {count});
    };
    SmallVector<int64_t> dims = spatialDims(x, channelsFirst());
    Tensor across = inside(c, x, dims[1], ratio(0));
    Tensor isErased = across & inside(c, x, dims[0], ratio(1));
    Tensor isChosen = chosen(c, x, factor);
    Tensor instead = fill ? t.splat(*fill, x) : noise(c, x);
    instead = clipped(t, instead, valueRange[0], valueRange[1]);
    return select(isChosen & isErased, instead, x);
  }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_RANDOMFILTERS_H
