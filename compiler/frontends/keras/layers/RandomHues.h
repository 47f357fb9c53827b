//===- RandomHues.h - images in other hues at random -------------*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_RANDOMHUES_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_RANDOMHUES_H

#include "weft/compiler/frontends/keras/layers/ColorImages.h"

namespace weft::keras {

/// Layers that change saturation and hue, by a number for each image.
class OfHues : public OfValueRange {
protected:
  Tensor saturated(Call &c, Tensor x, std::array<double, 2> limits) const {
    Tensors &t = c.t;
    Tensor share = each(c, x, limits);
    Tensor by = share / (1.0 - share + kEpsilon);
    auto [hue, saturation, value] = hsvOf(t, x, featureDim());
    Tensor out = saturation * t.along(c.cast(by), saturation, 0);
    out = clipped(t, out, range()[0], range()[1]);
    return rgbOf(t, {hue, out, value}, featureDim());
  }
  Tensor turned(Call &c, Tensor x, std::array<double, 2> limits) const {
    Tensors &t = c.t;
    std::array<double, 2> given = {valueRange[0], valueRange[1]};
    Tensor isBack = each(c, x, {0, 1}) > 0.5;
    Tensor share = each(c, x, limits);
    Tensor by = select(isBack, -share, share) * 0.5;
    auto [hue, saturation, value] =
        hsvOf(t, inRange(t, x, given, {0, 1}), featureDim());
    Tensor out = hue + t.along(c.cast(by), hue, 0);
    out = select(out > 1.0, out + -1.0, out);
    out = select(out < 0.0, out + 1.0, out);
    Tensor rgb = rgbOf(t, {out, saturation, value}, featureDim());
    return inRange(t, clipped(t, rgb, 0, 1), {0, 1}, given);
  }
};

/// keras.layers.RandomGrayscale
class RandomGrayscale : public OfValueRange {
  double factor = 0.5;

  void options(Options &o) override {
    imageOptions(o);
    o.number("factor", factor, kShare);
    o.seed("seed", seed, true);
  }
  int64_t drawsAlways() const override { return 1; }
  Tensor changed(Call &c, Tensor x) const override {
    Tensors &t = c.t;
    Tensor isChosen = each(c, x, {0, 1}) < factor;
    if (features(x) == 1)
      return x;
    if (!hasColors(c, x))
      return x;
    Tensor gray = t.stretch(grayOf(t, x, featureDim()), t.shape(x));
    return select(t.along(isChosen, x, 0), gray, x);
  }
};

/// Interpolates between images and their grey versions, or extrapolates.
/// keras.layers.RandomColorDegeneration
class RandomColorDegeneration : public OfValueRange {
  std::vector<double> factor = {0, 0};

  void options(Options &o) override {
    imageOptions(o);
    factorOption(o, "factor", factor);
    rangeOption(o);
    o.seed("seed", seed, true);
  }
  int64_t drawsAlways() const override { return 1; }
  Tensor changed(Call &c, Tensor x) const override {
    Tensors &t = c.t;
    if (!hasColors(c, x))
      return x;
    Tensor by = t.along(c.cast(each(c, x, limits(factor))), x, 0);
    Tensor gray = t.stretch(grayOf(t, x, featureDim()), t.shape(x));
    Tensor out = x + by * (gray - x);
    return clipped(t, out, range()[0], range()[1]);
  }
};

/// Changes saturation.  keras.layers.RandomSaturation
class RandomSaturation : public OfHues {
  std::vector<double> factor = {0, 0};

  void options(Options &o) override {
    imageOptions(o);
    factorOption(o, "factor", factor);
    rangeOption(o);
    o.seed("seed", seed, true);
  }
  int64_t drawsAlways() const override { return 1; }
  Tensor changed(Call &c, Tensor x) const override {
    return hasColors(c, x) ? saturated(c, x, limits(factor)) : x;
  }
};

/// Changes hue.  keras.layers.RandomHue
class RandomHue : public OfHues {
  std::vector<double> factor = {0, 0};

  void options(Options &o) override {
    imageOptions(o);
    factorOption(o, "factor", factor, 0);
    rangeOption(o);
    o.seed("seed", seed, true);
  }
  int64_t drawsAlways() const override { return 2; }
  Tensor changed(Call &c, Tensor x) const override {
    return hasColors(c, x) ? turned(c, x, limits(factor, 0)) : x;
  }
};

/// Applies RandomBrightness, RandomContrast, RandomSaturation and RandomHue in
/// turn, with numbers of the layer's own generator. As in Keras the generators
/// of these layers exist but are not used.  keras.layers.RandomColorJitter
class RandomColorJitter : public OfHues {
  struct Adjustment {
    const char *option, *name;
    std::vector<double> factor = {};
    InitializerPtr seed = {};
  };
  Adjustment brightness = {"brightness_factor", "random_brightness"},
             contrast = {"contrast_factor", "random_contrast"},
             saturation = {"saturation_factor", "random_saturation"},
             hue = {"hue_factor", "random_hue"};

  void options(Options &o) override {
    o.refused("bounding_box_format", "boxes beside the images");
    o.refused("data_format", "Keras mixes up the dimensions of others",
              "\"channels_last\"");
    o.ignored("factor", "Keras' RandomColorJitter does not use it");
    rangeOption(o);
    o.seed("seed", seed, true);
    for (Adjustment *one : {&brightness, &contrast, &saturation, &hue}) {
      o.numbers(one->option, one->factor);
      bool isSet = !one->factor.empty();
      if (isSet)
        factorOption(o, one->option, one->factor,
                     one == &contrast || one == &hue ? 0 : -1);
      o.seed("seed", one->seed, isSet);
    }
  }
  Tensor changed(Call &c, Tensor x) const override {
    if (!hasColors(c, x))
      return x;
    c.hold(seed);
    for (const Adjustment *one : {&brightness, &contrast, &saturation, &hue})
      if (!one->factor.empty())
        c.holdInside(one->name, one->seed);
    if (!brightness.factor.empty())
      x = brightened(c, x, limits(brightness.factor));
    if (!contrast.factor.empty())
      x = contrasted(c, x, limits(contrast.factor, 0));
    if (!saturation.factor.empty())
      x = saturated(c, x, limits(saturation.factor));
    if (!hue.factor.empty())
      x = turned(c, x, limits(hue.factor, 0));
    return x;
  }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_RANDOMHUES_H
