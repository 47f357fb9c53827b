//===- Comparison.cpp - setp, selp ----------------------------------------===//

#include "weft/test/cuda/machine/Lanes.h"
#include "weft/test/cuda/machine/ShortFloats.h"

namespace weft::ptx {

/// Tests in the order of the names below; those with u also hold for NaN.
enum Test : uint8_t {
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  Equ,
  Neu,
  Ltu,
  Leu,
  Gtu,
  Geu,
  Num,
  Nan
};
/// Joins the result with a predicate.
enum Join : uint8_t { NoJoin, JoinAnd, JoinOr, JoinXor };
constexpr unsigned kJoinShift = 4;

template <class T> static Mask masks(const T *a, const T *b, auto test) {
  Mask result = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    result |= Mask(test(a[lane], b[lane])) << lane;
  return result;
}

/// Compares lanes. Comparisons of a NaN do not hold, so `ne` of floats is less
/// or greater.
template <class T> static Mask compare(Test test, const T *a, const T *b) {
  Mask unordered = masks(a, b, [](T x, T y) { return x != x || y != y; });
  switch (test) {
  case Eq:
  case Equ:
    return masks(a, b, [](T x, T y) { return x == y; }) |
           (test == Equ ? unordered : 0);
  case Ne:
  case Neu:
    return masks(a, b, [](T x, T y) { return x != y; }) &
           ~(test == Ne ? unordered : 0);
  case Lt:
  case Ltu:
    return masks(a, b, [](T x, T y) { return x < y; }) |
           (test == Ltu ? unordered : 0);
  case Le:
  case Leu:
    return masks(a, b, [](T x, T y) { return x <= y; }) |
           (test == Leu ? unordered : 0);
  case Gt:
  case Gtu:
    return masks(a, b, [](T x, T y) { return x > y; }) |
           (test == Gtu ? unordered : 0);
  case Ge:
  case Geu:
    return masks(a, b, [](T x, T y) { return x >= y; }) |
           (test == Geu ? unordered : 0);
  case Num:
    return ~unordered;
  case Nan:
    return unordered;
  }
  return 0;
}

static Mask joined(Join join, Mask a, Mask b) {
  switch (join) {
  case NoJoin:
    return a;
  case JoinAnd:
    return a & b;
  case JoinOr:
    return a | b;
  case JoinXor:
    return a ^ b;
  }
  return a;
}

/// Sets a predicate; the second target is set to the opposite.
template <class T>
static void setPredicate(Warp &warp, const Instruction &i, Mask active) {
  Mask result = compare(Test(i.mode & 15), warp.lanes<T>(i.source(0)),
                        warp.lanes<T>(i.source(1)));
  auto join = Join(i.mode >> kJoinShift);
  Mask with = join ? warp.predicate(i.source(2)) : 0;
  for (unsigned k = 0; k < i.targets; ++k) {
    if (!i.target(k).bytes)
      continue;
    Mask &target = warp.predicate(i.target(k));
    Mask value = joined(join, k ? ~result : result, with);
    target = (target & ~active) | (value & active);
  }
}

static Compute setterOf(Type type) {
  switch (type) {
  case Type::B16:
  case Type::U16:
    return setPredicate<uint16_t>;
  case Type::S16:
    return setPredicate<int16_t>;
  case Type::B32:
  case Type::U32:
    return setPredicate<uint32_t>;
  case Type::S32:
    return setPredicate<int32_t>;
  case Type::B64:
  case Type::U64:
    return setPredicate<uint64_t>;
  case Type::S64:
    return setPredicate<int64_t>;
  case Type::F16:
    return setPredicate<Half>;
  case Type::BF16:
    return setPredicate<Brain>;
  case Type::F32:
    return setPredicate<float>;
  case Type::F64:
    return setPredicate<double>;
  default:
    return nullptr;
  }
}

static void decodeSetPredicate(Decoder &d) {
  int test = d.takeOne({"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu",
                        "leu", "gtu", "geu", "num", "nan"});
  if (test < 0) // integers without signs have names of their own
    if (int other = d.takeOne({"lo", "ls", "hi", "hs"}); other >= 0)
      test = Lt + other;
  int join = 1 + d.takeOne({"and", "or", "xor"});
  Type type = d.takeType();
  Instruction &i = d.begin(setterOf(type));
  if (!i.compute || test < 0)
    return d.fail(d.name() + " is not known to this machine");
  if (d.arguments() != (join ? 4 : 3))
    return d.fail(d.name() + " has " + std::to_string(d.arguments()) +
                  " operands != " + std::to_string(join ? 4 : 3));
  i.mode = uint8_t(test | join << kJoinShift);
  d.addPredicate(i, d.argument(0).name, true);
  if (!d.argument(0).second.empty())
    d.addPredicate(i, d.argument(0).second, true);
  d.addSource(i, d.argument(1), bytesOf(type));
  d.addSource(i, d.argument(2), bytesOf(type));
  if (join)
    d.addSource(i, d.argument(3), 0xFF);
}

template <class T>
static void select(Warp &warp, const Instruction &i, Mask active) {
  const T *a = warp.lanes<T>(i.source(0)), *b = warp.lanes<T>(i.source(1));
  Mask chosen = warp.predicate(i.source(2));
  T *target = warp.lanes<T>(i.target());
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    T value = chosen >> lane & 1 ? a[lane] : b[lane];
    target[lane] = active >> lane & 1 ? value : target[lane];
  }
}

static void decodeSelect(Decoder &d) {
  Type type = d.takeType();
  unsigned bytes = bytesOf(type);
  Compute compute = bytes == 2   ? select<uint16_t>
                    : bytes == 4 ? select<uint32_t>
                    : bytes == 8 ? select<uint64_t>
                                 : Compute(nullptr);
  d.emit(compute, {type}, {type, type, Type::Pred});
}

void addComparisonDecoders(DecodeTable &table) {
  table.others["setp"] = decodeSetPredicate;
  table.others["selp"] = decodeSelect;
}

} // namespace weft::ptx
