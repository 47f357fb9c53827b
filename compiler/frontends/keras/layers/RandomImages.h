//===- RandomImages.h - images that training changes at random ---*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_RANDOMIMAGES_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_RANDOMIMAGES_H

#include "weft/compiler/frontends/keras/layers/Images.h"
#include "weft/compiler/frontends/keras/tensors/Sampling.h"
#include "weft/dialects/weft/ops/IndexingOps.h"

#include <cmath>

namespace weft::keras {

/// Layers that change images (batch, height, width, features) by numbers that
/// they draw in each step of training; other steps change images only if
/// changesAlways().
class RandomImages : public OfImages {
protected:
  InitializerPtr seed;

  void imageOptions(Options &o) {
    o.refused("bounding_box_format", "boxes beside the images");
    formatOption(o);
  }
  Facts facts() const override { return {.takesIntegers = true}; }
  virtual Tensor changed(Call &c, Tensor x) const = 0;
  /// Whether images are also changed in steps that do not train.
  virtual bool changesAlways() const { return false; }
  /// The number of unused draws in a step that does not train.
  virtual int64_t drawsAlways() const { return 0; }
  /// Takes a tensor of rank 3 as one image, as in Keras.
  Tensor call(Call &c, Tensor x) const override {
    bool isOne = c.t.rank(x) == 3;
    if (!isOne && !c.hasRank(x, 4))
      return x;
    x = c.cast(x);
    if (drawsAlways())
      c.hold(seed, /*isDrawnAlways=*/true);
    if (!c.training && drawsAlways())
      c.skip(seed, drawsAlways());
    if (!c.training && !changesAlways())
      return x;
    SmallVector<int64_t> shape(c.t.shape(x));
    if (!isOne)
      return changed(c, x);
    shape.insert(shape.begin(), 1);
    Tensor out = changed(c, c.t.reshape(x, shape));
    return c.t.reshape(out, c.t.shape(out).drop_front());
  }
  /// Draws jax.random.uniform between two numbers, of f32 or another type.
  Tensor uniform(Call &c, ArrayRef<int64_t> shape, std::array<double, 2> limits,
                 mlir::Type element = {}) const {
    Tensors &t = c.t;
    auto type = mlir::RankedTensorType::get(
        shape, element ? element : t.builder.getF32Type());
    float least = float(limits[0]);
    double range = type.getElementType().isF32()
                       ? double(float(limits[1]) - least)
                       : limits[1] - limits[0];
    return c.random(seed, [&](Tensor key) {
      Tensor drawn = t.uniform(key, type) * range + double(least);
      return max(drawn, least);
    });
  }
  /// Draws one number for each image.
  Tensor each(Call &c, Tensor x, std::array<double, 2> limits) const {
    return uniform(c, {c.t.size(x, 0)}, limits);
  }
  int64_t height(Tensor x) const { return spatialSizes(x, channelsFirst())[0]; }
  int64_t width(Tensor x) const { return spatialSizes(x, channelsFirst())[1]; }

  /// The limits of a factor: two numbers in order, or -|f| and |f| for one
  /// number f, where the lower limit is at least `least`.
  static std::array<double, 2> limits(const std::vector<double> &factor,
                                      double least = -1) {
    if (factor.size() != 2)
      return {std::max(-std::abs(factor.at(0)), least), std::abs(factor[0])};
    return {std::min(factor[0], factor[1]), std::max(factor[0], factor[1])};
  }
  static void factorOption(Options &o, const char *name,
                           std::vector<double> &factor, double least = -1) {
    o.numbers(name, factor);
    bool isGood = factor.size() == 1 || factor.size() == 2;
    for (double number : factor)
      isGood &= number >= least && number <= 1;
    o.check(isGood, "\"" + std::string(name) +
                        "\" must be a number, or two, between " +
                        (least < 0 ? "-1" : "0") + " and 1");
    if (!isGood)
      factor = {0};
  }
};

/// Flips each image with probability 1/2, along all axes that `mode` names.
/// keras.layers.RandomFlip
class RandomFlip : public RandomImages {
  std::string mode = "horizontal_and_vertical";

  void options(Options &o) override {
    imageOptions(o);
    o.seed("seed", seed, true);
    o.choice("mode", mode,
             {"horizontal", "vertical", "horizontal_and_vertical"});
  }
  Tensor changed(Call &c, Tensor x) const override {
    Tensors &t = c.t;
    Tensor turn = each(c, x, {0, 1}) <= 0.5;
    Tensor wide = t.along(turn, x, 0);
    SmallVector<int64_t> dims = spatialDims(x, channelsFirst());
    auto over = [&](const char *axis, int64_t dim) {
      if (mode.find(axis) != mode.npos)
        x = select(wide, t.make<ReverseOp>(x, ArrayRef<int64_t>{dim}), x);
    };
    over("horizontal", dims[1]);
    over("vertical", dims[0]);
    return x;
  }
};

/// Crops images to one size, all at the same drawn position; images that are
/// not larger are cropped around their centre and resized. As in Keras, steps
/// other than training do not crop. keras.layers.RandomCrop
class RandomCrop : public RandomImages {
  int64_t cropHeight = 1, cropWidth = 1;

  void options(Options &o) override {
    imageOptions(o);
    o.ignored("factor", "Keras' RandomCrop does not use it");
    o.integer("height", cropHeight, kPositive);
    o.integer("width", cropWidth, kPositive);
    o.check(std::max(cropHeight, cropWidth) <= 1 << 20,
            "\"height\" and \"width\" must be at most 1048576");
    o.seed("seed", seed, true);
  }
  static int64_t cropped(int64_t most, int64_t size, int64_t of, int64_t by) {
    double share = double(size) * double(of) / double(by);
    return std::max<int64_t>(int64_t(std::min(double(most), share)), 1);
  }
  Tensor changed(Call &c, Tensor x) const override {
    Tensors &t = c.t;
    c.hold(seed);
    int64_t rows = height(x), columns = width(x);
    SmallVector<int64_t> dims = spatialDims(x, channelsFirst());
    if (rows > cropHeight && columns > cropWidth) {
      auto start = [&](int64_t rest) {
        return t.toInteger(uniform(c, {}, {0, double(rest + 1)}));
      };
      auto scalar = mlir::RankedTensorType::get({}, t.builder.getI32Type());
      SmallVector<Tensor> starts(4, t.splat(0, scalar));
      starts[dims[0]] = start(rows - cropHeight);
      starts[dims[1]] = start(columns - cropWidth);
      SmallVector<int64_t> sizes(t.shape(x));
      sizes[dims[0]] = cropHeight;
      sizes[dims[1]] = cropWidth;
      return t.make<DynamicSliceOp>(x, valuesOf(starts), sizes);
    }
    int64_t top = (rows - cropped(rows, columns, cropHeight, cropWidth)) / 2;
    int64_t left =
        (columns - cropped(columns, rows, cropWidth, cropHeight)) / 2;
    x = t.slice(x, dims[0], top, std::min(rows, top + cropHeight));
    x = t.slice(x, dims[1], left, std::min(columns, left + cropWidth));
    for (auto [dim, size] :
         llvm::zip_equal(dims, std::array<int64_t, 2>{cropHeight, cropWidth}))
      if (t.size(x, dim) != size)
        x = resizedImages(c, x, dim, size, "bilinear");
    return c.cast(x);
  }
};

/// Layers that change colours, within `value_range`.
class RandomColors : public RandomImages {
protected:
  std::vector<double> factor = {0}, valueRange = {0, 255};

  void colorOptions(Options &o, double least) {
    imageOptions(o);
    factorOption(o, "factor", factor, least);
    o.numbers("value_range", valueRange);
    o.check(valueRange.size() == 2, "\"value_range\" must be two numbers");
    valueRange.resize(2);
    o.seed("seed", seed, true);
  }
  Facts facts() const override { return {}; }
  static Tensor clipped(Tensors &t, Tensor x, double least, double most) {
    return min(max(x, least), most);
  }
  Tensor contrasted(Call &c, Tensor x, std::array<double, 2> factor) const {
    Tensors &t = c.t;
    Tensor by = uniform(c, {t.size(x, 0)}, {1 - factor[0], 1 + factor[1]},
                        tensorType(x).getElementType());
    by = t.along(by, x, 0);
    SmallVector<int64_t> dims = spatialDims(x, channelsFirst());
    Tensor mean = t.mean(t.mean(x, {dims[0]}), {dims[1] - 1});
    mean = t.spread(mean, x, dims);
    Tensor out = (x - mean) * by + mean;
    return clipped(t, out, valueRange[0], valueRange[1]);
  }
  Tensor brightened(Call &c, Tensor x, std::array<double, 2> factor) const {
    Tensors &t = c.t;
    auto [least, most] = limits(valueRange);
    Tensor delta = each(c, x, factor) * (most - least);
    Tensor out = x + t.along(c.cast(delta), x, 0);
    return clipped(t, out, least, most);
  }
};

/// (x - mean) * f + mean, by the mean of each image and feature.
/// keras.layers.RandomContrast
class RandomContrast : public RandomColors {
  void options(Options &o) override { colorOptions(o, 0); }
  Tensor changed(Call &c, Tensor x) const override {
    return contrasted(c, x, limits(factor, 0));
  }
};

/// x + f times the width of `value_range`.  keras.layers.RandomBrightness
class RandomBrightness : public RandomColors {
  void options(Options &o) override { colorOptions(o, -1); }
  Tensor changed(Call &c, Tensor x) const override {
    return brightened(c, x, limits(factor));
  }
};

/// Layers that move the elements of images.
class RandomPlaces : public RandomImages {
protected:
  Sampling sampling;

  void placeOptions(Options &o) {
    o.choice("fill_mode", sampling.fillMode, Sampling::fillModes());
    o.choice("interpolation", sampling.interpolation,
             Sampling::interpolations());
    o.seed("seed", seed, true);
    o.number("fill_value", sampling.fillValue, kAnyNumber);
    imageOptions(o);
  }
  virtual Affine places(Call &c, Tensor x) const = 0;
  Tensor changed(Call &c, Tensor x) const override {
    Affine places = this->places(c, x);
    Tensor last = channelsFirst() ? c.t.channelsLast(x) : x;
    Tensor out = c.cast(affined(c.t, last, places, sampling));
    return channelsFirst() ? c.t.channelsFirst(out) : out;
  }
};

/// Moves images by fractions of their height and width.
/// keras.layers.RandomTranslation
class RandomTranslation : public RandomPlaces {
  std::vector<double> heightFactor = {0}, widthFactor = {0};

  void options(Options &o) override {
    factorOption(o, "height_factor", heightFactor);
    factorOption(o, "width_factor", widthFactor);
    placeOptions(o);
  }
  Affine places(Call &c, Tensor x) const override {
    Affine out;
    out.b2 = -(each(c, x, limits(heightFactor)) * height(x));
    out.a2 = -(each(c, x, limits(widthFactor)) * width(x));
    return out;
  }
};

/// Shears images: the row moves by a factor times the column, and the column by
/// one times the row. keras.layers.RandomShear
class RandomShear : public RandomPlaces {
  std::vector<double> xFactor = {0}, yFactor = {0};

  void options(Options &o) override {
    factorOption(o, "x_factor", xFactor);
    factorOption(o, "y_factor", yFactor);
    placeOptions(o);
  }
  Affine places(Call &c, Tensor x) const override {
    Tensors &t = c.t;
    auto drawn = [&](std::array<double, 2> limits) {
      return uniform(c, {t.size(x, 0), 1}, limits,
                     tensorType(x).getElementType());
    };
    Tensor isBack = drawn({0, 1}) > 0.5;
    auto shear = [&](const std::vector<double> &factor) {
      Tensor by = drawn(limits(factor));
      by = select(isBack, -by, by);
      return t.toFloat(t.reshape(by, {t.size(x, 0)}));
    };
    Affine out;
    out.b0 = shear(yFactor);
    out.a1 = shear(xFactor);
    return out;
  }
};

/// Rotates images around their centre, by fractions of a whole turn.
/// keras.layers.RandomRotation
class RandomRotation : public RandomPlaces {
  std::vector<double> factor = {0};

  void options(Options &o) override {
    factorOption(o, "factor", factor);
    o.ignored("value_range", "Keras 3.3 to 3.5 write it and do not use it");
    placeOptions(o);
  }
  Affine places(Call &c, Tensor x) const override {
    Tensors &t = c.t;
    auto [least, most] = limits(factor);
    Tensor angle = each(c, x, {least * 360, most * 360}) * (M_PI / 180);
    Tensor cosine = cos(angle), sine = sin(angle);
    double cx = 0.5 * double(width(x) - 1), cy = 0.5 * double(height(x) - 1);
    auto middle = [&](double at, Tensor w, Tensor h) {
      Tensor rest = t.splat(at, w) - w * cx;
      return rest - h * cy;
    };
    Tensor minus = -sine;
    return {cosine, minus,  middle(cx, cosine, minus),
            sine,   cosine, middle(cy, sine, cosine)};
  }
};

/// Zooms images around their centre.  keras.layers.RandomZoom
class RandomZoom : public RandomPlaces {
  std::vector<double> heightFactor = {0}, widthFactor;

  void options(Options &o) override {
    factorOption(o, "height_factor", heightFactor);
    o.numbers("width_factor", widthFactor);
    if (!widthFactor.empty())
      factorOption(o, "width_factor", widthFactor);
    placeOptions(o);
  }
  Affine places(Call &c, Tensor x) const override {
    auto zoom = [&](const std::vector<double> &factor) {
      auto [least, most] = limits(factor);
      return each(c, x, {1 + least, 1 + most});
    };
    auto offset = [&](int64_t size, Tensor zoom) {
      return (1.0 - zoom) * ((double(size) - 1) / 2);
    };
    Tensor rows = zoom(heightFactor);
    Tensor columns = widthFactor.empty() ? rows : zoom(widthFactor);
    Affine out;
    out.a0 = columns;
    out.a2 = offset(width(x), columns);
    out.b1 = rows;
    out.b2 = offset(height(x), rows);
    return out;
  }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_RANDOMIMAGES_H
