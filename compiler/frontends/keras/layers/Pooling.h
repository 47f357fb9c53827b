//===- Pooling.h - keras.layers.MaxPooling and its relatives -----*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_POOLING_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_POOLING_H

#include "weft/compiler/frontends/keras/layers/Images.h"
#include "weft/compiler/frontends/keras/layers/Masking.h"

namespace weft::keras {

/// The maximum or the mean of each window, without the padding.
/// keras.layers.MaxPooling1D to AveragePooling3D
template <int rank, bool isMax> class Pooling : public OfImages {
  std::vector<int64_t> poolSize = std::vector<int64_t>(rank, 2), strides;
  std::string padding = "valid";

  void options(Options &o) override {
    o.sizes("pool_size", poolSize, rank);
    o.sizes("strides", strides, rank);
    o.choice("padding", padding, {"valid", "same"});
    formatOption(o);
  }
  Tensor call(Call &c, Tensor x) const override {
    if (!c.hasRank(x, rank + 2))
      return x;
    SpatialWindow window = paddedWindow(x, channelsFirst(), poolSize,
                                        strides.empty() ? poolSize : strides,
                                        std::vector<int64_t>(rank, 1), padding);
    if (!fits(c, x, window))
      return x;
    if (isMax)
      return pool(c.t, ReduceKind::Max, x, window, channelsFirst());
    Tensor total = pool(c.t, ReduceKind::Sum, x, window, channelsFirst());
    if (padding == "same")
      return total / countsOf(c.t, x, total, window, channelsFirst());
    int64_t count = 1;
    for (int64_t size : poolSize)
      count *= size;
    return total / double(count);
  }
};

/// The maximum or the mean of each of `output_size` windows, which are spread
/// as evenly as possible. keras.layers.AdaptiveMaxPooling1D to
/// AdaptiveAveragePooling3D
template <int rank, bool isMax> class AdaptivePooling : public OfImages {
  std::vector<int64_t> outputSize = std::vector<int64_t>(rank, 1);

  void options(Options &o) override {
    o.sizes("output_size", outputSize, rank);
    formatOption(o);
  }
  /// Reduces `count` windows of a dimension; window i begins at floor(i * size
  /// / count).
  static Tensor along(Tensors &t, Tensor x, int64_t dim, int64_t count) {
    SmallVector<Tensor> parts;
    int64_t size = t.size(x, dim);
    for (int64_t i = 0; i < count; ++i) {
      int64_t begin = i * size / count, end = ((i + 1) * size - 1) / count + 1;
      Tensor window = t.slice(x, dim, begin, end);
      Tensor one = isMax ? t.reduce(ReduceKind::Max, window, {dim})
                         : t.mean(window, {dim});
      parts.push_back(t.kept(one, x, {dim}));
    }
    return t.concatenate(parts, dim);
  }
  Tensor call(Call &c, Tensor x) const override {
    if (!c.hasRank(x, rank + 2))
      return x;
    for (auto [dim, count] :
         llvm::zip_equal(spatialDims(x, channelsFirst()), outputSize)) {
      if (count > c.t.size(x, dim)) {
        c.refuse("\"output_size\" " + shapeText(outputSize) +
                 " is more than samples of shape " + sampleText(x) + " have");
        return x;
      }
      x = along(c.t, x, dim, count);
    }
    return x;
  }
};

/// The maximum or the mean of each feature over all positions.
/// keras.layers.GlobalMaxPooling1D to GlobalAveragePooling3D
template <int rank, bool isMax> class GlobalPooling : public OfImages {
  bool keepdims = false;

  void options(Options &o) override {
    formatOption(o);
    o.flag("keepdims", keepdims);
  }
  Facts facts() const override {
    Facts facts;
    if (rank == 1 && !isMax)
      facts.tensors = {"inputs", "mask"};
    return facts;
  }
  /// The mean of the elements that are not masked.
  Tensor masked(Call &c, Tensor x, Tensor mask, ArrayRef<int64_t> dims) const {
    Tensors &t = c.t;
    if (t.shape(mask) != ArrayRef<int64_t>{t.size(x, 0), t.size(x, dims[0])}) {
      c.refuse("its mask " + sampleText(mask) +
               " does not fit samples of shape " + sampleText(x) +
               "; masks have a value for each step");
      return x;
    }
    mask = maskBits(mask);
    Tensor wide =
        t.make<BroadcastOp>(mask, t.shape(x), ArrayRef<int64_t>{0, dims[0]});
    Tensor total = t.reduce(ReduceKind::Sum, select(wide, x, 0), dims);
    Tensor count = t.reduce(ReduceKind::Sum, t.castLike(wide, x), dims);
    return total / count;
  }
  Tensor callAll(Call &c, const CallInputs &inputs) const override {
    Tensor x = inputs.values[0];
    if (!c.hasRank(x, rank + 2))
      return x;
    SmallVector<int64_t> dims = spatialDims(x, channelsFirst());
    bool takesMask = rank == 1 && !isMax && inputs.mask();
    Tensor out = isMax       ? c.t.reduce(ReduceKind::Max, x, dims)
                 : takesMask ? masked(c, x, inputs.mask(), dims)
                             : c.t.mean(x, dims);
    return keepdims ? c.t.kept(out, x, dims) : out;
  }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_POOLING_H
