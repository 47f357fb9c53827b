#include "weft/data/images/DecodeImage.h"

#include <cstring>
#include <png.h>

namespace weft {

namespace {

/// Objects that must survive a longjmp.
struct PngWork {
  png_structp png = nullptr;
  png_infop info = nullptr;
  const std::vector<uint8_t> *bytes = nullptr;
  size_t at = 0;
  std::string message;
  Image image;
  std::vector<png_bytep> rows;
  Status refused;
  bool isComplete = false;
};

void fail(png_structp png, png_const_charp message) {
  static_cast<PngWork *>(png_get_error_ptr(png))->message = message;
  png_longjmp(png, 1);
}

void ignore(png_structp, png_const_charp) {}

void readMore(png_structp png, png_bytep to, size_t size) {
  auto *work = static_cast<PngWork *>(png_get_io_ptr(png));
  if (size > work->bytes->size() - work->at)
    png_error(png, "the file was cut off");
  std::memcpy(to, work->bytes->data() + work->at, size);
  work->at += size;
}

/// Requests channels of 8 bits, without a palette.
void expand(PngWork &work, bool wantsAlpha) {
  int kind = png_get_color_type(work.png, work.info);
  int depth = png_get_bit_depth(work.png, work.info);
  if (kind == PNG_COLOR_TYPE_PALETTE)
    png_set_palette_to_rgb(work.png);
  if (kind == PNG_COLOR_TYPE_GRAY && depth < 8)
    png_set_expand_gray_1_2_4_to_8(work.png);
  if (wantsAlpha && png_get_valid(work.png, work.info, PNG_INFO_tRNS))
    png_set_tRNS_to_alpha(work.png);
  if (depth == 16)
    png_set_strip_16(work.png);
  png_set_interlace_handling(work.png);
  png_read_update_info(work.png, work.info);
}

void decode(PngWork &work, bool wantsAlpha, const std::string &name) {
  if (setjmp(png_jmpbuf(work.png)) != 0)
    return;
  png_set_read_fn(work.png, &work, readMore);
  png_set_user_limits(work.png, mostPixels, mostPixels);
  png_read_info(work.png, work.info);
  work.image.width = png_get_image_width(work.png, work.info);
  work.image.height = png_get_image_height(work.png, work.info);
  work.refused = checkImageSize(uint64_t(work.image.width),
                                uint64_t(work.image.height), name);
  bool isDeepGrey =
      png_get_color_type(work.png, work.info) == PNG_COLOR_TYPE_GRAY &&
      png_get_bit_depth(work.png, work.info) == 16;
  if (work.refused && isDeepGrey)
    work.refused =
        Error{name + ": has grey values of 16 bits; convert it to 8"};
  if (!work.refused)
    return;
  expand(work, wantsAlpha);
  work.image.channels = png_get_channels(work.png, work.info);
  size_t row = png_get_rowbytes(work.png, work.info);
  work.image.pixels.resize(row * size_t(work.image.height));
  work.rows.resize(size_t(work.image.height));
  for (size_t y = 0; y < work.rows.size(); ++y)
    work.rows[y] = work.image.pixels.data() + y * row;
  png_read_image(work.png, work.rows.data());
  png_read_end(work.png, nullptr);
  work.isComplete = true;
}

} // namespace

Result<Image> decodePng(const std::vector<uint8_t> &bytes, bool wantsAlpha,
                        const std::string &name) {
  PngWork work;
  work.bytes = &bytes;
  work.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &work, fail, ignore);
  work.info = work.png ? png_create_info_struct(work.png) : nullptr;
  if (work.info)
    decode(work, wantsAlpha, name);
  png_destroy_read_struct(&work.png, &work.info, nullptr);
  if (!work.refused)
    return work.refused.error();
  if (!work.isComplete)
    return Error{name + ": " +
                 (work.message.empty() ? "no memory is left" : work.message) +
                 "; the image is damaged, save it again or remove it"};
  return std::move(work.image);
}

} // namespace weft
