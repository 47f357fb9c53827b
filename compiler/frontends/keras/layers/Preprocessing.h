//===- Preprocessing.h - classes, bins and images of one size ----*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_PREPROCESSING_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_PREPROCESSING_H

#include "weft/compiler/frontends/keras/layers/Images.h"
#include "weft/dialects/weft/ops/IndexingOps.h"
#include "weft/layout/Sizes.h"

namespace weft::keras {

/// Layers that encode class numbers.
class OfClasses : public Layer {
protected:
  std::string outputMode = "multi_hot";

  Facts facts() const override { return {.takesIntegers = true}; }

  /// Encodes each class number as a vector (..., classes); except for one_hot,
  /// those along dimension 1 are reduced to their sum (count) or maximum
  /// (multi_hot).
  Tensor encoded(Call &c, Tensor x, int64_t classes) const {
    Tensors &t = c.t;
    bool isFloat = !tensorType(x).getElementType().isInteger();
    Tensor index = t.toInteger(x);
    // A float that is not an integer is no class, except that multi_hot
    // truncates it.
    if (isFloat && outputMode != "multi_hot")
      index = select(t.toFloat(index) == x, index, -1);
    SmallVector<int64_t> shape(t.shape(index));
    if (outputMode == "one_hot" && shape.size() > 1 && shape.back() == 1) {
      shape.pop_back();
      index = t.reshape(index, shape);
    }
    if (outputMode != "one_hot" && shape.size() < 2) {
      c.refuse("adds the classes of a sample up; call it with samples of "
               "several numbers");
      return x;
    }
    shape.push_back(classes);
    if (std::string why = oversize(shape, 4); !why.empty()) {
      c.refuse("its classes of shape " + shapeText(shape) + " have " + why);
      return x;
    }
    auto type = mlir::RankedTensorType::get(shape, t.builder.getF32Type());
    Tensor hot =
        t.make<OneHotOp>(type, index, uint64_t(shape.size() - 1), Tensor());
    if (outputMode == "one_hot")
      return hot;
    ReduceKind kind = outputMode == "count" ? ReduceKind::Sum : ReduceKind::Max;
    return t.reduce(kind, hot, {1});
  }
};

/// keras.layers.CategoryEncoding
class CategoryEncoding : public OfClasses {
  int64_t numTokens = 1;

  void options(Options &o) override {
    o.integer("num_tokens", numTokens, kPositive);
    o.choice("output_mode", outputMode, {"multi_hot", "one_hot", "count"});
  }
  Tensor call(Call &c, Tensor x) const override {
    return encoded(c, x, numTokens);
  }
};

/// The number of boundaries that are not above x, or its encoding as a class.
/// keras.layers.Discretization
class Discretization : public OfClasses {
  std::vector<double> boundaries;
  std::string type = "float32";

  void options(Options &o) override {
    if (boundaries.empty())
      outputMode = "int";
    o.numbers("bin_boundaries", boundaries);
    o.ignored("num_bins", "the boundaries are those of the config");
    o.ignored("epsilon", "adapt() is Keras' own", "0.01");
    o.choice("output_mode", outputMode,
             {"int", "multi_hot", "one_hot", "count"});
    o.refused("sparse", "sparse tensors", "false");
    o.choice("dtype", type, {"float32", "int32", "int64"});
  }
  Facts facts() const override {
    Facts facts = OfClasses::facts();
    facts.hasOwnType = true;
    return facts;
  }
  Tensor call(Call &c, Tensor x) const override {
    Tensors &t = c.t;
    if (boundaries.empty()) {
      c.refuse("has no \"bin_boundaries\"; adapt it in Keras first");
      return x;
    }
    SmallVector<int64_t> wide(t.shape(x)), dims;
    for (int64_t i = 0; i < t.rank(x); ++i)
      dims.push_back(i);
    wide.push_back(int64_t(boundaries.size()));
    SmallVector<float> numbers(boundaries.begin(), boundaries.end());
    Tensor values = t.make<BroadcastOp>(t.toFloat(x), wide, dims);
    Tensor bins = t.along(t.constant(numbers, {wide.back()}), values);
    Tensor above = ~(values < bins);
    Tensor index = t.reduce(ReduceKind::Sum, t.toInteger(above), {t.rank(x)});
    if (outputMode != "int")
      return encoded(c, index, wide.back() + 1);
    return type == "float32" ? t.toFloat(index) : index;
  }
};

/// Layers that change images to a given size.
class ToSize : public OfImages {
protected:
  int64_t height = 1, width = 1;

  void sizeOptions(Options &o) {
    o.integer("height", height, kPositive);
    o.integer("width", width, kPositive);
  }
  Facts facts() const override {
    // Keras accepts the keyword, which has no effect.
    return {.flags = {"training"}, .takesIntegers = true};
  }
};

/// keras.layers.Resizing
class Resizing : public ToSize {
  std::string interpolation = "bilinear";
  bool antialias = false, cropsToRatio = false, padsToRatio = false;
  double fillValue = 0;
  static constexpr int64_t kMostSize = 1 << 20; ///< pixels of a side

  void options(Options &o) override {
    sizeOptions(o);
    o.check(std::max(height, width) <= kMostSize,
            "\"height\" and \"width\" must be at most 1048576");
    o.choice("interpolation", interpolation, interpolations());
    o.flag("crop_to_aspect_ratio", cropsToRatio);
    o.flag("pad_to_aspect_ratio", padsToRatio);
    o.check(!cropsToRatio || !padsToRatio,
            "\"crop_to_aspect_ratio\" and \"pad_to_aspect_ratio\" are both "
            "true; choose one");
    o.refused("fill_mode", "other pixels around the image", "\"constant\"");
    o.number("fill_value", fillValue, kAnyNumber);
    o.flag("antialias", antialias);
    formatOption(o);
  }
  /// The sides of an image of the result's aspect ratio that goes with one of
  /// this height and width, rounded as in Keras.
  std::array<int64_t, 2> sidesOfRatio(int64_t inHeight, int64_t inWidth) const {
    return {int64_t(double(inWidth * height) / double(width)),
            int64_t(double(inHeight * width) / double(height))};
  }
  /// Cuts off what is above or beside the largest part of the result's aspect
  /// ratio in the middle.
  Tensor cut(Tensors &t, Tensor x, ArrayRef<int64_t> dims) const {
    std::array<int64_t, 2> wanted =
        sidesOfRatio(t.size(x, dims[0]), t.size(x, dims[1]));
    for (auto [dim, side] : llvm::zip_equal(dims, wanted)) {
      int64_t size = t.size(x, dim);
      int64_t part = std::max<int64_t>(std::min(size, side), 1);
      int64_t begin = (size - part) / 2;
      x = t.slice(x, dim, begin, begin + part);
    }
    return x;
  }
  /// Adds `fill_value` above and below, or left and right.
  Tensor padded(Call &c, Tensor x, ArrayRef<int64_t> dims) const {
    Tensors &t = c.t;
    std::array<int64_t, 2> wanted =
        sidesOfRatio(t.size(x, dims[0]), t.size(x, dims[1]));
    for (auto [dim, side] : llvm::zip_equal(dims, wanted)) {
      int64_t each = (side - t.size(x, dim)) / 2;
      if (each <= 0)
        continue;
      if (side > kMostSize) {
        c.refuse("pads samples of shape " + sampleText(x) + " to a side of " +
                 std::to_string(side) + "; it must be at most 1048576");
        return x;
      }
      SmallVector<int64_t> shape(t.shape(x));
      shape[dim] = each;
      auto type = RankedTensorType::get(shape, tensorType(x).getElementType());
      Tensor edge = t.splat(fillValue, type);
      return t.concatenate({edge, x, edge}, dim);
    }
    return x;
  }
  Tensor call(Call &c, Tensor x) const override {
    if (!c.hasRank(x, 4))
      return x;
    x = c.t.toFloat(x);
    SmallVector<int64_t> dims = spatialDims(x, channelsFirst());
    if (cropsToRatio)
      x = cut(c.t, x, dims);
    if (padsToRatio)
      x = padded(c, x, dims);
    for (auto [dim, size] :
         llvm::zip_equal(spatialDims(x, channelsFirst()),
                         std::vector<int64_t>{height, width}))
      x = resizedImages(c, x, dim, size, interpolation, antialias);
    return x;
  }
};

/// keras.layers.CenterCrop
class CenterCrop : public ToSize {
  void options(Options &o) override {
    sizeOptions(o);
    formatOption(o);
  }
  Tensor call(Call &c, Tensor x) const override {
    if (!c.hasRank(x, 4))
      return x;
    x = c.t.toFloat(x);
    for (auto [dim, size] :
         llvm::zip_equal(spatialDims(x, channelsFirst()),
                         std::vector<int64_t>{height, width})) {
      int64_t rest = c.t.size(x, dim) - size;
      if (rest < 0) {
        c.refuse("cannot cut " + std::to_string(height) + " x " +
                 std::to_string(width) + " out of samples of shape " +
                 sampleText(x) + "; use Resizing");
        return x;
      }
      x = c.t.slice(x, dim, rest / 2, rest / 2 + size);
    }
    return x;
  }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_PREPROCESSING_H
