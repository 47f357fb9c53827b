//===- Array.h - a dense array in host memory -------------------*- C++ -*-===//
//
//   Array x = Array::zeros(ElementType::Float32, {2, 3});
//   x.data<float>()[5] = 1;                 // row-major, the last index fastest
//   Array u = convert(x, ElementType::UInt8);
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DATA_ARRAYS_ARRAY_H
#define WEFT_DATA_ARRAYS_ARRAY_H

#include "weft/base/ElementTypes.h"
#include "weft/base/Result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

using Shape = std::vector<int64_t>;
/// (128, 784), (5,), ().
std::string text(const Shape &shape);
/// The product of the sizes, or nothing if that of the sizes above 0 exceeds 63
/// bits, or a size is negative.
std::optional<int64_t> elementCount(const Shape &shape);

struct Array {
  ElementType type = ElementType::Float32;
  Shape shape;
  std::vector<uint8_t> bytes;

  static Array zeros(ElementType type, Shape shape);
  template <typename T> static Array scalar(ElementType type, T value) {
    Array array = zeros(type, {});
    *array.data<T>() = value;
    return array;
  }
  int64_t count() const { return bytes.size() / byteWidth(type); }
  /// Bytes of one index of the first dimension.
  size_t rowBytes() const;
  template <typename T> T *data() {
    return reinterpret_cast<T *>(bytes.data());
  }
  template <typename T> const T *data() const {
    return reinterpret_cast<const T *>(bytes.data());
  }
  /// Element `index` in row-major order, as a double; of complex numbers the
  /// real part.
  double at(int64_t index) const;
};

/// Converts element by element: floats to integers truncate and saturate, NaN
/// becomes 0; integers to narrower ones wrap; floats of at most 16 bits round
/// from float32 to nearest even; real types take the real part of complex
/// numbers.
Array convert(const Array &array, ElementType type);
/// Converts `count` elements in memory; `from` and `to` do not overlap.
void convertElements(ElementType fromType, const void *from, ElementType toType,
                     void *to, int64_t count);
/// The number of NaNs among `count` elements in memory; each component of a
/// complex number counts.
int64_t countNaN(ElementType type, const void *from, int64_t count);
/// Rows [begin, end) of the first dimension, which must exist.
Array rows(const Array &array, int64_t begin, int64_t end);

float halfToFloat(uint16_t bits);
uint16_t floatToHalf(float value);
inline float bfloatToFloat(uint16_t bits) {
  uint32_t wide = uint32_t(bits) << 16;
  float value;
  __builtin_memcpy(&value, &wide, 4);
  return value;
}
uint16_t floatToBFloat(float value);

} // namespace weft

#endif // WEFT_DATA_ARRAYS_ARRAY_H
