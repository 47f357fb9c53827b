//===- DecodeImage.h - JPEG and PNG files to pixels -------------*- C++ -*-===//
//
//   Result<Image> image = decodeImage(bytes, /*channels=*/3, "cat.jpg");
//   image->pixels[(y * image->width + x) * 3 + c];       // 0..255
//
// By libjpeg-turbo and libpng, with PIL's conversions of colours: grey is copied,
// alpha is dropped or 255, and grey of colours is (19595 R + 38470 G + 7471 B +
// 32768) / 65536. What the file's first bytes say is what it is.
//
// Refused: CMYK, grey of 16 bits, what is cut off or damaged, and images of more
// than 67,108,864 pixels.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_SOURCES_DECODEIMAGE_H
#define WEFT_RUNTIME_SOURCES_DECODEIMAGE_H

#include "weft/runtime/data/Result.h"

#include <cstdint>
#include <vector>

namespace weft {

inline constexpr uint64_t mostPixels = uint64_t(1) << 26;

/// Rows from the top, pixels from the left, `channels` bytes a pixel: grey, grey
/// and alpha, RGB, or RGB and alpha.
struct Image {
  int64_t height = 0, width = 0;
  int channels = 0;
  std::vector<uint8_t> pixels;
};

/// `channels`: 1, 3 or 4. `name` begins messages.
Result<Image> decodeImage(const std::vector<uint8_t> &bytes, int channels,
                          const std::string &name);

/// Decodes to the file's own channels; `wantsAlpha`: colours that the file calls transparent get
/// an alpha.
Result<Image> decodeJpeg(const std::vector<uint8_t> &bytes,
                         const std::string &name);
Result<Image> decodePng(const std::vector<uint8_t> &bytes, bool wantsAlpha,
                        const std::string &name);

/// Refuses sizes before memory is taken for them.
Status checkImageSize(uint64_t width, uint64_t height, const std::string &name);

} // namespace weft

#endif // WEFT_RUNTIME_SOURCES_DECODEIMAGE_H
