//===- ColorImages.h - images of other colours -------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_COLORIMAGES_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_COLORIMAGES_H

#include "weft/compiler/frontends/keras/layers/RandomImages.h"
#include "weft/compiler/frontends/keras/tensors/Colors.h"
#include "weft/compiler/frontends/keras/tensors/RandomIntegers.h"

namespace weft::keras {

/// Layers of images whose colours have any `value_range`; wide() converts it to
/// numbers from 0 to 255, and back() these to the range.
class OfValueRange : public RandomColors {
protected:
  void rangeOption(Options &o) {
    o.numbers("value_range", valueRange);
    bool isGood = valueRange.size() == 2 && valueRange[0] != valueRange[1];
    o.check(isGood, "\"value_range\" must be two different numbers");
    if (!isGood)
      valueRange = {0, 255};
  }
  std::array<double, 2> range() const {
    return {std::min(valueRange[0], valueRange[1]),
            std::max(valueRange[0], valueRange[1])};
  }
  Tensor wide(Tensors &t, Tensor x) const {
    return inRange(t, x, range(), {0, 255});
  }
  Tensor back(Tensors &t, Tensor x) const {
    return inRange(t, x, {0, 255}, range());
  }
  /// Whether the images have three features; refuses others.
  bool hasColors(Call &c, Tensor x) const {
    if (features(x) == 3)
      return true;
    c.refuse("takes images of 3 colours, but is called with samples of shape " +
             sampleText(x));
    return false;
  }
  int64_t featureDim() const { return channelsFirst() ? 1 : 3; }
  /// One number for each image, in the type of the layer's computation.
  Tensor eachOfType(Call &c, Tensor x, std::array<double, 2> limits) const {
    return uniform(c, {c.t.size(x, 0)}, limits, tensorType(x).getElementType());
  }
  /// Whether each image is changed: it is with a probability that is drawn from
  /// `factor`.
  Tensor chosen(Call &c, Tensor x, const std::vector<double> &factor) const {
    Tensor probability = each(c, x, limits(factor, 0));
    Tensor drawn = each(c, x, {0, 1});
    return c.t.along(drawn < probability, x, 0);
  }
};

/// Scales each feature of an image so that its least and largest values become
/// the ends of `value_range`; a feature of one value is kept.
/// keras.layers.AutoContrast
class AutoContrast : public OfValueRange {
  void options(Options &o) override {
    imageOptions(o);
    rangeOption(o);
  }
  bool changesAlways() const override { return true; }
  Tensor changed(Call &c, Tensor x) const override {
    Tensors &t = c.t;
    // As in Keras, dimensions 1 and 2 are reduced even if one of them has the
    // features.
    int64_t dims[] = {1, 2};
    Tensor images = wide(t, x);
    auto edge = [&](ReduceKind kind) {
      return t.spread(t.reduce(kind, images, dims), images, dims);
    };
    Tensor low = edge(ReduceKind::Min), high = edge(ReduceKind::Max);
    Tensor scale = t.splat(255, low) / (high - low);
    Tensor out = images * scale + -low * scale;
    out = back(t, clipped(t, out, 0, 255));
    return select(out != out, x, out);
  }
};

/// Adds a number to colours, and inverts those not below a threshold.
/// keras.layers.Solarization
class Solarization : public OfValueRange {
  std::vector<double> addition = {0, 0}, threshold = {0, 0};

  void options(Options &o) override {
    imageOptions(o);
    factorOption(o, "addition_factor", addition, 0);
    factorOption(o, "threshold_factor", threshold, 0);
    rangeOption(o);
    o.seed("seed", seed, true);
  }
  Tensor changed(Call &c, Tensor x) const override {
    Tensors &t = c.t;
    auto drawn = [&](const std::vector<double> &factor) {
      auto [least, most] = limits(factor, 0);
      return t.along(eachOfType(c, x, {least, most * 255}), x, 0);
    };
    Tensor added = drawn(addition), border = drawn(threshold);
    Tensor out = clipped(t, wide(t, x) + added, 0, 255);
    return back(t, select(out < border, out, 255.0 - out));
  }
};

/// Inverts colours.  keras.layers.RandomInvert
class RandomInvert : public OfValueRange {
  std::vector<double> factor = {0, 1};

  void options(Options &o) override {
    imageOptions(o);
    factorOption(o, "factor", factor, 0);
    rangeOption(o);
    o.seed("seed", seed, true);
  }
  Tensor changed(Call &c, Tensor x) const override {
    Tensor isChosen = chosen(c, x, factor);
    return select(isChosen, valueRange[1] - x, x);
  }
};

/// Reduces the bits of colours.  keras.layers.RandomPosterization
class RandomPosterization : public OfValueRange {
  std::vector<double> factor = {1, 8};

  void options(Options &o) override {
    imageOptions(o);
    o.numbers("factor", factor);
    bool isGood = factor.size() == 1 || factor.size() == 2;
    for (double bits : factor)
      isGood &= bits >= 1 && bits <= 8 && bits == std::floor(bits);
    o.check(isGood,
            "\"factor\" must be a whole number, or two, between 1 and 8");
    if (!isGood)
      factor = {1, 8};
    rangeOption(o);
    o.seed("seed", seed, true);
  }
  std::array<int64_t, 2> bits() const {
    return {int64_t(std::min(factor.front(), factor.back())),
            int64_t(std::max(factor.front(), factor.back()))};
  }
  int64_t drawsAlways() const override { return bits()[0] != bits()[1]; }
  Tensor changed(Call &c, Tensor x) const override {
    Tensors &t = c.t;
    auto [least, most] = bits();
    int64_t count = t.size(x, 0);
    auto type = mlir::RankedTensorType::get({count}, t.builder.getI32Type());
    Tensor kept = t.splat(double(least), type);
    if (least != most)
      kept = c.random(seed, [&, least = least, most = most](Tensor key) {
        return randomIntegers(t, key, {count}, least, most);
      });
    else
      c.hold(seed);
    Tensor whole = t.toInteger(t.clamp(wide(t, x), 0, 255));
    Tensor shift = t.along(8.0 - kept, whole, 0);
    whole =
        t.make<ShiftLeftOp>(t.make<ShiftRightLogicalOp>(whole, shift), shift);
    return back(t, t.castLike(whole, x));
  }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_COLORIMAGES_H
