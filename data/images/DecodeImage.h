//===- DecodeImage.h - JPEG, PNG, GIF and BMP files to pixels ---*- C++ -*-===//
//
//   Result<Image> image = decodeImage(bytes, /*channels=*/3, "cat.jpg");
//   image->pixels[(y * image->width + x) * 3 + c];       // 0..255
//
// Decodes with libjpeg-turbo, libpng and giflib (the first frame); BMP files
// need no library. Colours are converted as in PIL: grey is copied to all
// channels, alpha is dropped or set to 255, and the grey of a colour is (19595
// R + 38470 G + 7471 B + 32768) / 65536. The file's first bytes determine its
// format.
//
// CMYK, grey of 16 bits, truncated or damaged files, and images of more than
// 67,108,864 pixels are refused.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DATA_IMAGES_DECODEIMAGE_H
#define WEFT_DATA_IMAGES_DECODEIMAGE_H

#include "weft/base/Result.h"

#include <cstdint>
#include <vector>

namespace weft {

inline constexpr uint64_t mostPixels = uint64_t(1) << 26;

/// An image: rows from the top, pixels from the left, `channels` bytes a pixel:
/// grey, grey and alpha, RGB, or RGB and alpha.
struct Image {
  int64_t height = 0, width = 0;
  int channels = 0;
  std::vector<uint8_t> pixels;
};

/// Decodes an image. `channels`: 1, 3 or 4. Messages begin with `name`.
Result<Image> decodeImage(const std::vector<uint8_t> &bytes, int channels,
                          const std::string &name);

/// Decode to the file's own channels; with `wantsAlpha`, an alpha channel is
/// added if the file marks colours as transparent.
Result<Image> decodeJpeg(const std::vector<uint8_t> &bytes,
                         const std::string &name);
Result<Image> decodePng(const std::vector<uint8_t> &bytes, bool wantsAlpha,
                        const std::string &name);
Result<Image> decodeGif(const std::vector<uint8_t> &bytes, bool wantsAlpha,
                        const std::string &name);
Result<Image> decodeBmp(const std::vector<uint8_t> &bytes,
                        const std::string &name);

/// Refuses images that are empty or too large, before memory is allocated.
Status checkImageSize(uint64_t width, uint64_t height, const std::string &name);

} // namespace weft

#endif // WEFT_DATA_IMAGES_DECODEIMAGE_H
