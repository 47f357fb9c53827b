//===- DecodeGif.cpp - the first frame of a GIF file ----------------------===//
//
// The frame lies on a canvas of the screen's size, which grows to hold it.
// Pixels outside it have the transparent colour, or else the first one, as PIL
// fills it. Later frames are not read.
//
//===----------------------------------------------------------------------===//

#include "weft/data/images/DecodeImage.h"

#include <algorithm>
#include <cstring>
#include <gif_lib.h>
#include <memory>
#include <optional>

namespace weft {

namespace {

/// A file in memory, as giflib reads it.
struct GifBytes {
  const std::vector<uint8_t> &bytes;
  size_t at = 0;

  static int read(GifFileType *file, GifByteType *to, int size) {
    auto *from = static_cast<GifBytes *>(file->UserData);
    size_t count = std::min(size_t(size), from->bytes.size() - from->at);
    std::memcpy(to, from->bytes.data() + from->at, count);
    from->at += count;
    return int(count);
  }
};

struct Close {
  void operator()(GifFileType *file) const { DGifCloseFile(file, nullptr); }
};
using GifFile = std::unique_ptr<GifFileType, Close>;

Error damaged(const std::string &name, const std::string &why) {
  return {name + ": " + why +
          "; the image is damaged, save it again or remove it"};
}
Error damaged(const std::string &name, int code) {
  const char *why = GifErrorString(code);
  return damaged(name, why ? why : "the file was cut off");
}

/// Reads an extension; keeps the index of the transparent colour.
bool readExtension(GifFileType &file, std::optional<int> &transparent) {
  int code = 0;
  GifByteType *block = nullptr;
  if (DGifGetExtension(&file, &code, &block) == GIF_ERROR)
    return false;
  GraphicsControlBlock control;
  if (code == GRAPHICS_EXT_FUNC_CODE && block &&
      DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK)
    transparent = control.TransparentColor == NO_TRANSPARENT_COLOR
                      ? std::nullopt
                      : std::optional(control.TransparentColor);
  while (block)
    if (DGifGetExtensionNext(&file, &block) == GIF_ERROR)
      return false;
  return true;
}

/// Skips to the first frame; reads the extensions before it.
Status findFrame(GifFileType &file, const std::string &name,
                 std::optional<int> &transparent) {
  for (;;) {
    GifRecordType kind;
    if (DGifGetRecordType(&file, &kind) == GIF_ERROR)
      return damaged(name, file.Error);
    if (kind == TERMINATE_RECORD_TYPE)
      return damaged(name, "has no frame");
    if (kind == IMAGE_DESC_RECORD_TYPE)
      return DGifGetImageDesc(&file) == GIF_ERROR ? damaged(name, file.Error)
                                                  : Status();
    if (!readExtension(file, transparent))
      return damaged(name, file.Error);
  }
}

/// Reads the colour index of each pixel of the canvas.
Result<std::vector<uint8_t>> readFrame(GifFileType &file, int64_t width,
                                       int64_t height, uint8_t free,
                                       const std::string &name) {
  std::vector<uint8_t> out(size_t(width * height), free);
  const GifImageDesc &frame = file.Image;
  constexpr int begins[] = {0, 4, 2, 1}, steps[] = {8, 8, 4, 2};
  for (int pass = 0; pass < (frame.Interlace ? 4 : 1); ++pass)
    for (int y = frame.Interlace ? begins[pass] : 0; y < frame.Height;
         y += frame.Interlace ? steps[pass] : 1) {
      uint8_t *row = out.data() + (frame.Top + y) * width + frame.Left;
      if (DGifGetLine(&file, row, frame.Width) == GIF_ERROR)
        return damaged(name, file.Error);
    }
  return out;
}

} // namespace

Result<Image> decodeGif(const std::vector<uint8_t> &bytes, bool wantsAlpha,
                        const std::string &name) {
  GifBytes from{bytes};
  int code = 0;
  GifFile file(DGifOpen(&from, GifBytes::read, &code));
  if (!file)
    return damaged(name, code);
  std::optional<int> transparent;
  if (Status found = findFrame(*file, name, transparent); !found)
    return found.error();
  const GifImageDesc &frame = file->Image;
  Image image;
  image.width = std::max<int64_t>(file->SWidth, frame.Left + frame.Width);
  image.height = std::max<int64_t>(file->SHeight, frame.Top + frame.Height);
  if (frame.Left < 0 || frame.Top < 0 || frame.Width <= 0 || frame.Height <= 0)
    return damaged(name, "has a frame without pixels");
  if (Status fits =
          checkImageSize(uint64_t(image.width), uint64_t(image.height), name);
      !fits)
    return fits.error();
  Result<std::vector<uint8_t>> numbers = readFrame(
      *file, image.width, image.height, uint8_t(transparent.value_or(0)), name);
  if (!numbers)
    return numbers.error();
  // Without a palette an index is a grey value.
  const ColorMapObject *map = frame.ColorMap ? frame.ColorMap : file->SColorMap;
  image.channels = wantsAlpha && transparent ? 4 : 3;
  image.pixels.reserve(numbers->size() * size_t(image.channels));
  for (uint8_t number : *numbers) {
    GifColorType color{number, number, number};
    if (map)
      color = number < map->ColorCount ? map->Colors[number] : GifColorType{};
    image.pixels.insert(image.pixels.end(),
                        {color.Red, color.Green, color.Blue});
    if (image.channels == 4)
      image.pixels.push_back(number == *transparent ? 0 : 255);
  }
  return image;
}

} // namespace weft
