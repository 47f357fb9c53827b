//===- Pooling.h - keras.layers.MaxPooling and its relatives -----*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_POOLING_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_POOLING_H

#include "weft/compiler/frontends/keras/layers/Images.h"

namespace weft::keras {

/// The largest element or the mean of each window; what lies outside the image
/// does not count.  keras.layers.MaxPooling1D to AveragePooling3D
template <int rank, bool isMax> class Pooling : public OfImages {
  std::vector<int64_t> poolSize = std::vector<int64_t>(rank, 2), strides;
  std::string padding = "valid";

  void options(Options &o) override {
    o.sizes("pool_size", poolSize, rank);
    o.sizes("strides", strides, rank);
    o.choice("padding", padding, {"valid", "same"});
    formatOption(o);
  }
  Value call(Call &c, Value x) const override {
    if (!c.hasRank(x, rank + 2))
      return x;
    SpatialWindow window = paddedWindow(x, channelsFirst(), poolSize,
                                        strides.empty() ? poolSize : strides,
                                        std::vector<int64_t>(rank, 1), padding);
    if (!fits(c, x, window))
      return x;
    if (isMax)
      return pool(c.t, ReduceKind::Max, x, window, channelsFirst());
    Value total = pool(c.t, ReduceKind::Sum, x, window, channelsFirst());
    if (padding == "same")
      return c.t.div(total, countsOf(c.t, x, total, window, channelsFirst()));
    int64_t count = 1;
    for (int64_t size : poolSize)
      count *= size;
    return c.t.div(total, double(count));
  }
};

/// The largest element or the mean of each feature.
/// keras.layers.GlobalMaxPooling1D to GlobalAveragePooling3D
template <int rank, bool isMax> class GlobalPooling : public OfImages {
  bool keepdims = false;

  void options(Options &o) override {
    formatOption(o);
    o.flag("keepdims", keepdims);
  }
  Value call(Call &c, Value x) const override {
    if (!c.hasRank(x, rank + 2))
      return x;
    SmallVector<int64_t> dims = spatialDims(x, channelsFirst());
    Value out =
        isMax ? c.t.reduce(ReduceKind::Max, x, dims) : c.t.mean(x, dims);
    return keepdims ? c.t.kept(out, x, dims) : out;
  }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_POOLING_H
