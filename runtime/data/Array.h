//===- Array.h - a dense array in host memory -------------------*- C++ -*-===//
//
//   Array x = Array::zeros(ElementType::Float32, {2, 3});
//   x.data<float>()[5] = 1;                 // row-major, the last index fastest
//   Array u = convert(x, ElementType::UInt8);
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DATA_ARRAY_H
#define WEFT_RUNTIME_DATA_ARRAY_H

#include "weft/runtime/data/Result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// Element types in the order of plan.fbs' DType; Bool is one byte, 0 or 1.
enum class ElementType : uint8_t {
  Float32,
  Float64,
  Float16,
  BFloat16,
  Bool,
  Int8,
  Int16,
  Int32,
  Int64,
  UInt8,
  UInt16,
  UInt32,
  UInt64,
  Complex64,
  Complex128,
  Float8E4M3FN,
  Float8E5M2,
  Int2,
  UInt2,
  Int4,
  UInt4,
  Float8E4M3,
  Float8E3M4,
  Float8E4M3FNUZ,
  Float8E5M2FNUZ,
  Float8E4M3B11FNUZ,
  Float8E8M0FNU,
  Float4E2M1FN
};
inline constexpr int elementTypeCount = 28;

size_t byteWidth(ElementType type);
/// The name of a type in NumPy and Keras: float32, bfloat16, bool, ...
std::string_view name(ElementType type);
std::optional<ElementType> elementTypeNamed(std::string_view name);
bool isFloat(ElementType type);
/// The type of arrays that hold all values of `type`: Float32 for floats of at
/// most eight bits, Int8 and UInt8 for shorter integers, else `type` itself.
ElementType carrierOf(ElementType type);
/// The type of a number's components: Float32 for Complex64; a real type is its
/// own component.
ElementType componentType(ElementType type);

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

#endif // WEFT_RUNTIME_DATA_ARRAY_H
