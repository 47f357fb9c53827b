//===- DecodeBmp.cpp - Windows bitmaps ------------------------------------===//
//
// Reads the kinds of BMP that PIL reads: 1, 4 and 8 bits with a palette, those
// of 4 and 8 also run-length coded; 16, 24 and 32 bits, also with masks of
// colours. Debian has no library for BMP alone, and PIL reads no other
// compression than run-length coding.
//
//===----------------------------------------------------------------------===//

#include "weft/data/images/DecodeImage.h"

#include <algorithm>
#include <array>
#include <bit>

namespace weft {

namespace {

enum Coding : uint32_t { kPlain = 0, kRuns8 = 1, kRuns4 = 2, kMasks = 3 };

/// Reads little-endian numbers. Behind the end of the file they are 0, and
/// isCutOff is set.
class BmpBytes {
public:
  explicit BmpBytes(const std::vector<uint8_t> &bytes [[clang::lifetimebound]])
      : bytes(bytes) {}
  uint8_t byte() {
    isCutOff |= at >= bytes.size();
    return isCutOff ? 0 : bytes[at++];
  }
  uint32_t number(int width) {
    uint32_t out = 0;
    for (int i = 0; i < width; ++i)
      out |= uint32_t(byte()) << (8 * i);
    return out;
  }
  size_t at = 0;
  bool isCutOff = false;

private:
  const std::vector<uint8_t> &bytes;
};

struct BmpHeader {
  uint64_t pixels = 0; ///< position of the first row in the file
  uint32_t size = 0, width = 0, height = 0, coding = kPlain, colors = 0;
  int bits = 0;
  bool isTopDown = false;
  std::array<uint32_t, 4> masks{}; ///< red, green, blue, alpha

  int colorBytes() const { return size == 12 ? 3 : 4; }
  uint64_t rowBytes() const {
    return (uint64_t(width) * uint64_t(bits) + 31) / 32 * 4;
  }
  /// The end of pixels without run-length coding; all rows but the last are
  /// padded.
  uint64_t end() const {
    return pixels + (height - 1) * rowBytes() +
           (uint64_t(width) * uint64_t(bits) + 7) / 8;
  }
  bool hasRuns() const { return coding == kRuns8 || coding == kRuns4; }
};

/// Reads the part of the header that follows its size.
void readLongHeader(BmpBytes &in, BmpHeader &h) {
  h.width = in.number(4);
  h.height = in.number(4);
  h.isTopDown = h.height >> 24 == 0xFF;
  if (h.isTopDown)
    h.height = -h.height;
  in.number(2); // planes
  h.bits = int(in.number(2));
  h.coding = in.number(4);
  in.number(4), in.number(4), in.number(4); // bytes, pixels a metre
  h.colors = in.number(4);
  in.number(4); // important colours
  if (h.coding == kMasks)
    for (size_t i = 0; i < (h.size >= 56 ? 4 : 3); ++i)
      h.masks[i] = in.number(4);
}

BmpHeader readHeader(BmpBytes &in) {
  BmpHeader h;
  in.at = 10;
  h.pixels = in.number(4);
  h.size = in.number(4);
  if (h.size == 12) {
    h.width = in.number(2);
    h.height = in.number(2);
    in.number(2); // planes
    h.bits = int(in.number(2));
  } else {
    readLongHeader(in, h);
  }
  if (h.bits <= 8 && h.colors == 0)
    h.colors = 1u << std::clamp(h.bits, 0, 8);
  in.at = std::max(in.at, size_t(h.size) + 14);
  uint64_t behind = uint64_t(h.size) + 14;
  if (h.bits <= 8 && (h.pixels == 0 || h.pixels == behind))
    h.pixels = behind + uint64_t(h.colorBytes()) * h.colors;
  else if (h.pixels == 0)
    h.pixels = in.at;
  return h;
}

/// The index of the byte that a mask selects in a pixel of 32 bits, or -1.
int byteOf(uint32_t mask) {
  int shift = std::countr_zero(mask);
  return mask && shift % 8 == 0 && mask >> shift == 0xFF ? shift / 8 : -1;
}

bool areMasksRead(const BmpHeader &h) {
  using Masks = std::array<uint32_t, 4>;
  const Masks &m = h.masks;
  Masks colors = {m[0], m[1], m[2], 0};
  if (h.bits == 16)
    return colors == Masks{0xF800, 0x7E0, 0x1F} ||
           colors == Masks{0x7C00, 0x3E0, 0x1F};
  if (h.bits == 24)
    return colors == Masks{0xFF0000, 0xFF00, 0xFF};
  bool isEach = byteOf(m[0]) >= 0 && byteOf(m[1]) >= 0 && byteOf(m[2]) >= 0 &&
                (m[3] == 0 || byteOf(m[3]) >= 0);
  return h.bits == 32 && (isEach || m == Masks{});
}

Status checkHeader(const BmpHeader &h, const std::string &name) {
  auto refused = [&](const std::string &what) {
    return Error{name + ": " + what + "; convert it to .png"};
  };
  constexpr uint32_t sizes[] = {12, 40, 52, 56, 64, 108, 124};
  if (std::find(std::begin(sizes), std::end(sizes), h.size) == std::end(sizes))
    return refused("is a bitmap with a header of " + std::to_string(h.size) +
                   " bytes, which is not read");
  bool isPalette = h.bits == 1 || h.bits == 4 || h.bits == 8;
  bool isRead = h.coding == kPlain
                    ? isPalette || h.bits == 16 || h.bits == 24 || h.bits == 32
                : h.coding == kRuns8 ? h.bits == 8
                : h.coding == kRuns4 ? h.bits == 4
                                     : h.coding == kMasks && areMasksRead(h);
  if (!isRead)
    return refused("is a bitmap of " + std::to_string(h.bits) +
                   " bits a pixel in coding " + std::to_string(h.coding) +
                   ", which is not read");
  return checkImageSize(h.width, h.height, name);
}

using Palette = std::array<std::array<uint8_t, 3>, 256>;

Palette readPalette(BmpBytes &in, const BmpHeader &h) {
  Palette out{};
  for (uint32_t i = 0; i < std::min<uint32_t>(h.colors, 256); ++i) {
    for (int c = 2; c >= 0; --c)
      out[i][size_t(c)] = in.byte();
    if (h.colorBytes() == 4)
      in.byte();
  }
  return out;
}

/// Reads indices into the palette, in the file's order of rows.
std::vector<uint8_t> readNumbers(BmpBytes &in, const BmpHeader &h) {
  std::vector<uint8_t> out;
  int per = 8 / h.bits, mask = (1 << h.bits) - 1;
  for (uint32_t y = 0; y < h.height && !in.isCutOff; ++y) {
    size_t row = in.at;
    uint8_t byte = 0;
    for (uint32_t x = 0; x < h.width; ++x) {
      if (x % uint32_t(per) == 0)
        byte = in.byte();
      out.push_back(
          uint8_t(byte >> (8 - h.bits * (int(x % uint32_t(per)) + 1)) & mask));
    }
    in.at = row + h.rowBytes();
  }
  return out;
}

/// Reads indices into the palette from run-length coded rows.
class Runs {
public:
  Runs(BmpBytes &in [[clang::lifetimebound]],
       const BmpHeader &h [[clang::lifetimebound]])
      : in(in), h(h), wanted(size_t(h.width) * h.height),
        digits(h.coding == kRuns4 ? 2 : 1) {}

  std::vector<uint8_t> read() {
    while (out.size() < wanted && !in.isCutOff && !isOver) {
      uint8_t count = in.byte(), value = in.byte();
      if (count)
        repeat(count, value);
      else if (value > 2)
        copy(value);
      else
        control(value);
    }
    return std::move(out);
  }

private:
  void put(uint8_t number) {
    if (out.size() < wanted)
      out.push_back(number);
  }
  uint8_t digit(uint8_t byte, unsigned i) const {
    return digits == 1 ? byte : i % 2 ? byte & 15 : byte >> 4;
  }
  /// Repeats a byte's indices in this row; indices past the row's end are
  /// dropped.
  void repeat(uint8_t count, uint8_t value) {
    size_t left = x < h.width ? h.width - x : 0;
    size_t shown = std::min<size_t>(count, left);
    for (unsigned i = 0; i < shown; ++i)
      put(digit(value, i));
    x += shown;
  }
  /// Copies indices that are not coded; they are padded to 16 bits.
  void copy(uint8_t count) {
    uint8_t byte = 0;
    for (unsigned i = 0; i < count; ++i) {
      if (i % digits == 0)
        byte = in.byte();
      put(digit(byte, i));
    }
    x += count;
    in.at += in.at % 2;
  }
  /// Ends a row or the image, or skips pixels.
  void control(uint8_t kind) {
    size_t skipped = 0;
    if (kind == 0)
      skipped = (h.width - out.size() % h.width) % h.width;
    else if (kind == 1)
      isOver = true;
    else
      skipped = in.byte(), skipped += size_t(in.byte()) * h.width;
    for (size_t i = 0; i < skipped && out.size() < wanted; ++i)
      put(0);
    x = out.size() % h.width;
  }

  BmpBytes &in;
  const BmpHeader &h;
  size_t wanted;
  unsigned digits; ///< indices in a byte
  bool isOver = false;
  size_t x = 0; ///< the place in the row
  std::vector<uint8_t> out;
};

/// Appends a pixel of 16, 24 or 32 bits.
void addPixel(const BmpHeader &h, uint32_t bits, std::vector<uint8_t> &out) {
  auto part = [&](int shift, int width) {
    uint32_t most = (1u << width) - 1;
    out.push_back(uint8_t((bits >> shift & most) * 255 / most));
  };
  if (h.bits == 16) {
    bool isWide = h.coding == kMasks && h.masks[1] == 0x7E0;
    part(isWide ? 11 : 10, 5);
    part(5, isWide ? 6 : 5);
    part(0, 5);
    return;
  }
  bool isMasked = h.bits == 32 && h.coding == kMasks;
  bool isEmpty =
      isMasked && h.masks[0] == 0; // masks of 0 mean blue, green, red, alpha
  for (size_t c = 0; c < 3; ++c)
    part(isMasked && !isEmpty ? 8 * byteOf(h.masks[c]) : 16 - 8 * int(c), 8);
  if (isEmpty || (isMasked && h.masks[3]))
    part(isEmpty ? 24 : 8 * byteOf(h.masks[3]), 8);
}

void readColors(BmpBytes &in, const BmpHeader &h, std::vector<uint8_t> &out) {
  for (uint32_t y = 0; y < h.height && !in.isCutOff; ++y) {
    size_t row = in.at;
    for (uint32_t x = 0; x < h.width; ++x)
      addPixel(h, in.number(h.bits / 8), out);
    in.at = row + h.rowBytes();
  }
}

/// Reads the pixels, in the order of rows of the file.
void readPixels(BmpBytes &in, const BmpHeader &h, const Palette &palette,
                Image &image) {
  auto count = size_t(h.width) * h.height;
  if (h.bits > 8) {
    readColors(in, h, image.pixels);
    image.channels = int(image.pixels.size() / count);
    return;
  }
  for (uint8_t number : h.hasRuns() ? Runs(in, h).read() : readNumbers(in, h))
    image.pixels.insert(image.pixels.end(), palette[number].begin(),
                        palette[number].end());
  in.isCutOff |= image.pixels.size() < 3 * count;
}

/// Reverses the order of rows.
void flip(Image &image) {
  size_t row = size_t(image.width) * size_t(image.channels);
  auto at = [&](int64_t y) {
    return image.pixels.begin() + ptrdiff_t(size_t(y) * row);
  };
  for (int64_t y = 0; y < image.height / 2; ++y)
    std::swap_ranges(at(y), at(y + 1), at(image.height - 1 - y));
}

} // namespace

Result<Image> decodeBmp(const std::vector<uint8_t> &bytes,
                        const std::string &name) {
  BmpBytes in(bytes);
  BmpHeader h = readHeader(in);
  if (Status ok = checkHeader(h, name); !ok && !in.isCutOff)
    return ok.error();
  Image image{int64_t(h.height), int64_t(h.width), 3, {}};
  Palette palette = h.bits <= 8 ? readPalette(in, h) : Palette{};
  in.isCutOff |= !h.hasRuns() && h.end() > bytes.size();
  in.at = size_t(h.pixels);
  if (!in.isCutOff)
    readPixels(in, h, palette, image);
  if (in.isCutOff)
    return Error{name + ": the file was cut off; the image is damaged, save it "
                        "again or remove it"};
  if (!h.isTopDown)
    flip(image);
  return image;
}

} // namespace weft
