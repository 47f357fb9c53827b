//===- ReduceLoops.h - the loops of Reduce.h --------------------*- C++ -*-===//
//
// Included once by each Reduce<Width>.cpp, which sets the vector width by its
// compile options. Everything is in an anonymous namespace: the linker must
// not merge the widths.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_COLLECTIVES_REDUCELOOPS_H
#define WEFT_RUNTIME_COLLECTIVES_REDUCELOOPS_H

#include "weft/runtime/collectives/Reduce.h"
#include "weft/runtime/program/SmallFloats.h"

#include <algorithm>
#include <cstring>

namespace {

using namespace weft::runtime;

/// How an element is stored and in which type it is reduced.
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
/// At most eight bits; in arithmetic a float.
template <weft::SmallFloat format> struct Small {
  using Stored = uint8_t;
  using Value = float;
  static Value load(Stored s) { return weft::smallToFloat(s, format); }
  static Stored store(Value v) { return weft::floatToSmall(v, format); }
};
/// An integer of `bits` bits in a byte, the others 0.
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
/// i1: sum is or, prod is and; a byte of 0 or 1.
struct Bit {
  using Stored = uint8_t;
  using Value = uint8_t;
  static Value load(Stored s) { return s; }
  static Stored store(Value v) { return v; }
};

/// Two floats, the real part first.
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
  // Through unsigned: 16-bit operands would be multiplied as int.
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

/// Integers are never NaN.
template <typename T> bool isNaN(T value) {
  return value != value; // NOLINT(misc-redundant-expression): NaN's definition
}

/// IEEE 754-2019's maximum and minimum: NaN wins, from either side, and -0 is
/// less than 0. Equal numbers differ in no bit but a zero's sign.
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

/// A fixed number of devices: the sum stays in registers.
template <typename E, typename Op, size_t count>
void reduceInPlace(void *const *arrays, int64_t begin, int64_t end) {
  typename E::Stored *p[count];
  for (size_t m = 0; m < count; ++m)
    p[m] = static_cast<typename E::Stored *>(arrays[m]);
  // Arrays are equal or disjoint and element i depends on elements i alone.
#pragma clang loop vectorize(assume_safety) interleave_count(2)
  for (int64_t i = begin; i < end; ++i) {
    typename E::Value value = E::load(p[0][i]);
#pragma clang loop unroll(full)
    for (size_t m = 1; m < count; ++m)
      value = Op::apply(value, E::load(p[m][i]));
#pragma clang loop unroll(full)
    for (size_t m = 0; m < count; ++m)
      p[m][i] = E::store(value);
  }
}

/// Any number of devices: blocks of a sum that stays in L1.
template <typename E, typename Op>
void reduceBlocks(const void *const *sources, size_t sourceCount,
                  void *const *targets, size_t targetCount, int64_t begin,
                  int64_t end) {
  using Stored = typename E::Stored;
  using Value = typename E::Value;
  constexpr int64_t block = 4096 / sizeof(Value);
  alignas(64) Value sum[block];
  alignas(64) Stored result[block];
  for (int64_t i = begin; i < end; i += block) {
    int64_t n = end - i < block ? end - i : block;
    auto *first = static_cast<const Stored *>(sources[0]) + i;
    for (int64_t k = 0; k < n; ++k)
      sum[k] = E::load(first[k]);
    for (size_t m = 1; m < sourceCount; ++m) {
      auto *next = static_cast<const Stored *>(sources[m]) + i;
      for (int64_t k = 0; k < n; ++k)
        sum[k] = Op::apply(sum[k], E::load(next[k]));
    }
    for (int64_t k = 0; k < n; ++k)
      result[k] = E::store(sum[k]);
    for (size_t m = 0; m < targetCount; ++m)
      std::memcpy(static_cast<Stored *>(targets[m]) + i, result,
                  static_cast<size_t>(n) * sizeof(Stored));
  }
}

template <typename E, typename Op>
void reduce(const void *const *sources, size_t sourceCount,
            void *const *targets, size_t targetCount, int64_t begin,
            int64_t end) {
  bool inPlace = std::equal(sources, sources + sourceCount, targets,
                            targets + targetCount);
  if (inPlace && sourceCount == 1)
    return;
  if (inPlace && sourceCount == 2)
    return reduceInPlace<E, Op, 2>(targets, begin, end);
  if (inPlace && sourceCount == 4)
    return reduceInPlace<E, Op, 4>(targets, begin, end);
  if (inPlace && sourceCount == 8)
    return reduceInPlace<E, Op, 8>(targets, begin, end);
  reduceBlocks<E, Op>(sources, sourceCount, targets, targetCount, begin, end);
}

template <typename E> ReduceFunction chooseKind(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::sum:
    return reduce<E, Sum>;
  case ReduceKind::prod:
    return reduce<E, Prod>;
  case ReduceKind::max:
    return reduce<E, Max>;
  case ReduceKind::min:
    return reduce<E, Min>;
  case ReduceKind::and_:
    if constexpr (std::is_integral_v<typename E::Value>)
      return reduce<E, And>;
    break;
  case ReduceKind::or_:
    if constexpr (std::is_integral_v<typename E::Value>)
      return reduce<E, Or>;
    break;
  }
  return nullptr;
}

ReduceFunction chooseBit(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::sum:
  case ReduceKind::max:
  case ReduceKind::or_:
    return reduce<Bit, Or>;
  default:
    return reduce<Bit, And>;
  }
}

/// Integers wrap: sums and products are the same for both signs.
template <typename Signed, typename Unsigned>
ReduceFunction chooseInteger(ReduceKind kind, bool isSigned) {
  bool ordered = kind == ReduceKind::max || kind == ReduceKind::min;
  return ordered && isSigned ? chooseKind<Plain<Signed>>(kind)
                             : chooseKind<Plain<Unsigned>>(kind);
}

/// Complex numbers have no order.
template <typename E> ReduceFunction chooseComplex(ReduceKind kind) {
  return kind == ReduceKind::sum    ? reduce<E, Sum>
         : kind == ReduceKind::prod ? reduce<E, Prod>
                                    : nullptr;
}

/// What takes a byte and has no loop of its own.
ReduceFunction chooseSmall(DType dtype, ReduceKind kind) {
  switch (dtype) {
  case DType::i2:
    return chooseKind<Short<int8_t, 2>>(kind);
  case DType::ui2:
    return chooseKind<Short<uint8_t, 2>>(kind);
  case DType::i4:
    return chooseKind<Short<int8_t, 4>>(kind);
  case DType::ui4:
    return chooseKind<Short<uint8_t, 4>>(kind);
  case DType::f8E4M3FN:
    return chooseKind<Small<weft::e4m3fn>>(kind);
  case DType::f8E5M2:
    return chooseKind<Small<weft::e5m2>>(kind);
  case DType::f8E4M3:
    return chooseKind<Small<weft::e4m3>>(kind);
  case DType::f8E3M4:
    return chooseKind<Small<weft::e3m4>>(kind);
  case DType::f8E4M3FNUZ:
    return chooseKind<Small<weft::e4m3fnuz>>(kind);
  case DType::f8E5M2FNUZ:
    return chooseKind<Small<weft::e5m2fnuz>>(kind);
  case DType::f8E4M3B11FNUZ:
    return chooseKind<Small<weft::e4m3b11fnuz>>(kind);
  case DType::f8E8M0FNU:
    return chooseKind<Small<weft::e8m0fnu>>(kind);
  case DType::f4E2M1FN:
    return chooseKind<Small<weft::e2m1fn>>(kind);
  default:
    return nullptr;
  }
}

ReduceFunction choose(DType dtype, ReduceKind kind) {
  switch (dtype) {
  case DType::f32:
    return chooseKind<Plain<float>>(kind);
  case DType::f64:
    return chooseKind<Plain<double>>(kind);
  case DType::f16:
    return chooseKind<Half>(kind);
  case DType::bf16:
    return chooseKind<BrainHalf>(kind);
  case DType::i1:
    return chooseBit(kind);
  case DType::i8:
    return chooseInteger<int8_t, uint8_t>(kind, true);
  case DType::i16:
    return chooseInteger<int16_t, uint16_t>(kind, true);
  case DType::i32:
    return chooseInteger<int32_t, uint32_t>(kind, true);
  case DType::i64:
    return chooseInteger<int64_t, uint64_t>(kind, true);
  case DType::ui8:
    return chooseInteger<int8_t, uint8_t>(kind, false);
  case DType::ui16:
    return chooseInteger<int16_t, uint16_t>(kind, false);
  case DType::ui32:
    return chooseInteger<int32_t, uint32_t>(kind, false);
  case DType::ui64:
    return chooseInteger<int64_t, uint64_t>(kind, false);
  case DType::c64:
    return chooseComplex<Complex<float>>(kind);
  case DType::c128:
    return chooseComplex<Complex<double>>(kind);
  default:
    return chooseSmall(dtype, kind);
  }
}

} // namespace

#endif // WEFT_RUNTIME_COLLECTIVES_REDUCELOOPS_H
