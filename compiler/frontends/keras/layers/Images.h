//===- Images.h - options that layers of images share ------------*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_IMAGES_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_IMAGES_H

#include "weft/compiler/frontends/keras/layers/Call.h"
#include "weft/compiler/frontends/keras/tensors/Interpolation.h"
#include "weft/compiler/frontends/keras/tensors/Windows.h"

namespace weft::keras {

/// Resizes images to `size` elements along a dimension; refuses sizes that need
/// too large a matrix of weights.
inline Tensor resizedImages(Call &c, Tensor x, int64_t dim, int64_t size,
                            const std::string &interpolation,
                            bool antialias = false) {
  std::string complaint = resizeComplaint(c.t.size(x, dim), size);
  if (complaint.empty())
    return resized(c.t, x, dim, size, interpolation, antialias);
  c.refuse(complaint);
  return x;
}

/// Layers of images: (batch, spatial..., features), or (batch, features,
/// spatial...).
class OfImages : public Layer {
protected:
  std::string dataFormat = "channels_last";

  bool channelsFirst() const { return dataFormat == "channels_first"; }
  void formatOption(Options &o) {
    o.choice("data_format", dataFormat, {"channels_last", "channels_first"});
  }
  int64_t features(Tensor x) const {
    return Tensors::size(x, channelsFirst() ? 1 : -1);
  }
  /// Broadcasts a vector of features to the shape of x.
  Tensor alongFeatures(Tensors &t, Tensor vector, Tensor x) const {
    return t.along(vector, x, channelsFirst() ? 1 : -1);
  }
  /// Whether the window fits in the padded image; refuses one that does not.
  bool fits(Call &c, Tensor x, const SpatialWindow &window) const {
    for (int64_t size : window.over(spatialSizes(x, channelsFirst())))
      if (size < 1) {
        c.refuse("its windows do not fit in samples of shape " + sampleText(x));
        return false;
      }
    return true;
  }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_IMAGES_H
