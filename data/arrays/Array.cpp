#include "weft/data/arrays/Array.h"

#include "weft/base/SmallFloats.h"
#include "weft/base/Text.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

namespace weft {

namespace {
/// The values of a small float's bytes; null for other types.
const SmallFloat *smallFloat(ElementType type) {
  switch (type) {
#define WEFT_SMALL_FLOAT(NAME, name, Name, format, ...)                        \
  case ElementType::Name:                                                      \
    return &format;
#include "weft/base/ElementTypes.def"
  default:
    return nullptr;
  }
}
/// The bits of an integer type of less than a byte; otherwise 0.
int shortBits(ElementType type) {
  const ElementFacts &facts = factsOf(type);
  bool isInteger =
      facts.kind == ElementKind::Signed || facts.kind == ElementKind::Unsigned;
  return isInteger && facts.bits < 8 ? facts.bits : 0;
}
bool isSignedShort(ElementType type) {
  return shortBits(type) && factsOf(type).kind == ElementKind::Signed;
}
} // namespace

std::string text(const Shape &shape) {
  return "(" + joined(shape, ", ") + (shape.size() == 1 ? ",)" : ")");
}

std::optional<int64_t> elementCount(const Shape &shape) {
  // The product of nonzero sizes: a zero makes the count zero, but the other
  // sizes must still fit.
  int64_t product = 1;
  bool empty = false;
  for (int64_t size : shape) {
    if (size < 0)
      return std::nullopt;
    if (size == 0)
      empty = true;
    else if (__builtin_mul_overflow(product, size, &product))
      return std::nullopt;
  }
  return empty ? 0 : product;
}

Array Array::zeros(ElementType type, Shape shape) {
  Array array;
  array.type = type;
  std::optional<int64_t> count = elementCount(shape);
  assert(count && "callers check shapes that come from files");
  array.bytes.resize(*count * byteWidth(type));
  array.shape = std::move(shape);
  return array;
}

size_t Array::rowBytes() const {
  size_t bytes = byteWidth(type);
  for (size_t i = 1; i < shape.size(); ++i)
    bytes *= shape[i];
  return bytes;
}

float halfToFloat(uint16_t bits) {
  uint32_t sign = uint32_t(bits >> 15) << 31;
  uint32_t exponent = (bits >> 10) & 31, fraction = bits & 1023;
  float value;
  if (exponent == 0) { // zero and subnormals: fraction * 2^-24
    value = std::ldexp(float(fraction), -24);
    return sign ? -value : value;
  }
  uint32_t wide =
      sign | (exponent == 31 ? 0xFFu : exponent + 112) << 23 | fraction << 13;
  std::memcpy(&value, &wide, 4);
  return value;
}

uint16_t floatToHalf(float value) {
  uint32_t wide;
  std::memcpy(&wide, &value, 4);
  uint16_t sign = (wide >> 16) & 0x8000;
  if (std::isnan(value))
    return sign | 0x7E00;
  float magnitude = std::fabs(value);
  if (magnitude >= 65520.0f) // rounds past the largest finite half, 65504
    return sign | 0x7C00;
  if (magnitude < 6.103515625e-05f) // below 2^-14: a multiple of 2^-24
    return sign | uint16_t(std::nearbyint(std::ldexp(magnitude, 24)));
  wide &= 0x7FFFFFFF;
  wide += 0xFFF + ((wide >> 13) & 1);
  return sign | uint16_t((wide >> 13) - (112u << 10));
}

uint16_t floatToBFloat(float value) {
  uint32_t wide;
  std::memcpy(&wide, &value, 4);
  if (std::isnan(value))
    return uint16_t(wide >> 16) | 0x40;
  return uint16_t((wide + 0x7FFF + ((wide >> 16) & 1)) >> 16);
}

namespace {

struct Half {
  uint16_t bits;
};
struct BFloat {
  uint16_t bits;
};
struct Boolean {
  uint8_t bits;
};
template <typename T> struct Complex {
  T re, im;
};

/// Calls visitor(T()) with the C++ type T of `type`, which must be its own
/// carrier.
// NOLINTBEGIN(bugprone-branch-clone): the branches differ in the type
template <typename Visitor> void visitType(ElementType type, Visitor visitor) {
  switch (type) {
  case ElementType::Float32:
    return visitor(float());
  case ElementType::Float64:
    return visitor(double());
  case ElementType::Float16:
    return visitor(Half());
  case ElementType::BFloat16:
    return visitor(BFloat());
  case ElementType::Bool:
    return visitor(Boolean());
  case ElementType::Int8:
    return visitor(int8_t());
  case ElementType::Int16:
    return visitor(int16_t());
  case ElementType::Int32:
    return visitor(int32_t());
  case ElementType::Int64:
    return visitor(int64_t());
  case ElementType::UInt8:
    return visitor(uint8_t());
  case ElementType::UInt16:
    return visitor(uint16_t());
  case ElementType::UInt32:
    return visitor(uint32_t());
  case ElementType::UInt64:
    return visitor(uint64_t());
  case ElementType::Complex64:
    return visitor(Complex<float>());
  case ElementType::Complex128:
    return visitor(Complex<double>());
  default:
    return;
  }
}
// NOLINTEND(bugprone-branch-clone)

template <typename T> T widen(T value) { return value; }
float widen(Half value) { return halfToFloat(value.bits); }
float widen(BFloat value) { return bfloatToFloat(value.bits); }
int widen(Boolean value) { return value.bits != 0; }
/// The real part: a conversion to a real type drops the imaginary part.
template <typename T> T widen(Complex<T> value) { return value.re; }
template <typename T> double imaginary(T) { return 0; }
template <typename T> double imaginary(Complex<T> value) { return value.im; }

template <typename To, typename From> void assign(To &to, From from) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    // 2^digits is the first value that does not fit; NaN becomes 0.
    From limit = std::ldexp(From(1), std::numeric_limits<To>::digits);
    if (std::isnan(from))
      to = 0;
    else if (from >= limit)
      to = std::numeric_limits<To>::max();
    else if (from < From(std::numeric_limits<To>::min()))
      to = std::numeric_limits<To>::min();
    else
      to = To(from);
  } else {
    to = To(from); // NOLINT(bugprone-signed-char-misuse): int8_t is a number
  }
}
template <typename From> void assign(Half &to, From from) {
  to.bits = floatToHalf(float(from));
}
template <typename From> void assign(BFloat &to, From from) {
  to.bits = floatToBFloat(float(from));
}
template <typename From> void assign(Boolean &to, From from) {
  to.bits = from != 0;
}
template <typename T, typename From> void assign(Complex<T> &to, From from) {
  to.re = T(from);
}
template <typename To> void assignImaginary(To &, double) {}
template <typename T> void assignImaginary(Complex<T> &to, double value) {
  to.im = T(value);
}

} // namespace

double Array::at(int64_t index) const {
  double out = 0;
  if (carrierOf(type) != type) {
    convertElements(type, data<uint8_t>() + index, ElementType::Float64, &out,
                    1);
    return out;
  }
  visitType(type, [&](auto tag) {
    out = double(widen(data<decltype(tag)>()[index]));
  });
  return out;
}

int64_t countNaN(ElementType type, const void *from, int64_t count) {
  if (componentType(type) != type)
    return countNaN(componentType(type), from, 2 * count);
  if (!isFloat(type))
    return 0;
  int64_t found = 0;
  if (carrierOf(type) != type) { // a byte each
    for (int64_t i = 0; i < count; ++i) {
      float value;
      convertElements(type, static_cast<const uint8_t *>(from) + i,
                      ElementType::Float32, &value, 1);
      found += value != value;
    }
    return found;
  }
  visitType(type, [&](auto tag) {
    const auto *values = static_cast<const decltype(tag) *>(from);
    for (int64_t i = 0; i < count; ++i)
      found += widen(values[i]) != widen(values[i]);
  });
  return found;
}

/// Converts images: the most frequent conversion of a training loop.
#if defined(__x86_64__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
static void bytesToFloats(const uint8_t *__restrict from, float *__restrict to,
                          int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i] = from[i];
}

/// Widens bytes of a type below eight bits, or of a small float, to the
/// carrier.
static void widenShort(ElementType type, const uint8_t *from, void *to,
                       int64_t count) {
  if (const SmallFloat *format = smallFloat(type)) {
    for (int64_t i = 0; i < count; ++i)
      static_cast<float *>(to)[i] = smallToFloat(from[i], *format);
    return;
  }
  int unused = 8 - shortBits(type);
  for (int64_t i = 0; i < count; ++i) {
    auto high = uint8_t(from[i] << unused);
    static_cast<uint8_t *>(to)[i] = isSignedShort(type)
                                        ? uint8_t(int8_t(high) >> unused)
                                        : uint8_t(high >> unused);
  }
}

/// Narrows to such a type. Integers are clamped if `saturates`, as for values
/// that were floats; else they wrap.
static void narrowShort(ElementType type, const void *from, uint8_t *to,
                        int64_t count, bool saturates) {
  if (const SmallFloat *format = smallFloat(type)) {
    for (int64_t i = 0; i < count; ++i)
      to[i] = floatToSmall(static_cast<const float *>(from)[i], *format);
    return;
  }
  int bits = shortBits(type);
  bool isSigned = isSignedShort(type);
  int low = isSigned ? -(1 << (bits - 1)) : 0, high = low + (1 << bits) - 1;
  for (int64_t i = 0; i < count; ++i) {
    int value = isSigned ? int(static_cast<const int8_t *>(from)[i])
                         : static_cast<const uint8_t *>(from)[i];
    to[i] = uint8_t(!saturates ? value : std::clamp(value, low, high)) &
            ((1 << bits) - 1);
  }
}

/// Converts block by block through the carriers.
static void convertShort(ElementType fromType, const uint8_t *from,
                         ElementType toType, uint8_t *to, int64_t count) {
  constexpr int64_t block = 1024;
  double widened[block], narrowed[block]; // as wide as any carrier
  ElementType source = carrierOf(fromType), target = carrierOf(toType);
  for (int64_t i = 0; i < count; i += block) {
    int64_t n = std::min(block, count - i);
    const void *values = from + i * byteWidth(fromType);
    if (source != fromType) {
      widenShort(fromType, from + i, widened, n);
      values = widened;
    }
    if (target == toType) {
      convertElements(source, values, toType, to + i * byteWidth(toType), n);
      continue;
    }
    convertElements(source, values, target, narrowed, n);
    narrowShort(toType, narrowed, to + i, n,
                isFloat(fromType) || componentType(fromType) != fromType);
  }
}

void convertElements(ElementType fromType, const void *from, ElementType toType,
                     void *to, int64_t count) {
  if (fromType == toType) {
    std::memcpy(to, from, count * byteWidth(toType));
    return;
  }
  if (carrierOf(fromType) != fromType || carrierOf(toType) != toType)
    return convertShort(fromType, static_cast<const uint8_t *>(from), toType,
                        static_cast<uint8_t *>(to), count);
  if (fromType == ElementType::UInt8 && toType == ElementType::Float32)
    return bytesToFloats(static_cast<const uint8_t *>(from),
                         static_cast<float *>(to), count);
  visitType(fromType, [&](auto fromTag) {
    visitType(toType, [&](auto toTag) {
      const auto *__restrict source =
          static_cast<const decltype(fromTag) *>(from);
      auto *__restrict target = static_cast<decltype(toTag) *>(to);
      for (int64_t i = 0; i < count; ++i) {
        assign(target[i], widen(source[i]));
        assignImaginary(target[i], imaginary(source[i]));
      }
    });
  });
}

Array convert(const Array &array, ElementType type) {
  if (array.type == type)
    return array;
  Array out = Array::zeros(type, array.shape);
  convertElements(array.type, array.bytes.data(), type, out.bytes.data(),
                  array.count());
  return out;
}

Array rows(const Array &array, int64_t begin, int64_t end) {
  Array out;
  out.type = array.type;
  out.shape = array.shape;
  out.shape[0] = end - begin;
  size_t row = array.rowBytes();
  out.bytes.assign(array.bytes.begin() + begin * row,
                   array.bytes.begin() + end * row);
  return out;
}

} // namespace weft
