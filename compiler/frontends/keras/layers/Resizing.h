//===- Resizing.h - padding, cropping and repeating of images ----*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_RESIZING_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_RESIZING_H

#include "weft/compiler/frontends/keras/layers/Images.h"

namespace weft::keras {

/// Pads each spatial dimension with zeros before and after.
/// keras.layers.ZeroPadding1D, ZeroPadding2D, ZeroPadding3D
template <int rank> class ZeroPadding : public OfImages {
  Sides padding = Sides(rank, {1, 1});

  void options(Options &o) override {
    o.sides("padding", padding, rank);
    formatOption(o);
  }
  Tensor call(Call &c, Tensor x) const override {
    if (!c.hasRank(x, rank + 2))
      return x;
    SmallVector<int64_t> low(rank + 2, 0), high = low, none = low;
    for (auto [dim, sides] :
         llvm::zip_equal(spatialDims(x, channelsFirst()), padding)) {
      low[dim] = sides[0];
      high[dim] = sides[1];
    }
    return c.t.make<PadOp>(x, low, high, none);
  }
};

/// Removes elements at the start and end of each spatial dimension.
/// keras.layers.Cropping1D, Cropping2D, Cropping3D
template <int rank> class Cropping : public OfImages {
  Sides cropping = Sides(rank, {rank == 2 ? 0 : 1, rank == 2 ? 0 : 1});

  void options(Options &o) override {
    o.sides("cropping", cropping, rank);
    if (rank > 1)
      formatOption(o);
  }
  Tensor call(Call &c, Tensor x) const override {
    if (!c.hasRank(x, rank + 2))
      return x;
    for (auto [dim, sides] :
         llvm::zip_equal(spatialDims(x, channelsFirst()), cropping)) {
      int64_t size = c.t.size(x, dim);
      if (sides[0] >= size || sides[1] >= size - sides[0]) {
        c.refuse("\"cropping\" leaves nothing of samples of shape " +
                 sampleText(x));
        return x;
      }
      x = c.t.slice(x, dim, sides[0], size - sides[1]);
    }
    return x;
  }
};

/// Repeats each element `size` times, or interpolates.
/// keras.layers.UpSampling1D, UpSampling2D, UpSampling3D
template <int rank> class UpSampling : public OfImages {
  std::vector<int64_t> size = std::vector<int64_t>(rank, 2);
  std::string interpolation = "nearest";

  void options(Options &o) override {
    o.sizes("size", size, rank);
    if (rank > 1)
      formatOption(o);
    if (rank == 2)
      o.choice("interpolation", interpolation, {"nearest", "bilinear"});
  }
  Tensor call(Call &c, Tensor x) const override {
    if (!c.hasRank(x, rank + 2))
      return x;
    for (auto [dim, factor] :
         llvm::zip_equal(spatialDims(x, channelsFirst()), size))
      x = interpolation == "nearest"
              ? c.t.repeat(x, dim, factor)
              : resizedImages(c, x, dim,
                              llvm::SaturatingMultiply<uint64_t>(
                                  c.t.size(x, dim), factor),
                              interpolation);
    return x;
  }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_RESIZING_H
