#include "weft/runtime/sources/DecodeImage.h"

#include <cstring>

namespace weft {

Status checkImageSize(uint64_t width, uint64_t height,
                      const std::string &name) {
  if (width && height && width <= mostPixels / height)
    return {};
  return Error{name + ": has " + std::to_string(width) + " x " +
               std::to_string(height) + " pixels, the limit is " +
               std::to_string(mostPixels) + " altogether; make it smaller"};
}

/// The pixel's grey, by PIL's formula.
static uint8_t greyOf(const uint8_t *rgb) {
  return uint8_t(
      (rgb[0] * 19595u + rgb[1] * 38470u + rgb[2] * 7471u + 0x8000u) >> 16);
}

static Image converted(const Image &from, int channels) {
  Image out{from.height, from.width, channels, {}};
  auto count = size_t(from.height * from.width);
  out.pixels.resize(count * size_t(channels));
  bool isGrey = from.channels < 3, hasAlpha = from.channels % 2 == 0;
  const uint8_t *in = from.pixels.data();
  uint8_t *to = out.pixels.data();
  for (size_t i = 0; i < count; ++i, in += from.channels, to += channels) {
    if (channels == 1) {
      to[0] = isGrey ? in[0] : greyOf(in);
      continue;
    }
    for (int c = 0; c < 3; ++c)
      to[c] = in[isGrey ? 0 : c];
    if (channels == 4)
      to[3] = hasAlpha ? in[from.channels - 1] : 255;
  }
  return out;
}

Result<Image> decodeImage(const std::vector<uint8_t> &bytes, int channels,
                          const std::string &name) {
  bool isPng = bytes.size() >= 8 &&
               std::memcmp(bytes.data(), "\x89PNG\r\n\x1a\n", 8) == 0;
  bool isJpeg =
      bytes.size() >= 3 && std::memcmp(bytes.data(), "\xFF\xD8\xFF", 3) == 0;
  if (!isPng && !isJpeg)
    return Error{name +
                 ": begins like no JPEG or PNG image; convert it to one, "
                 "or remove it"};
  Result<Image> image =
      isPng ? decodePng(bytes, channels == 4, name) : decodeJpeg(bytes, name);
  if (!image || image->channels == channels)
    return image;
  return converted(*image, channels);
}

} // namespace weft
