//===- ConvertRandom.cpp - rng_bit_generator, rng -------------------------===//
//
// Random bits, equal to those of XLA. The state is a key of 64 bits and a
// counter of 64 or 128. Each value of the counter gives a block of words of 32
// bits: four by ten rounds of Philox, or two by twenty rounds of Threefry.
// XLA's CPU uses Philox by default; a counter of 64 bits then has the key as
// its upper half.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/frontends/formulas/Tensor.h"
#include "weft/compiler/frontends/stablehlo/convert/Converter.h"

#include "weft/dialects/weft/TensorType.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;

namespace {

/// Unsigned arithmetic on tensors of one shape, 32 or 64 bits wide.
struct Words {
  Converter &c;
  ForeignOp op;

  Type bits(unsigned width) const {
    return IntegerType::get(op->getContext(), width, IntegerType::Unsigned);
  }
  Value number(Value like, uint64_t value) const {
    return c.splat(op, double(value), typeOf(like));
  }
  Value add(Value a, Value b) const { return c.make<AddOp>(op, a, b); }
  Value add(Value a, uint64_t b) const { return add(a, number(a, b)); }
  Value exclusive(Value a, Value b) const { return c.make<XorOp>(op, a, b); }
  Value right(Value a, uint64_t by) const {
    return c.make<ShiftRightLogicalOp>(op, a, number(a, by));
  }
  Value left(Value a, uint64_t by) const {
    return c.make<ShiftLeftOp>(op, a, number(a, by));
  }
  Value rotated(Value a, uint64_t by) const {
    return c.make<OrOp>(op, left(a, by), right(a, 32 - by));
  }
  Value low(Value a) const {
    return c.cast(op, c.make<AndOp>(op, a, number(a, 0xffffffff)), bits(32));
  }
  Value high(Value a) const { return c.cast(op, right(a, 32), bits(32)); }
  Value joined(Value low, Value high) const {
    return c.make<OrOp>(op, c.cast(op, low, bits(64)),
                        left(c.cast(op, high, bits(64)), 32));
  }
  /// Element `index` of the state, splat to a shape.
  Value word(Value state, int64_t index, ArrayRef<int64_t> shape) const {
    Value one =
        c.make<SliceOp>(op, state, Ints{index}, Ints{index + 1}, Ints{1});
    return c.fill(op, c.make<ReshapeOp>(op, one, Ints{}),
                  RankedTensorType::get(shape, bits(64)));
  }
  /// The numbers 0, 1, 2, ... in row-major order.
  Value count(ArrayRef<int64_t> shape) const {
    auto type =
        RankedTensorType::get({ShapedType::getNumElements(shape)}, bits(64));
    return c.make<ReshapeOp>(op, c.make<IotaOp>(op, type, 0, Value()), shape);
  }
};

/// Adds a number of blocks to the counter: {low, high}.
std::pair<Value, Value> advanced(const Words &w, Value low, Value high,
                                 Value by) {
  Value sum = w.add(low, by);
  Value carry = w.c.make<CompareOp>(w.op, CompareKind::LT, sum, low);
  return {sum, w.add(high, w.c.cast(w.op, carry, w.bits(64)))};
}

/// Computes four words of each block, by ten rounds.
SmallVector<Value> philox(const Words &w, Value low, Value high, Value key) {
  SmallVector<Value> x = {w.low(low), w.high(low), w.low(high), w.high(high)};
  Value a = w.low(key), b = w.high(key);
  auto product = [&](Value word, uint64_t factor) {
    Value wide = w.c.cast(w.op, word, w.bits(64));
    return w.c.make<MulOp>(w.op, wide, w.number(wide, factor));
  };
  for (int round = 0; round < 10; ++round) {
    Value first = product(x[0], 0xD2511F53), second = product(x[2], 0xCD9E8D57);
    x = {w.exclusive(w.exclusive(w.high(second), x[1]), a), w.low(second),
         w.exclusive(w.exclusive(w.high(first), x[3]), b), w.low(first)};
    a = w.add(a, 0x9E3779B9);
    b = w.add(b, 0xBB67AE85);
  }
  return x;
}

/// Computes two words of each block, by five groups of four rounds.
SmallVector<Value> threefry(const Words &w, Value counter, Value key) {
  static constexpr unsigned kTurns[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  SmallVector<Value> keys = {w.low(key), w.high(key)};
  Value mixed = w.exclusive(keys[0], keys[1]);
  keys.push_back(w.exclusive(mixed, w.number(mixed, 0x1BD11BDA)));
  Value x = w.add(w.low(counter), keys[0]), y = w.add(w.high(counter), keys[1]);
  for (unsigned group = 0; group < 5; ++group) {
    for (unsigned turn : kTurns[group % 2]) {
      x = w.add(x, y);
      y = w.exclusive(w.rotated(y, turn), x);
    }
    x = w.add(x, keys[(group + 1) % 3]);
    y = w.add(w.add(y, keys[(group + 2) % 3]), group + 1);
  }
  return {x, y};
}

/// Interleaves the words of each block along a dimension, and cuts it to the
/// size in `shape`.
Value interleaved(const Words &w, ArrayRef<Value> parts, int64_t dim,
                  ArrayRef<int64_t> shape) {
  auto type = typeOf(parts[0]);
  Ints single(type.getShape()), sizes = single;
  auto count = static_cast<int64_t>(parts.size());
  single.insert(single.begin() + dim + 1, 1);
  SmallVector<Value> columns;
  for (Value part : parts)
    columns.push_back(w.c.make<ReshapeOp>(w.op, part, single));
  single[dim + 1] = count;
  Value all = w.c.make<ConcatenateOp>(
      w.op, RankedTensorType::get(single, type.getElementType()), columns,
      dim + 1);
  sizes[dim] *= count;
  all = w.c.make<ReshapeOp>(w.op, all, sizes);
  Ints limit(sizes);
  limit[dim] = shape[dim];
  return w.c.make<SliceOp>(w.op, all, Ints(sizes.size(), 0), limit,
                           Ints(sizes.size(), 1));
}

/// Random words, and the new counter.
struct Generated {
  Value bits;
  SmallVector<Value> counter;
};

Generated generatePhilox(const Words &w, Value state, ArrayRef<int64_t> shape,
                         bool isWide) {
  int64_t count = ShapedType::getNumElements(shape);
  int64_t blocks = llvm::divideCeil(count, isWide ? 2 : 4);
  bool isShort = typeOf(state).getDimSize(0) == 2;
  auto counter = [&](ArrayRef<int64_t> of) {
    return std::pair(w.word(state, 1, of), w.word(state, isShort ? 0 : 2, of));
  };
  auto [low, high] = counter({blocks});
  auto [here, above] = advanced(w, low, high, w.count({blocks}));
  SmallVector<Value> x = philox(w, here, above, w.word(state, 0, {blocks}));
  if (isWide)
    x = {w.joined(x[0], x[1]), w.joined(x[2], x[3])};
  Value bits = interleaved(w, x, 0, {count});
  auto [lower, upper] = counter({});
  auto [next, more] = advanced(w, lower, upper, w.number(lower, blocks));
  Generated result{w.c.make<ReshapeOp>(w.op, bits, shape), {next}};
  if (!isShort)
    result.counter.push_back(more);
  return result;
}

Generated generateThreefry(const Words &w, Value state, ArrayRef<int64_t> shape,
                           bool isWide) {
  // Each counter gives two words of 32 bits or one of 64. For words of 32,
  // `half` has half the elements, rounded up: along the first even dimension,
  // or else the largest dimension.
  Ints half(shape);
  if (half.empty())
    half.push_back(1);
  Ints whole = half;
  auto even = llvm::find_if(half, [](int64_t size) { return size % 2 == 0; });
  int64_t dim =
      (even != half.end() ? even : llvm::max_element(half)) - half.begin();
  if (!isWide)
    half[dim] = llvm::divideCeil(half[dim], 2);
  Value counter = w.add(w.word(state, 1, half), w.count(half));
  SmallVector<Value> x = threefry(w, counter, w.word(state, 0, half));
  Value bits = isWide ? w.joined(x[0], x[1]) : interleaved(w, x, dim, whole);
  Value next = w.add(w.word(state, 1, {}), ShapedType::getNumElements(half));
  return {w.c.make<ReshapeOp>(w.op, bits, shape), {next}};
}

LogicalResult bitGenerator(Converter &c, ForeignOp op) {
  auto stateType = op.operandType(0);
  StringRef algorithm = op.word("rng_algorithm");
  bool isThreefry = algorithm == "THREE_FRY";
  auto element = op->getNumResults() == 2
                     ? dyn_cast<IntegerType>(op.resultType(1).getElementType())
                     : IntegerType();
  if (!element || element.getWidth() < 8)
    return op.refuse() << "gives no new state and integers of 8 to 64 bits";
  if (stateType.getRank() != 1 ||
      !stateType.getElementType().isUnsignedInteger(64) ||
      stateType.getDimSize(0) < 2 ||
      stateType.getDimSize(0) > (isThreefry ? 2 : 3))
    return op.refuse() << "has the state " << stateType
                       << "; expected tensor<2xui64>"
                       << (isThreefry ? "" : " or tensor<3xui64>");
  Words w{c, op};
  Value state = c.input(op, 0);
  auto shape = op.resultType(1).getShape();
  bool isWide = element.getWidth() == 64;
  Generated made = isThreefry ? generateThreefry(w, state, shape, isWide)
                              : generatePhilox(w, state, shape, isWide);
  Value bits = made.bits;
  if (unsigned width = element.getWidth(); width < 32)
    bits = c.make<AndOp>(op, bits, w.number(bits, (uint64_t(1) << width) - 1));
  bits = c.cast(op, bits, w.bits(element.getWidth()));
  if (bits.getType() != op.resultType(1))
    bits = c.make<BitcastOp>(op, op.resultType(1), bits);
  SmallVector<Value> words = {
      c.make<SliceOp>(op, state, Ints{0}, Ints{1}, Ints{1})};
  for (Value word : made.counter)
    words.push_back(c.make<ReshapeOp>(op, word, Ints{1}));
  return c.give(op, {c.make<ConcatenateOp>(op, stateType, words, 0), bits});
}

//===----------------------------------------------------------------------===//
// rng
//===----------------------------------------------------------------------===//

/// Random words of 32 or 64 bits, by Philox from a key of the op's own.
Value freshBits(const Words &w, ArrayRef<int64_t> shape, bool isWide) {
  uint64_t key = 0x9E3779B97F4A7C15 * ++w.c.generators;
  auto type = RankedTensorType::get({3}, w.bits(64));
  Value state = w.c.make<ConstantOp>(
      w.op, DenseElementsAttr::get(
                type, {APInt(64, key), APInt(64, 0), APInt(64, 0)}));
  return generatePhilox(w, state, shape, isWide).bits;
}

/// Floats in [0, 1) with as many random bits as `type` has, or in (0, 1) in the
/// middle between two of them.
Value unitFloats(const Words &w, ArrayRef<int64_t> shape, FloatType type,
                 FloatType computed, bool isOpen) {
  unsigned width = computed.getWidth();
  unsigned digits = std::min(type.getFPMantissaWidth(),
                             computed.getFPMantissaWidth() - (isOpen ? 1 : 0));
  Value bits = w.right(freshBits(w, shape, width == 64), width - digits);
  Value numbers = w.c.cast(w.op, bits, computed);
  auto splat = [&](double value) {
    return w.c.splat(w.op, value, typeOf(numbers));
  };
  if (isOpen)
    numbers = w.c.make<AddOp>(w.op, numbers, splat(0.5));
  return w.c.make<MulOp>(w.op, numbers, splat(std::ldexp(1.0, -int(digits))));
}

/// Integers a + n, where n is random bits modulo b - a.
LogicalResult uniformIntegers(Converter &c, ForeignOp op, IntegerType element) {
  if (element.getWidth() < 8)
    return op.refuse() << "draws elements of type " << element
                       << ", which is not supported; draw i32 and convert it";
  Words w{c, op};
  auto type = op.resultType().clone(w.bits(element.getWidth()));
  auto word = [&](Value scalar) {
    auto plain = RankedTensorType::get({}, type.getElementType());
    if (scalar.getType() != plain)
      scalar = c.make<BitcastOp>(op, plain, scalar);
    return c.fill(op, scalar, type);
  };
  Value bits = freshBits(w, type.getShape(), element.getWidth() == 64);
  if (element.getWidth() < 32)
    bits = c.make<AndOp>(
        op, bits, w.number(bits, (uint64_t(1) << element.getWidth()) - 1));
  bits = c.cast(op, bits, type.getElementType());
  Value low = word(c.input(op, 0)), high = word(c.input(op, 1));
  Value range =
      c.make<MaxOp>(op, c.make<SubOp>(op, high, low), c.splat(op, 1, type));
  Value drawn = c.make<AddOp>(op, low, c.make<RemOp>(op, bits, range));
  return c.give(op, type == op.resultType()
                        ? drawn
                        : c.make<BitcastOp>(op, op.resultType(), drawn));
}

LogicalResult floats(Converter &c, ForeignOp op, FloatType element,
                     bool isNormal) {
  FloatType computed =
      element.isF64() ? element : FloatType(c.builder.getF32Type());
  Words w{c, op};
  auto type = op.resultType().clone(computed);
  Value x = unitFloats(w, type.getShape(), element, computed, isNormal);
  Value a = c.fill(op, c.cast(op, c.input(op, 0), computed), type);
  Value b = c.fill(op, c.cast(op, c.input(op, 1), computed), type);
  if (isNormal) { // a is the mean, b the standard deviation
    Value y = c.make<SubOp>(op, c.make<MulOp>(op, x, c.splat(op, 2, type)),
                            c.splat(op, 1, type));
    x = formulas::erfInv(formulas::Tensor(c.builder, op->getLoc(), y)).get();
    x = c.make<MulOp>(op, x, c.splat(op, std::sqrt(2.0), type));
    x = c.make<AddOp>(op, a, c.make<MulOp>(op, b, x));
    return c.give(op, c.cast(op, x, element));
  }
  x = c.make<AddOp>(op, a, c.make<MulOp>(op, x, c.make<SubOp>(op, b, a)));
  x = c.cast(op, x, element); // may round to b
  a = c.cast(op, a, element);
  Value isBelow =
      c.make<CompareOp>(op, CompareKind::LT, x, c.cast(op, b, element));
  return c.give(op, c.make<SelectOp>(op, isBelow, x, a));
}

/// Converts rng, whose numbers its specification leaves open. A program has no
/// state, so that every run draws the same.
LogicalResult drawn(Converter &c, ForeignOp op) {
  Type element = op.resultType().getElementType();
  StringRef distribution = op.word("rng_distribution");
  bool isNormal = distribution == "NORMAL";
  auto isBound = [&](unsigned index) {
    auto type = op.operandType(index);
    return type.getRank() == 0 && type.getElementType() == element;
  };
  if (op->getNumOperands() != 3 || !isBound(0) || !isBound(1) ||
      (!isNormal && distribution != "UNIFORM"))
    return op.refuse() << "draws " << op.resultType() << " with "
                       << op->getOperandTypes() << " and the distribution \""
                       << distribution
                       << "\"; give two scalars of its elements, a shape, and "
                          "UNIFORM or NORMAL";
  auto real = dyn_cast<FloatType>(element);
  auto integer = dyn_cast<IntegerType>(element);
  if (!real && (isNormal || !integer))
    return op.refuse() << "draws elements of type " << element << " from "
                       << distribution
                       << ", which is not supported; draw floats";
  emitWarning(op->getLoc())
      << "'" << op->getName()
      << "' draws the same numbers in every run, as a program has no state; "
         "pass a state to stablehlo.rng_bit_generator for others";
  return real ? floats(c, op, real, isNormal) : uniformIntegers(c, op, integer);
}

constexpr ConversionEntry kEntries[] = {
    {"rng_bit_generator", bitGenerator},
    {"rng", drawn, 3},
};

} // namespace

ArrayRef<ConversionEntry> stablehlo::randomConversions() { return kEntries; }
