//===- Mutation.cpp - valid files made slightly wrong ---------------------===//

#include "weft/test/fuzz/Mutation.h"

#include <cctype>
#include <cstdint>
#include <cstring>

using Random = std::mt19937_64;

/// A random position in the bytes; half of them near the ends, where headers
/// are.
static size_t anyPosition(const std::string &bytes, Random &random) {
  size_t size = bytes.size();
  switch (random() % 4) {
  case 0:
    return random() % std::min<size_t>(size, 128);
  case 1:
    return size - 1 - random() % std::min<size_t>(size, 128);
  default:
    return random() % size;
  }
}

/// Writes a boundary value of 1, 2, 4 or 8 bytes.
static void replaceInteger(std::string &bytes, Random &random) {
  static constexpr uint64_t values[] = {
      0,          1,          0x7F,       0x80,       0xFF,       0x7FFF,
      0xFFFF,     0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1ull << 32, 1ull << 40,
      1ull << 62, ~0ull >> 1, 1ull << 63, ~0ull};
  uint64_t value = values[random() % std::size(values)];
  size_t width = size_t(1) << random() % 4, at = anyPosition(bytes, random);
  std::memcpy(&bytes[at], &value, std::min(width, bytes.size() - at));
}

/// Removes, doubles or moves a piece.
static void rearrange(std::string &bytes, Random &random) {
  size_t at = anyPosition(bytes, random);
  size_t length = 1 + random() % std::min<size_t>(bytes.size() - at, 256);
  std::string piece = bytes.substr(at, length);
  switch (random() % 3) {
  case 0:
    bytes.erase(at, length);
    break;
  case 1:
    bytes.insert(at, piece);
    break;
  default:
    bytes.erase(at, length);
    bytes.insert(random() % (bytes.size() + 1), piece);
  }
}

/// Replaces the number, word or string around a position.
static void replaceToken(std::string &text, Random &random) {
  static const std::string values[] = {"null",
                                       "true",
                                       "-1",
                                       "0",
                                       "1e999",
                                       "1e39",
                                       "[]",
                                       "{}",
                                       "\"\"",
                                       "9223372036854775807",
                                       "NaN",
                                       "[[[[[[[",
                                       "0.5",
                                       "\"\\u0000\"",
                                       "18446744073709551616",
                                       "\"d1\"",
                                       "[null, -5, 3]",
                                       "4611686018427387904",
                                       "\"(((((\"",
                                       "]"};
  auto inToken = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           std::strchr("+-._/", c);
  };
  size_t begin = random() % text.size(), end = begin;
  while (begin > 0 && inToken(text[begin - 1]))
    --begin;
  while (end < text.size() && inToken(text[end]))
    ++end;
  if (begin > 0 && text[begin - 1] == '"' && random() % 2) {
    --begin;
    end += end < text.size();
  }
  text.replace(begin, end - begin, values[random() % std::size(values)]);
}

/// Replaces digits, also of a dimension in `tensor<4x8xf32>`, by a size at the
/// limits of 32 or 64 bits.
static void replaceSize(std::string &text, Random &random) {
  static const std::string values[] = {"0",
                                       "2147483647",
                                       "2147483648",
                                       "4294967296",
                                       "1099511627776",
                                       "2305843009213693952",
                                       "4611686018427387903",
                                       "4611686018427387904",
                                       "9223372036854775807",
                                       "9223372036854775808"};
  static constexpr char digits[] = "0123456789";
  size_t begin = text.find_first_of(digits, random() % text.size());
  if (begin == std::string::npos)
    return;
  size_t end = text.find_first_not_of(digits, begin);
  text.replace(begin, end == std::string::npos ? end : end - begin,
               values[random() % std::size(values)]);
}

/// Inserts a form of MLIR at the limits of its parser: in the place of an
/// attribute, after a value, or in that of its type.
static void insertForm(std::string &text, Random &random) {
  static const std::string forms[] = {"array<index: 1>",
                                      "array<!x: 1>",
                                      "array<i1: true>",
                                      "#4000000000",
                                      "#65535",
                                      "#0",
                                      ":4000000000",
                                      "array<i64>",
                                      "dense<[]> : tensor<0xindex>",
                                      "tensor<4xindex>",
                                      "opaque<\"x\", \"0x1\">",
                                      "99999 : i64",
                                      "-1 : i64",
                                      "1 : i1",
                                      "{weft.donated = 7 : i64}"};
  const std::string &form = forms[random() % std::size(forms)];
  size_t begin = text.find_first_of("%#<=", random() % text.size());
  if (begin == std::string::npos)
    return;
  size_t behind = text.find_first_of(" ,:)>=]}", begin + 1);
  if (behind == std::string::npos)
    behind = text.size();
  if (text[begin] == '%')
    text.insert(behind, form); // %a#4000000000
  else
    text.replace(begin + 1, behind - begin - 1, form);
}

/// Inserts up to a mebibyte of spaces, which compress to nothing.
static void widen(std::string &text, Random &random) {
  text.insert(random() % text.size(), size_t(1) << random() % 21, ' ');
}

static void nest(std::string &text, Random &random) {
  size_t depth = size_t(1) << random() % 17, at = random() % text.size();
  bool object = random() % 2;
  std::string open;
  for (size_t i = 0; i < depth; ++i)
    open += object ? "{\"a\":" : "[";
  text.insert(at, open);
  if (random() % 2)
    text += std::string(depth, object ? '}' : ']');
}

std::string weft::test::mutate(std::string bytes, bool isText, Random &random) {
  // The number of faults: half of the files have one only, which reaches deeper
  // code.
  size_t faults = random() % 2 ? 1 : 1 + random() % 4;
  for (size_t left = faults; left && !bytes.empty(); --left) {
    switch (random() % (isText ? 23 : 8)) {
    case 0:
      bytes[anyPosition(bytes, random)] ^= char(1 << random() % 8);
      break;
    case 1:
      bytes[anyPosition(bytes, random)] = char(random());
      break;
    case 2:
    case 3:
    case 4:
      replaceInteger(bytes, random);
      break;
    case 5:
    case 6:
      rearrange(bytes, random);
      break;
    case 7:
      bytes.resize(anyPosition(bytes, random));
      break;
    case 8:
      nest(bytes, random);
      break;
    case 9:
      widen(bytes, random);
      break;
    case 10:
    case 11:
    case 12:
      replaceSize(bytes, random);
      break;
    case 13:
    case 14:
    case 15:
      insertForm(bytes, random);
      break;
    default:
      replaceToken(bytes, random);
    }
  }
  return bytes;
}
