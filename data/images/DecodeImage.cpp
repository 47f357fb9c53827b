#include "weft/data/images/DecodeImage.h"

#include <cstring>
#include <string_view>

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
  auto begins = [&](std::string_view letters) {
    return bytes.size() >= letters.size() &&
           std::memcmp(bytes.data(), letters.data(), letters.size()) == 0;
  };
  Result<Image> image =
      Error{name + ": begins like no JPEG, PNG, GIF or BMP image; convert it "
                   "to one, or remove it"};
  if (begins("\x89PNG\r\n\x1a\n"))
    image = decodePng(bytes, channels == 4, name);
  else if (begins("\xFF\xD8\xFF"))
    image = decodeJpeg(bytes, name);
  else if (begins("GIF87a") || begins("GIF89a"))
    image = decodeGif(bytes, channels == 4, name);
  else if (begins("BM"))
    image = decodeBmp(bytes, name);
  if (!image || image->channels == channels)
    return image;
  return converted(*image, channels);
}

} // namespace weft
