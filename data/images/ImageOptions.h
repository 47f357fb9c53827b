//===- ImageOptions.h - how a folder of images is read ----------*- C++ -*-===//

#ifndef WEFT_DATA_IMAGES_IMAGEOPTIONS_H
#define WEFT_DATA_IMAGES_IMAGEOPTIONS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/// The interpolations of keras.ops.image.resize.
enum class Interpolation { Nearest, Bilinear, Bicubic, Lanczos3, Lanczos5 };

/// Arguments of keras.utils.image_dataset_from_directory.
struct ImageOptions {
  std::optional<Interpolation> interpolation = {}; ///< none: bilinear
  /// Whether to resize the largest centred part with the wanted aspect ratio.
  bool cropToAspectRatio = false;
  std::vector<std::string> classNames = {}; ///< empty: all folders, sorted
  /// The seed that shuffles the list of files, once; none: it stays sorted.
  std::optional<uint32_t> seed = {};
};

} // namespace weft

#endif // WEFT_DATA_IMAGES_IMAGEOPTIONS_H
