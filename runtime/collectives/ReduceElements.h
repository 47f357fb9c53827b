//===- ReduceElements.h - one reduction on a pair of elements ---*- C++ -*-===//
//
// The storage of elements of each type, and the type in which they are reduced.
// Each file with loops over elements includes it once, for the processor that
// it is compiled for: everything is in an anonymous namespace, and nothing of
// the C++ library is used, which GPUs lack (runtime/devices/cuda/kernels).
//
//   reduced::f16::visit(Reduction::sum, visitor);   // visitor.visit<Half, Sum>()
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_COLLECTIVES_REDUCEELEMENTS_H
#define WEFT_RUNTIME_COLLECTIVES_REDUCEELEMENTS_H

#include "weft/base/SmallFloats.h"

namespace {

/// The numbers of plan::ReduceKind.
enum class Reduction : uint8_t { sum, max, min, prod, and_, or_ };

/// Elements that are reduced in their own type.
template <typename T> struct Plain {
  using Stored = T;
  using Value = T;
  static Value load(Stored s) { return s; }
  static Stored store(Value v) { return v; }
};
struct Half {
  using Stored = _Float16;
  using Value = float;
  static Value load(Stored s) { return static_cast<float>(s); }
  static Stored store(Value v) { return static_cast<_Float16>(v); }
};
struct BrainHalf {
  using Stored = uint16_t;
  using Value = float;
  static Value load(Stored s) {
    return __builtin_bit_cast(float, uint32_t(s) << 16);
  }
  static Stored store(Value v) {
    uint32_t bits = __builtin_bit_cast(uint32_t, v);
    if ((bits & 0x7fffffff) > 0x7f800000)
      return static_cast<uint16_t>(bits >> 16 | 0x40); // NaN stays NaN
    return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
};
/// Floats of at most eight bits, reduced as float.
template <weft::SmallFloat format> struct Small {
  using Stored = uint8_t;
  using Value = float;
  static Value load(Stored s) { return weft::smallToFloat(s, format); }
  static Stored store(Value v) { return weft::floatToSmall(v, format); }
};
template <typename E> inline constexpr bool isSmallFloat = false;
template <weft::SmallFloat format>
inline constexpr bool isSmallFloat<Small<format>> = true;

/// Integers of `bits` bits in a byte, the other bits 0.
template <typename T, int bits> struct Short {
  using Stored = uint8_t;
  using Value = T;
  static Value load(Stored s) {
    return static_cast<T>(static_cast<T>(s << (8 - bits)) >> (8 - bits));
  }
  static Stored store(Value v) {
    return static_cast<Stored>(v & ((1 << bits) - 1));
  }
};
/// An i1, a byte of 0 or 1: sum is or, prod is and.
struct Bit {
  using Stored = uint8_t;
  using Value = uint8_t;
  static Value load(Stored s) { return s; }
  static Stored store(Value v) { return v; }
};

/// Complex numbers: two floats, the real part first.
template <typename T> struct Complex {
  struct Stored {
    T re, im;
    Stored operator+(Stored other) const {
      return {re + other.re, im + other.im};
    }
    Stored operator*(Stored other) const {
      return {re * other.re - im * other.im, re * other.im + im * other.re};
    }
  };
  using Value = Stored;
  static Value load(Stored s) { return s; }
  static Stored store(Value v) { return v; }
};

struct Sum {
  template <typename T> static T apply(T a, T b) {
    return static_cast<T>(a + b);
  }
};
struct Prod {
  // Multiplies through unsigned, as 16-bit operands would be multiplied as int.
  template <typename T> static T apply(T a, T b) {
    if constexpr (sizeof(T) <= 2)
      return static_cast<T>(unsigned(a) * unsigned(b));
    else
      return a * b;
  }
};
template <typename T> struct BitsOf {
  using Type = T;
};
template <> struct BitsOf<float> {
  using Type = uint32_t;
};
template <> struct BitsOf<double> {
  using Type = uint64_t;
};

/// Whether the value is NaN; false for integers.
template <typename T> bool isNaN(T value) {
  return value != value; // NOLINT(misc-redundant-expression): NaN's definition
}

/// The maximum and minimum of IEEE 754-2019: NaN is the result if either is
/// NaN, and -0 is less than 0. Equal numbers differ in no bit except a zero's
/// sign.
struct Max {
  template <typename T> static T apply(T a, T b) {
    using Bits = typename BitsOf<T>::Type;
    T both = __builtin_bit_cast(
        T, Bits(__builtin_bit_cast(Bits, a) & __builtin_bit_cast(Bits, b)));
    T larger = a > b || isNaN(a) ? a : b;
    return a == b ? both : larger;
  }
};
struct Min {
  template <typename T> static T apply(T a, T b) {
    using Bits = typename BitsOf<T>::Type;
    T either = __builtin_bit_cast(
        T, Bits(__builtin_bit_cast(Bits, a) | __builtin_bit_cast(Bits, b)));
    T smaller = a < b || isNaN(a) ? a : b;
    return a == b ? either : smaller;
  }
};
struct And {
  template <typename T> static T apply(T a, T b) { return a & b; }
};
struct Or {
  template <typename T> static T apply(T a, T b) { return a | b; }
};

/// The reductions of an element type: each visit() calls the visitor's function
/// for one of them, or none() if the type has no such reduction. Complex
/// numbers have no order.
template <typename E> struct Unordered {
  template <typename Visitor>
  static auto visit(Reduction kind, const Visitor &visitor) {
    switch (kind) {
    case Reduction::sum:
      return visitor.template visit<E, Sum>();
    case Reduction::prod:
      return visitor.template visit<E, Prod>();
    default:
      return visitor.none();
    }
  }
};

template <typename E> struct Ordered {
  template <typename Visitor>
  static auto visit(Reduction kind, const Visitor &visitor) {
    switch (kind) {
    case Reduction::max:
      return visitor.template visit<E, Max>();
    case Reduction::min:
      return visitor.template visit<E, Min>();
    default:
      return Unordered<E>::visit(kind, visitor);
    }
  }
};

/// The reductions of integers. Sums, products and bits are the same for both
/// signs, and unsigned ones wrap.
template <typename E, typename Unsigned = E> struct Integer {
  template <typename Visitor>
  static auto visit(Reduction kind, const Visitor &visitor) {
    switch (kind) {
    case Reduction::and_:
      return visitor.template visit<Unsigned, And>();
    case Reduction::or_:
      return visitor.template visit<Unsigned, Or>();
    case Reduction::sum:
    case Reduction::prod:
      return Ordered<Unsigned>::visit(kind, visitor);
    default:
      return Ordered<E>::visit(kind, visitor);
    }
  }
};

struct OneBit {
  template <typename Visitor>
  static auto visit(Reduction kind, const Visitor &visitor) {
    switch (kind) {
    case Reduction::sum:
    case Reduction::max:
    case Reduction::or_:
      return visitor.template visit<Bit, Or>();
    default:
      return visitor.template visit<Bit, And>();
    }
  }
};

/// The reductions of each type of plan::DType, by its name.
namespace reduced {
using f32 = Ordered<Plain<float>>;
using f64 = Ordered<Plain<double>>;
using f16 = Ordered<Half>;
using bf16 = Ordered<BrainHalf>;
using i1 = OneBit;
using i8 = Integer<Plain<int8_t>, Plain<uint8_t>>;
using i16 = Integer<Plain<int16_t>, Plain<uint16_t>>;
using i32 = Integer<Plain<int32_t>, Plain<uint32_t>>;
using i64 = Integer<Plain<int64_t>, Plain<uint64_t>>;
using ui8 = Integer<Plain<uint8_t>>;
using ui16 = Integer<Plain<uint16_t>>;
using ui32 = Integer<Plain<uint32_t>>;
using ui64 = Integer<Plain<uint64_t>>;
using c64 = Unordered<Complex<float>>;
using c128 = Unordered<Complex<double>>;
using i2 = Integer<Short<int8_t, 2>>;
using ui2 = Integer<Short<uint8_t, 2>>;
using i4 = Integer<Short<int8_t, 4>>;
using ui4 = Integer<Short<uint8_t, 4>>;
#define WEFT_SMALL_FLOAT(NAME, name, Name, format, ...)                        \
  using name = Ordered<Small<weft::format>>;
#include "weft/base/ElementTypes.def"
} // namespace reduced

} // namespace

#endif // WEFT_RUNTIME_COLLECTIVES_REDUCEELEMENTS_H
