#include "weft/data/images/DecodeImage.h"

#include <csetjmp>
#include <cstdio> // jpeglib.h needs FILE and size_t

#include <jpeglib.h>

#include <jerror.h>

namespace weft {

namespace {

/// The most passes of a progressive image; files with more only waste time.
constexpr int kMostScans = 200;

struct JpegFailure {
  jpeg_error_mgr manager; ///< first, as libjpeg passes a pointer to it
  std::jmp_buf escape;
  char message[JMSG_LENGTH_MAX];
};

void fail(j_common_ptr info) {
  auto *failure = reinterpret_cast<JpegFailure *>(info->err);
  info->err->format_message(info, failure->message);
  std::longjmp(failure->escape, 1);
}

/// Makes all but harmless warnings errors: the library would continue, with
/// grey for missing parts.
void warn(j_common_ptr info, int level) {
  int code = info->err->msg_code;
  bool isHarmless = code == JWRN_EXTRANEOUS_DATA || code == JWRN_JFIF_MAJOR ||
                    code == JWRN_ADOBE_XFORM;
  if (level < 0 && !isHarmless)
    fail(info);
}

void watchScans(j_common_ptr info) {
  auto *image = reinterpret_cast<j_decompress_ptr>(info);
  if (image->input_scan_number > kMostScans) {
    info->err->msg_code = JERR_NOTIMPL;
    fail(info);
  }
}

/// Objects that must survive a longjmp.
struct JpegWork {
  jpeg_decompress_struct info = {};
  JpegFailure failure = {};
  jpeg_progress_mgr progress = {};
  Image image;
  Status refused;
  bool isComplete = false;
};

void decode(JpegWork &work, const std::vector<uint8_t> &bytes,
            const std::string &name) {
  jpeg_decompress_struct &info = work.info;
  if (setjmp(work.failure.escape) != 0)
    return;
  jpeg_create_decompress(&info);
  work.progress.progress_monitor = watchScans;
  info.progress = &work.progress;
  info.mem->max_memory_to_use = long(512) << 20;
  jpeg_mem_src(&info, bytes.data(), static_cast<unsigned long>(bytes.size()));
  jpeg_read_header(&info, TRUE);
  work.refused = checkImageSize(info.image_width, info.image_height, name);
  if (!work.refused)
    return;
  bool isGrey = info.jpeg_color_space == JCS_GRAYSCALE;
  if (info.num_components != 1 && info.num_components != 3) {
    work.refused =
        Error{name + ": has " + std::to_string(info.num_components) +
              " colours (CMYK), where 1 or 3 are read; convert it to "
              "RGB"};
    return;
  }
  info.out_color_space = isGrey ? JCS_GRAYSCALE : JCS_RGB;
  work.image.height = info.image_height;
  work.image.width = info.image_width;
  work.image.channels = isGrey ? 1 : 3;
  size_t row = size_t(work.image.width) * size_t(work.image.channels);
  work.image.pixels.resize(row * size_t(work.image.height));
  jpeg_start_decompress(&info);
  while (info.output_scanline < info.output_height) {
    JSAMPROW to = work.image.pixels.data() + row * info.output_scanline;
    jpeg_read_scanlines(&info, &to, 1);
  }
  jpeg_finish_decompress(&info);
  work.isComplete = true;
}

} // namespace

Result<Image> decodeJpeg(const std::vector<uint8_t> &bytes,
                         const std::string &name) {
  JpegWork work;
  work.info.err = jpeg_std_error(&work.failure.manager);
  work.failure.manager.error_exit = fail;
  work.failure.manager.emit_message = warn;
  decode(work, bytes, name);
  jpeg_destroy_decompress(&work.info);
  if (!work.refused)
    return work.refused.error();
  if (!work.isComplete)
    return Error{name + ": " + work.failure.message +
                 "; the image is damaged, save it again or remove it"};
  return std::move(work.image);
}

} // namespace weft
