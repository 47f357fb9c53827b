//===- Integer.cpp - sums, products and quotients of integers -------------===//

#include "weft/test/cuda/machine/Lanes.h"

#include <limits>
#include <type_traits>

namespace weft::ptx {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Unsigned128;

/// A type for the product of two T.
template <class T>
using Product = std::conditional_t<
    sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>,
    std::conditional_t<
        sizeof(T) == 4,
        std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>,
        std::conditional_t<std::is_signed_v<T>, Int128, Unsigned128>>>;

/// The type of sums, which wrap.
template <class T> using Unsigned = std::make_unsigned_t<T>;

static constexpr auto kAdd = []<class T>(T a, T b) {
  return T(Unsigned<T>(a) + Unsigned<T>(b));
};
static constexpr auto kSub = []<class T>(T a, T b) {
  return T(Unsigned<T>(a) - Unsigned<T>(b));
};
/// The low half of a product. Factors of 16 bits are multiplied as `unsigned`,
/// since `int`, to which C++ promotes them, can overflow.
static constexpr auto kMulLow = []<class T>(T a, T b) {
  if constexpr (sizeof(T) == 2)
    return T(unsigned(Unsigned<T>(a)) * unsigned(Unsigned<T>(b)));
  else
    return T(Unsigned<T>(a) * Unsigned<T>(b));
};
static constexpr auto kMulHigh = []<class T>(T a, T b) {
  return T(Product<T>(a) * Product<T>(b) >> 8 * sizeof(T));
};
static constexpr auto kMadLow = []<class T>(T a, T b, T c) {
  return kAdd(kMulLow(a, b), c);
};
static constexpr auto kMadHigh = []<class T>(T a, T b, T c) {
  return kAdd(kMulHigh(a, b), c);
};
static constexpr auto kMulWide = []<class T>(T a, T b) {
  return Product<T>(a) * Product<T>(b);
};
static constexpr auto kMadWide = []<class T>(T a, T b, Product<T> c) {
  return kAdd(Product<T>(a) * Product<T>(b), c);
};
/// Divides like the hardware: all ones for a division by zero, and the smallest
/// number divided by -1 is itself.
static constexpr auto kDiv = []<class T>(T a, T b) {
  if (b == 0)
    return T(~T(0));
  if constexpr (std::is_signed_v<T>)
    if (b == T(-1))
      return T(0 - Unsigned<T>(a));
  return T(a / b);
};
static constexpr auto kRem = []<class T>(T a, T b) {
  if (b == 0)
    return a;
  if constexpr (std::is_signed_v<T>)
    if (b == T(-1))
      return T(0);
  return T(a % b);
};
static constexpr auto kMin = []<class T>(T a, T b) { return a < b ? a : b; };
static constexpr auto kMax = []<class T>(T a, T b) { return a > b ? a : b; };
static constexpr auto kNeg = []<class T>(T a) { return T(0 - Unsigned<T>(a)); };
static constexpr auto kAbs = []<class T>(T a) {
  return a < 0 ? T(0 - Unsigned<T>(a)) : a;
};
static int32_t clamp(int64_t value) {
  return int32_t(std::min<int64_t>(
      std::max<int64_t>(value, std::numeric_limits<int32_t>::min()),
      std::numeric_limits<int32_t>::max()));
}
static constexpr auto kAddClamped = [](int32_t a, int32_t b) {
  return clamp(int64_t(a) + b);
};
static constexpr auto kSubClamped = [](int32_t a, int32_t b) {
  return clamp(int64_t(a) - b);
};
static constexpr auto kSad = []<class T>(T a, T b, T c) {
  return kAdd(a < b ? kSub(b, a) : kSub(a, b), c);
};
/// The 48 bits of a product of the lower 24.
template <class T> static int64_t product24(T a, T b) {
  auto part = [](T value) {
    return std::is_signed_v<T> ? int64_t(int32_t(value << 8) >> 8)
                               : int64_t(uint32_t(value) & 0xFFFFFF);
  };
  return part(a) * part(b);
}
static constexpr auto kMul24Low = []<class T>(T a, T b) {
  return T(product24(a, b));
};
static constexpr auto kMul24High = []<class T>(T a, T b) {
  return T(product24(a, b) >> 16);
};
static constexpr auto kMad24Low = []<class T>(T a, T b, T c) {
  return kAdd(kMul24Low(a, b), c);
};
static constexpr auto kMad24High = []<class T>(T a, T b, T c) {
  return kAdd(kMul24High(a, b), c);
};

template <auto op, unsigned count> static void decodeSame(Decoder &d) {
  Type type = d.takeType();
  Compute compute = ofIntegers<op, count>(type);
  if constexpr (count == 1)
    d.emit(compute, {type}, {type});
  else if constexpr (count == 2)
    d.emit(compute, {type}, {type, type});
  else
    d.emit(compute, {type}, {type, type, type});
}

template <auto op, auto clamped> static void decodeSum(Decoder &d) {
  if (!d.take("sat"))
    return decodeSame<op, 2>(d);
  Type type = d.takeType();
  d.emit(type == Type::S32 ? each<clamped, int32_t, int32_t, int32_t> : nullptr,
         {type}, {type, type});
}

static Type twice(Type type) {
  return type == Type::U16   ? Type::U32
         : type == Type::S16 ? Type::S32
         : type == Type::U32 ? Type::U64
                             : Type::S64;
}

template <class T> static Compute wide(bool isSum) {
  return isSum ? Compute(each<kMadWide, Product<T>, T, T, Product<T>>)
               : Compute(each<kMulWide, Product<T>, T, T>);
}
static Compute wideOf(Type type, bool isSum) {
  switch (type) {
  case Type::U16:
    return wide<uint16_t>(isSum);
  case Type::S16:
    return wide<int16_t>(isSum);
  case Type::U32:
    return wide<uint32_t>(isSum);
  case Type::S32:
    return wide<int32_t>(isSum);
  default:
    return nullptr;
  }
}

template <bool isSum> static void decodeProduct(Decoder &d) {
  int half = d.takeOne({"lo", "hi", "wide"});
  if (half == 0)
    return isSum ? decodeSame<kMadLow, 3>(d) : decodeSame<kMulLow, 2>(d);
  if (half == 1)
    return isSum ? decodeSame<kMadHigh, 3>(d) : decodeSame<kMulHigh, 2>(d);
  Type type = d.takeType(), result = twice(type);
  Compute compute = half == 2 ? wideOf(type, isSum) : nullptr;
  if (isSum)
    d.emit(compute, {result}, {type, type, result});
  else
    d.emit(compute, {result}, {type, type});
}

template <auto low, auto high, unsigned count>
static void decodeProduct24(Decoder &d) {
  bool isHigh = d.takeOne({"lo", "hi"}) == 1;
  Type type = d.takeType();
  Compute compute = nullptr;
  if (type == Type::U32)
    compute = isHigh ? sameType<high, uint32_t, count>()
                     : sameType<low, uint32_t, count>();
  if (type == Type::S32)
    compute = isHigh ? sameType<high, int32_t, count>()
                     : sameType<low, int32_t, count>();
  if constexpr (count == 2)
    d.emit(compute, {type}, {type, type});
  else
    d.emit(compute, {type}, {type, type, type});
}

void addIntegerDecoders(DecodeTable &table) {
  table.integers["add"] = decodeSum<kAdd, kAddClamped>;
  table.integers["sub"] = decodeSum<kSub, kSubClamped>;
  table.integers["mul"] = decodeProduct<false>;
  table.integers["mad"] = decodeProduct<true>;
  table.integers["mul24"] = decodeProduct24<kMul24Low, kMul24High, 2>;
  table.integers["mad24"] = decodeProduct24<kMad24Low, kMad24High, 3>;
  table.integers["div"] = decodeSame<kDiv, 2>;
  table.integers["rem"] = decodeSame<kRem, 2>;
  table.integers["min"] = decodeSame<kMin, 2>;
  table.integers["max"] = decodeSame<kMax, 2>;
  table.integers["abs"] = decodeSame<kAbs, 1>;
  table.integers["neg"] = decodeSame<kNeg, 1>;
  table.integers["sad"] = decodeSame<kSad, 3>;
}

} // namespace weft::ptx
