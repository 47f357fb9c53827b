//===- Bits.cpp - logic, shifts, fields and counts of bits ----------------===//

#include "weft/test/cuda/machine/Lanes.h"

#include <bit>

namespace weft::ptx {

static constexpr auto kAnd = []<class T>(T a, T b) { return T(a & b); };
static constexpr auto kOr = []<class T>(T a, T b) { return T(a | b); };
static constexpr auto kXor = []<class T>(T a, T b) { return T(a ^ b); };
static constexpr auto kNot = []<class T>(T a) { return T(~a); };
static constexpr auto kIsZero = []<class T>(T a) { return T(a == 0); };
/// Shifts left; counts above the width clamp to it.
static constexpr auto kShiftLeft = []<class T>(T a, uint32_t n) {
  return n < 8 * sizeof(T) ? T(a << n) : T(0);
};
static constexpr auto kShiftRight = []<class T>(T a, uint32_t n) {
  constexpr uint32_t width = 8 * sizeof(T);
  if constexpr (std::is_signed_v<T>)
    return T(a >> (n < width ? n : width - 1));
  else
    return n < width ? T(a >> n) : T(0);
};
static uint64_t joined(uint32_t low, uint32_t high) {
  return uint64_t(high) << 32 | low;
}
template <bool isWrapped> static uint32_t funnelCount(uint32_t n) {
  return isWrapped ? n & 31 : std::min(n, 32u);
}
template <bool isWrapped>
static constexpr auto kFunnelLeft = [](uint32_t a, uint32_t b, uint32_t n) {
  return uint32_t(joined(a, b) << funnelCount<isWrapped>(n) >> 32);
};
template <bool isWrapped>
static constexpr auto kFunnelRight = [](uint32_t a, uint32_t b, uint32_t n) {
  return uint32_t(joined(a, b) >> funnelCount<isWrapped>(n));
};
/// Extracts a field, which may reach beyond the value; its sign is the highest
/// bit that it has there.
static constexpr auto kExtract = []<class T>(T a, uint32_t from,
                                             uint32_t bits) {
  constexpr uint32_t width = 8 * sizeof(T);
  using Bits = std::make_unsigned_t<T>;
  from &= 255, bits &= 255;
  if (bits == 0)
    return T(0);
  bool isNegative = false;
  if constexpr (std::is_signed_v<T>)
    isNegative = a >> std::min(from + bits - 1, width - 1) & 1;
  Bits field = from < width ? Bits(Bits(a) >> from) : 0;
  uint32_t kept = from < width ? std::min(bits, width - from) : 0;
  Bits mask = kept >= width ? Bits(~Bits(0)) : Bits((Bits(1) << kept) - 1);
  return T(isNegative ? Bits(field | Bits(~mask)) : Bits(field & mask));
};
static constexpr auto kInsert = []<class T>(T a, T b, uint32_t to,
                                            uint32_t bits) {
  constexpr uint32_t width = 8 * sizeof(T);
  to &= 255, bits &= 255;
  if (to >= width)
    return b;
  T mask = bits >= width ? T(~T(0)) : T((T(1) << bits) - 1);
  mask = T(mask << to);
  return T((b & ~mask) | (T(a << to) & mask));
};
/// Selects a byte of eight; selector bit 8 copies its sign.
static uint32_t permuted(uint64_t bytes, uint32_t selector) {
  uint32_t byte = uint32_t(bytes >> 8 * (selector & 7)) & 0xFF;
  return selector & 8 ? (byte & 0x80 ? 0xFF : 0) : byte;
}
static constexpr auto kPermute = [](uint32_t a, uint32_t b, uint32_t c) {
  uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i)
    result |= permuted(joined(a, b), c >> 4 * i & 15) << 8 * i;
  return result;
};
static constexpr auto kPopulation = []<class T>(T a) {
  return uint32_t(std::popcount(a));
};
static constexpr auto kLeadingZeros = []<class T>(T a) {
  return uint32_t(std::countl_zero(a));
};
static constexpr auto kReverse = []<class T>(T a) {
  T result = 0;
  for (unsigned i = 0; i < 8 * sizeof(T); ++i)
    result |= T(a >> i & 1) << (8 * sizeof(T) - 1 - i);
  return result;
};
/// Finds the highest bit that differs from the sign.
template <bool isShift>
static constexpr auto kFind = []<class T>(T a) {
  using Bits = std::make_unsigned_t<T>;
  auto bits = Bits(std::is_signed_v<T> && a < 0 ? ~a : a);
  if (bits == 0)
    return ~uint32_t(0);
  auto zeros = uint32_t(std::countl_zero(bits));
  return isShift ? zeros : uint32_t(8 * sizeof(T)) - 1 - zeros;
};

static void lookUp(Warp &warp, const Instruction &i, Mask active) {
  uint32_t *target = warp.lanes<uint32_t>(i.target());
  const uint32_t *a = warp.lanes<uint32_t>(i.source(0)),
                 *b = warp.lanes<uint32_t>(i.source(1)),
                 *c = warp.lanes<uint32_t>(i.source(2));
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    uint32_t result = 0;
    for (unsigned k = 0; k < 8; ++k)
      if (i.mode >> k & 1)
        result |= (k & 4 ? a[lane] : ~a[lane]) & (k & 2 ? b[lane] : ~b[lane]) &
                  (k & 1 ? c[lane] : ~c[lane]);
    target[lane] = active >> lane & 1 ? result : target[lane];
  }
}

/// Computes predicates, which have all lanes in one number.
template <auto op, unsigned count>
static void ofPredicates(Warp &warp, const Instruction &i, Mask active) {
  Mask result;
  if constexpr (count == 1)
    result = op(warp.predicate(i.source(0)));
  else
    result = op(warp.predicate(i.source(0)), warp.predicate(i.source(1)));
  Mask &target = warp.predicate(i.target());
  target = (target & ~active) | (result & active);
}

template <auto op, unsigned count> static void decodeLogic(Decoder &d) {
  Type type = d.takeType();
  Compute compute = type == Type::Pred ? Compute(ofPredicates<op, count>)
                                       : ofBits<op, count>(type);
  if constexpr (count == 1)
    d.emit(compute, {type}, {type});
  else
    d.emit(compute, {type}, {type, type});
}

static void decodeCnot(Decoder &d) {
  Type type = d.takeType();
  d.emit(ofBits<kIsZero, 1>(type), {type}, {type});
}

template <auto op> static Compute shiftOf(Type type) {
  switch (type) {
  case Type::B16:
  case Type::U16:
    return each<op, uint16_t, uint16_t, uint32_t>;
  case Type::B32:
  case Type::U32:
    return each<op, uint32_t, uint32_t, uint32_t>;
  case Type::B64:
  case Type::U64:
    return each<op, uint64_t, uint64_t, uint32_t>;
  case Type::S16:
    return each<op, int16_t, int16_t, uint32_t>;
  case Type::S32:
    return each<op, int32_t, int32_t, uint32_t>;
  case Type::S64:
    return each<op, int64_t, int64_t, uint32_t>;
  default:
    return nullptr;
  }
}
template <auto op> static void decodeShift(Decoder &d) {
  Type type = d.takeType();
  d.emit(shiftOf<op>(type), {type}, {type, Type::U32});
}

static void decodeFunnel(Decoder &d) {
  bool isLeft = d.takeOne({"r", "l"}) == 1;
  bool isWrapped = d.takeOne({"clamp", "wrap"}) == 1;
  Type type = d.takeType();
  using U = uint32_t;
  Compute compute = isLeft
                        ? (isWrapped ? each<kFunnelLeft<true>, U, U, U, U>
                                     : each<kFunnelLeft<false>, U, U, U, U>)
                        : (isWrapped ? each<kFunnelRight<true>, U, U, U, U>
                                     : each<kFunnelRight<false>, U, U, U, U>);
  d.emit(type == Type::B32 ? compute : nullptr, {type},
         {type, type, Type::U32});
}

static void decodeExtract(Decoder &d) {
  Type type = d.takeType();
  Compute compute =
      type == Type::U32 ? each<kExtract, uint32_t, uint32_t, uint32_t, uint32_t>
      : type == Type::S32 ? each<kExtract, int32_t, int32_t, uint32_t, uint32_t>
      : type == Type::U64
          ? each<kExtract, uint64_t, uint64_t, uint32_t, uint32_t>
      : type == Type::S64 ? each<kExtract, int64_t, int64_t, uint32_t, uint32_t>
                          : Compute(nullptr);
  d.emit(compute, {type}, {type, Type::U32, Type::U32});
}

static void decodeInsert(Decoder &d) {
  Type type = d.takeType();
  using U = uint32_t;
  using L = uint64_t;
  Compute compute = type == Type::B32   ? each<kInsert, U, U, U, U, U>
                    : type == Type::B64 ? each<kInsert, L, L, L, U, U>
                                        : Compute(nullptr);
  d.emit(compute, {type}, {type, type, Type::U32, Type::U32});
}

static void decodePermute(Decoder &d) {
  Type type = d.takeType();
  using U = uint32_t;
  d.emit(type == Type::B32 ? each<kPermute, U, U, U, U> : nullptr, {type},
         {type, type, type});
}

static void decodeLookUp(Decoder &d) {
  Type type = d.takeType();
  if (d.arguments() != 5 || d.argument(4).kind != Argument::Number)
    return d.fail(d.name() + " takes three sources and a table");
  Instruction &to = d.begin(lookUp);
  d.addTarget(to, d.argument(0), bytesOf(type));
  for (unsigned i = 1; i < 4; ++i)
    d.addSource(to, d.argument(i), bytesOf(type));
  to.mode = uint8_t(d.argument(4).bits);
}

template <auto op> static void decodeCount(Decoder &d) {
  Type type = d.takeType();
  Compute compute = type == Type::B32   ? each<op, uint32_t, uint32_t>
                    : type == Type::B64 ? each<op, uint32_t, uint64_t>
                                        : Compute(nullptr);
  d.emit(compute, {Type::U32}, {type});
}
static void decodeReverse(Decoder &d) {
  Type type = d.takeType();
  Compute compute = type == Type::B32   ? each<kReverse, uint32_t, uint32_t>
                    : type == Type::B64 ? each<kReverse, uint64_t, uint64_t>
                                        : Compute(nullptr);
  d.emit(compute, {type}, {type});
}

template <bool isShift> static Compute findOf(Type type) {
  switch (type) {
  case Type::U32:
    return each<kFind<isShift>, uint32_t, uint32_t>;
  case Type::S32:
    return each<kFind<isShift>, uint32_t, int32_t>;
  case Type::U64:
    return each<kFind<isShift>, uint32_t, uint64_t>;
  case Type::S64:
    return each<kFind<isShift>, uint32_t, int64_t>;
  default:
    return nullptr;
  }
}
static void decodeFind(Decoder &d) {
  bool isShift = d.take("shiftamt");
  Type type = d.takeType();
  d.emit(isShift ? findOf<true>(type) : findOf<false>(type), {Type::U32},
         {type});
}

void addBitDecoders(DecodeTable &table) {
  table.others["and"] = decodeLogic<kAnd, 2>;
  table.others["or"] = decodeLogic<kOr, 2>;
  table.others["xor"] = decodeLogic<kXor, 2>;
  table.others["not"] = decodeLogic<kNot, 1>;
  table.others["cnot"] = decodeCnot;
  table.others["lop3"] = decodeLookUp;
  table.others["shl"] = decodeShift<kShiftLeft>;
  table.others["shr"] = decodeShift<kShiftRight>;
  table.others["shf"] = decodeFunnel;
  table.others["bfe"] = decodeExtract;
  table.others["bfi"] = decodeInsert;
  table.others["prmt"] = decodePermute;
  table.others["popc"] = decodeCount<kPopulation>;
  table.others["clz"] = decodeCount<kLeadingZeros>;
  table.others["brev"] = decodeReverse;
  table.others["bfind"] = decodeFind;
}

} // namespace weft::ptx
