//===- Float.cpp - arithmetic of floats, rounded to nearest ---------------===//

#include "weft/test/cuda/machine/Lanes.h"
#include "weft/test/cuda/machine/ShortFloats.h"

#include <cmath>
#include <limits>

namespace weft::ptx {

template <class T> constexpr bool isShort = sizeof(T) == 2;

template <class T>
using Bits =
    std::conditional_t<isShort<T>, uint16_t,
                       std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;
template <class T>
constexpr auto kSign = Bits<T>(Bits<T>(1) << (8 * sizeof(T) - 1));

/// Whether the bits are those of a NaN, as a compiler may replace a NaN by
/// another.
template <class T> static bool isNan(T value) {
  constexpr Bits<T> infinity = std::is_same_v<T, Half>    ? 0x7C00
                               : std::is_same_v<T, Brain> ? 0x7F80
                               : sizeof(T) == 4 ? 0x7F800000
                                                : Bits<T>(0x7FF0000000000000);
  return (std::bit_cast<Bits<T>>(value) & Bits<T>(~kSign<T>)) > infinity;
}
/// The NaN that the hardware makes.
template <class T>
constexpr Bits<T> kNan = isShort<T>       ? Bits<T>(0x7FFF)
                         : sizeof(T) == 4 ? Bits<T>(0x7FFFFFFF)
                                          : Bits<T>(0x7FF8000000000000);

/// The result of an operation. A NaN becomes the hardware's NaN, except in f64,
/// which keeps the bits of a source.
template <class T> static T rounded(auto value) {
  if constexpr (isShort<T>)
    return T::of(value);
  else if constexpr (sizeof(T) == 4)
    return std::bit_cast<T>(isNan<T>(value) ? kNan<T>
                                            : std::bit_cast<Bits<T>>(value));
  else
    return value;
}

static constexpr auto kAdd = []<class T>(T a, T b) {
  return rounded<T>(a + b);
};
static constexpr auto kSub = []<class T>(T a, T b) {
  return rounded<T>(a - b);
};
static constexpr auto kMul = []<class T>(T a, T b) {
  return rounded<T>(a * b);
};
static constexpr auto kDiv = []<class T>(T a, T b) {
  return rounded<T>(a / b);
};
static constexpr auto kFma = []<class T>(T a, T b, T c) {
  if constexpr (isShort<T>)
    return T::of(fusedToOdd(a, b, c));
  else
    return rounded<T>(std::fma(a, b, c));
};
static constexpr auto kReciprocal = []<class T>(T a) {
  return rounded<T>(T(1) / a);
};
static constexpr auto kSqrt = []<class T>(T a) {
  return rounded<T>(std::sqrt(a));
};
static constexpr auto kNeg = []<class T>(T a) {
  return std::bit_cast<T>(Bits<T>(std::bit_cast<Bits<T>>(a) ^ kSign<T>));
};
static constexpr auto kAbs = []<class T>(T a) {
  return std::bit_cast<T>(Bits<T>(std::bit_cast<Bits<T>>(a) & ~kSign<T>));
};
/// The sign of a and the magnitude of b.
static constexpr auto kCopySign = []<class T>(T a, T b) {
  return std::bit_cast<T>(Bits<T>((std::bit_cast<Bits<T>>(a) & kSign<T>) |
                                  (std::bit_cast<Bits<T>>(b) & ~kSign<T>)));
};

/// The extreme of two. A NaN is ignored, or the result with .NaN; -0 is below
/// +0.
template <bool isMax, bool nanWins>
static constexpr auto kExtreme = []<class T>(T a, T b) {
  auto bitsA = std::bit_cast<Bits<T>>(a), bitsB = std::bit_cast<Bits<T>>(b);
  bool isNanA = isNan(a), isNanB = isNan(b);
  bool takesB = (a < b) == isMax;
  if (a == b)
    takesB = ((bitsA & kSign<T>) != 0) == isMax;
  Bits<T> result = takesB ? bitsB : bitsA;
  if (isNanA || isNanB)
    result = nanWins || (isNanA && isNanB) ? kNan<T> : isNanA ? bitsB : bitsA;
  return std::bit_cast<T>(result);
};
template <bool isMax, bool nanWins>
static constexpr auto kExtremeOfThree = []<class T>(T a, T b, T c) {
  constexpr auto extreme = kExtreme<isMax, nanWins>;
  return extreme(extreme(a, b), c);
};

/// The function for a float type. `shorts`: also for f16, bf16 and their pairs.
template <auto op, unsigned count>
static Compute ofFloats(Type type, bool shorts = true) {
  switch (type) {
  case Type::F32:
    return sameType<op, float, count>();
  case Type::F64:
    return sameType<op, double, count>();
  case Type::F32x2:
    return sameType<Halves<op>{}, Pair<float>, count>();
  default:
    break;
  }
  if (shorts)
    switch (type) {
    case Type::F16:
      return sameType<op, Half, count>();
    case Type::BF16:
      return sameType<op, Brain, count>();
    case Type::F16x2:
      return sameType<Halves<op>{}, Pair<Half>, count>();
    case Type::BF16x2:
      return sameType<Halves<op>{}, Pair<Brain>, count>();
    default:
      break;
    }
  return nullptr;
}

template <unsigned count>
static void emitSame(Decoder &d, Compute compute, Type type) {
  if constexpr (count == 1)
    d.emit(compute, {type}, {type});
  else if constexpr (count == 2)
    d.emit(compute, {type}, {type, type});
  else
    d.emit(compute, {type}, {type, type, type});
}

template <auto op, unsigned count> static void decodeRounded(Decoder &d) {
  d.take("rn");
  Type type = d.takeType();
  emitSame<count>(d, ofFloats<op, count>(type), type);
}
/// Decodes a function with .rn. Without .rn the function is an approximation,
/// which this machine does not compute.
template <auto op, unsigned count> static void decodeExact(Decoder &d) {
  bool isExact = d.take("rn");
  Type type = d.takeType();
  emitSame<count>(d, isExact ? ofFloats<op, count>(type, false) : nullptr,
                  type);
}
template <auto op, unsigned count> static void decodeSigns(Decoder &d) {
  Type type = d.takeType();
  emitSame<count>(d, ofFloats<op, count>(type), type);
}

template <bool isMax> static void decodeExtreme(Decoder &d) {
  bool nanWins = d.take("NaN");
  Type type = d.takeType();
  if (d.arguments() == 4)
    emitSame<3>(d,
                nanWins
                    ? ofFloats<kExtremeOfThree<isMax, true>, 3>(type, false)
                    : ofFloats<kExtremeOfThree<isMax, false>, 3>(type, false),
                type);
  else
    emitSame<2>(d,
                nanWins ? ofFloats<kExtreme<isMax, true>, 2>(type)
                        : ofFloats<kExtreme<isMax, false>, 2>(type),
                type);
}

enum TestedProperty : uint8_t {
  Finite,
  Infinite,
  Number,
  NotANumber,
  Normal,
  Subnormal
};
template <class T>
static void test(Warp &warp, const Instruction &i, Mask active) {
  const T *a = warp.lanes<T>(i.source(0));
  Mask result = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    T value = a[lane];
    const bool answers[] = {std::isfinite(value),
                            std::isinf(value),
                            !std::isnan(value),
                            std::isnan(value),
                            std::isnormal(value) || value == 0,
                            std::fpclassify(value) == FP_SUBNORMAL};
    result |= Mask(answers[i.mode]) << lane;
  }
  Mask &target = warp.predicate(i.target());
  target = (target & ~active) | (result & active);
}
static void decodeTest(Decoder &d) {
  int property = d.takeOne(
      {"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  Type type = d.takeType();
  Compute compute = type == Type::F32   ? test<float>
                    : type == Type::F64 ? test<double>
                                        : Compute(nullptr);
  d.emit(property >= 0 ? compute : nullptr, {Type::Pred}, {type}).mode =
      uint8_t(property);
}

void addFloatDecoders(DecodeTable &table) {
  table.floats["add"] = decodeRounded<kAdd, 2>;
  table.floats["sub"] = decodeRounded<kSub, 2>;
  table.floats["mul"] = decodeRounded<kMul, 2>;
  table.floats["fma"] = decodeRounded<kFma, 3>;
  table.floats["mad"] = decodeRounded<kFma, 3>;
  table.floats["div"] = decodeExact<kDiv, 2>;
  table.floats["rcp"] = decodeExact<kReciprocal, 1>;
  table.floats["sqrt"] = decodeExact<kSqrt, 1>;
  table.floats["neg"] = decodeSigns<kNeg, 1>;
  table.floats["abs"] = decodeSigns<kAbs, 1>;
  table.floats["copysign"] = decodeSigns<kCopySign, 2>;
  table.floats["min"] = decodeExtreme<false>;
  table.floats["max"] = decodeExtreme<true>;
  table.floats["testp"] = decodeTest;
}

} // namespace weft::ptx
