//===- Conversion.cpp - cvt -----------------------------------------------===//
//
// A conversion takes the lowest bits of its source, which may be wider, and
// extends its result to the width of its target.
//
//===----------------------------------------------------------------------===//

#include "weft/test/cuda/machine/Lanes.h"
#include "weft/test/cuda/machine/ShortFloats.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft::ptx {

template <class T>
constexpr bool isFloat = std::is_floating_point_v<T> ||
                         std::is_same_v<T, Half> || std::is_same_v<T, Brain>;

template <class T, class Register>
static void gatherFrom(const Register *from, T *values) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    std::memcpy(&values[lane], &from[lane], sizeof(T));
}
template <class T>
static void gather(Warp &warp, const Operand &from, T *values) {
  if (from.bytes == sizeof(T))
    std::memcpy(values, warp.lanes<T>(from), kLanes * sizeof(T));
  else if (from.bytes == 2)
    gatherFrom(warp.lanes<uint16_t>(from), values);
  else if (from.bytes == 4)
    gatherFrom(warp.lanes<uint32_t>(from), values);
  else
    gatherFrom(warp.lanes<uint64_t>(from), values);
}

template <class Register, class T>
static void scatterTo(Register *to, const T *values, Mask active) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    Register value = 0;
    if constexpr (std::is_integral_v<T>)
      value = Register(values[lane]);
    else
      std::memcpy(&value, &values[lane], std::min(sizeof(T), sizeof value));
    to[lane] = active >> lane & 1 ? value : to[lane];
  }
}
template <class T>
static void scatter(Warp &warp, const Operand &to, const T *values,
                    Mask active) {
  if (to.bytes == 2)
    scatterTo(warp.lanes<uint16_t>(to), values, active);
  else if (to.bytes == 4)
    scatterTo(warp.lanes<uint32_t>(to), values, active);
  else
    scatterTo(warp.lanes<uint64_t>(to), values, active);
}

/// Bits of Instruction::mode.
constexpr uint8_t kSaturates = 8, kToWhole = 16, kRoundingBits = 7;

template <class T> static T wholeOf(T value, Rounding rounding) {
  switch (rounding) {
  case Rounding::NearestEven:
    return std::nearbyint(value);
  case Rounding::Zero:
    return std::trunc(value);
  case Rounding::Down:
    return std::floor(value);
  case Rounding::Up:
    return std::ceil(value);
  case Rounding::NearestAway:
    return std::round(value);
  }
  return value;
}

/// Converts to an integer. Numbers out of range clamp. NaN is 0, or 0x80.. from
/// f64 or to 64 bits.
template <class To, class From> static To toInteger(From value, Rounding how) {
  using Computed =
      std::conditional_t<std::is_same_v<From, float>, float, double>;
  constexpr bool isZero =
      sizeof(From) != 8 && (!std::is_integral_v<To> || sizeof(To) != 8);
  Computed number = value;
  if (number != number)
    return isZero ? To(0)
                  : To(std::make_unsigned_t<To>(1) << (8 * sizeof(To) - 1));
  number = wholeOf(number, how);
  constexpr Computed least = Computed(std::numeric_limits<To>::min());
  const Computed above =
      std::ldexp(Computed(1), std::numeric_limits<To>::digits);
  if (number < least)
    return std::numeric_limits<To>::min();
  return number >= above ? std::numeric_limits<To>::max() : To(number);
}

template <class To, class From> static To toInteger(From value, bool clamps) {
  if (!clamps)
    return To(value);
  if (std::cmp_less(value, std::numeric_limits<To>::min()))
    return std::numeric_limits<To>::min();
  if (std::cmp_greater(value, std::numeric_limits<To>::max()))
    return std::numeric_limits<To>::max();
  return To(value);
}

/// A double that rounds like the integer: if bits below its last are set, the
/// last is set.
template <class From> static double wideOf(From value) {
  if constexpr (std::is_integral_v<From> && sizeof(From) == 8) {
    bool isNegative = value < 0;
    uint64_t size = isNegative ? 0 - uint64_t(value) : uint64_t(value);
    if (size >> 53)
      size = (size >> 11 | ((size & 0x7FF) != 0)) << 11;
    return isNegative ? -double(size) : double(size);
  }
  return double(value);
}

template <class To, class From>
static To toFloat(From value, Rounding rounding, uint8_t mode) {
  if constexpr (std::is_same_v<To, double>) {
    if constexpr (isFloat<From>)
      return mode & kToWhole ? wholeOf(double(value), rounding) : double(value);
    else
      return double(value);
  } else if constexpr (std::is_same_v<To, float> &&
                       std::is_same_v<From, float>) {
    float result = mode & kToWhole ? wholeOf(value, rounding) : value;
    auto bits = std::bit_cast<uint32_t>(result);
    return std::bit_cast<float>((bits & 0x7FFFFFFF) > 0x7F800000 ? 0x7FFFFFFF
                                                                 : bits);
  } else {
    double wide = wideOf(value);
    if constexpr (isFloat<From>)
      if (mode & kToWhole)
        wide = wholeOf(wide, rounding), rounding = Rounding::NearestEven;
    if constexpr (!std::is_same_v<To, float>) {
      return To::of(wide, rounding);
    } else {
      if constexpr (std::is_integral_v<From>)
        if (rounding == Rounding::NearestEven)
          return float(value);
      return std::bit_cast<float>(uint32_t(encodeFloat(wide, 23, 8, rounding)));
    }
  }
}

/// Saturates to [0, 1]; NaN is 0.
template <class T> static T saturated(T value) {
  double wide = double(value);
  if (wide >= 0 && wide <= 1)
    return wide == 0 ? T{} : value;
  if constexpr (std::is_floating_point_v<T>)
    return wide > 1 ? T(1) : T(0);
  else
    return T::of(wide > 1 ? 1 : 0);
}

template <class To, class From>
static void convert(Warp &warp, const Instruction &i, Mask active) {
  From from[kLanes];
  To to[kLanes];
  gather(warp, i.source(0), from);
  auto rounding = Rounding(i.mode & kRoundingBits);
  bool saturates = i.mode & kSaturates;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if constexpr (!isFloat<To> && isFloat<From>)
      to[lane] = toInteger<To>(from[lane], rounding);
    else if constexpr (!isFloat<To>)
      to[lane] = toInteger<To>(from[lane], saturates);
    else
      to[lane] = toFloat<To>(from[lane], rounding, i.mode);
  if constexpr (isFloat<To>)
    if (saturates)
      for (To &value : to)
        value = saturated(value);
  scatter(warp, i.target(), to, active);
}

template <class To> static Compute convertTo(Type from) {
  switch (from) {
  case Type::U8:
    return convert<To, uint8_t>;
  case Type::S8:
    return convert<To, int8_t>;
  case Type::U16:
    return convert<To, uint16_t>;
  case Type::S16:
    return convert<To, int16_t>;
  case Type::U32:
    return convert<To, uint32_t>;
  case Type::S32:
    return convert<To, int32_t>;
  case Type::U64:
    return convert<To, uint64_t>;
  case Type::S64:
    return convert<To, int64_t>;
  case Type::F16:
    return convert<To, Half>;
  case Type::BF16:
    return convert<To, Brain>;
  case Type::F32:
    return convert<To, float>;
  case Type::F64:
    return convert<To, double>;
  default:
    return nullptr;
  }
}
static Compute conversion(Type to, Type from) {
  switch (to) {
  case Type::U8:
    return convertTo<uint8_t>(from);
  case Type::S8:
    return convertTo<int8_t>(from);
  case Type::U16:
    return convertTo<uint16_t>(from);
  case Type::S16:
    return convertTo<int16_t>(from);
  case Type::U32:
    return convertTo<uint32_t>(from);
  case Type::S32:
    return convertTo<int32_t>(from);
  case Type::U64:
    return convertTo<uint64_t>(from);
  case Type::S64:
    return convertTo<int64_t>(from);
  case Type::F16:
    return convertTo<Half>(from);
  case Type::BF16:
    return convertTo<Brain>(from);
  case Type::F32:
    return convertTo<float>(from);
  case Type::F64:
    return convertTo<double>(from);
  default:
    return nullptr;
  }
}

/// Packs two sources; the first becomes the upper half.
template <class T>
static void pack(Warp &warp, const Instruction &i, Mask active) {
  const float *a = warp.lanes<float>(i.source(0)),
              *b = warp.lanes<float>(i.source(1));
  uint32_t *target = warp.lanes<uint32_t>(i.target());
  auto rounding = Rounding(i.mode & kRoundingBits);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if (active >> lane & 1)
      target[lane] = uint32_t(T::of(a[lane], rounding).bits) << 16 |
                     T::of(b[lane], rounding).bits;
}
/// Converts to TF32, which is in the upper bits of an f32.
static void toTf32(Warp &warp, const Instruction &i, Mask active) {
  const float *a = warp.lanes<float>(i.source(0));
  uint32_t *target = warp.lanes<uint32_t>(i.target());
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if (active >> lane & 1)
      target[lane] =
          uint32_t(encodeFloat(a[lane], 10, 8, Rounding(i.mode & 7)) << 13);
}

static bool isFloatType(Type type) {
  return type == Type::F16 || type == Type::BF16 || type == Type::F32 ||
         type == Type::F64;
}

static void decodeConversion(Decoder &d) {
  int whole = d.takeOne({"rni", "rzi", "rmi", "rpi"});
  int rounding = d.takeOne({"rn", "rz", "rm", "rp", "rna"});
  uint8_t mode = d.take("sat") ? kSaturates : 0;
  Type from = d.takeType(), to = d.takeType();
  mode |= uint8_t(std::max({whole, rounding, 0})) | (whole >= 0 ? kToWhole : 0);
  if (to == Type::F16x2 || to == Type::BF16x2) {
    Compute compute = to == Type::F16x2 ? pack<Half> : pack<Brain>;
    d.emit(from == Type::F32 && !(mode & kSaturates) ? compute : nullptr, {to},
           {from, from})
        .mode = mode;
    return;
  }
  if (to == Type::TF32) {
    d.emit(from == Type::F32 && rounding >= 0 ? toTf32 : nullptr, {to}, {from})
        .mode = mode;
    return;
  }
  if (isFloatType(from) && !isFloatType(to) && whole < 0)
    return d.fail(d.name() + " of a float to an integer names no rounding");
  if (d.arguments() != 2)
    return d.fail(d.name() + " takes one source");
  Instruction &i = d.begin(conversion(to, from));
  if (!i.compute)
    return d.fail(d.name() + " is not known to this machine");
  i.mode = mode;
  d.addTarget(i, d.argument(0), 0);
  d.addSource(
      i, d.argument(1),
      d.argument(1).kind == Argument::Number ? std::max(2u, bytesOf(from)) : 0);
  if (i.target().bytes < bytesOf(to) || i.source(0).bytes < bytesOf(from))
    d.fail(d.name() + " has a register that is too narrow");
}

void addConversionDecoders(DecodeTable &table) {
  table.others["cvt"] = decodeConversion;
}

} // namespace weft::ptx
