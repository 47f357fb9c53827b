//===- ConvertRandom.cpp - rng_bit_generator, rng -------------------------===//
//
// Random bits, equal to those of XLA. The state is a key of 64 bits and a
// counter of 64 or 128. Each value of the counter gives a block of words of 32
// bits: four by ten rounds of Philox, or two by twenty rounds of Threefry.
// XLA's CPU uses Philox by default; a counter of 64 bits then has the key as
// its upper half.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/frontends/formulas/Functions.h"
#include "weft/compiler/frontends/stablehlo/convert/Converter.h"

#include "weft/dialects/weft/TensorType.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;
using formulas::Tensor;

namespace {

/// Words of 32 or 64 bits, without a sign.
struct Words {
  Converter &c;
  ForeignOp op;

  Tensor operator()(Value value) const {
    return {c.builder, op->getLoc(), value};
  }
  template <typename Op, typename... Args> Tensor make(Args &&...args) const {
    return (*this)(c.make<Op>(op, std::forward<Args>(args)...));
  }
  Type bits(unsigned width) const {
    return IntegerType::get(op->getContext(), width, IntegerType::Unsigned);
  }
  Tensor resized(Tensor a, unsigned width) const {
    return (*this)(c.cast(op, a, bits(width)));
  }
  Tensor right(Tensor a, uint64_t by) const {
    return a.make<ShiftRightLogicalOp>(a.number(double(by)));
  }
  Tensor left(Tensor a, uint64_t by) const {
    return a.make<ShiftLeftOp>(a.number(double(by)));
  }
  Tensor rotated(Tensor a, uint64_t by) const {
    return left(a, by) | right(a, 32 - by);
  }
  Tensor low(Tensor a) const { return resized(a & a.number(0xffffffff), 32); }
  Tensor high(Tensor a) const { return resized(right(a, 32), 32); }
  Tensor joined(Tensor low, Tensor high) const {
    return resized(low, 64) | left(resized(high, 64), 32);
  }
  /// The low bits of words, this many of them.
  Tensor cut(Tensor a, unsigned width) const {
    if (width < 32)
      a = a & a.number(double((uint64_t(1) << width) - 1));
    return resized(a, width);
  }
  /// Element `index` of the state, splat to a shape.
  Tensor word(Value state, int64_t index, ArrayRef<int64_t> shape) const {
    Value one =
        c.make<SliceOp>(op, state, Ints{index}, Ints{index + 1}, Ints{1});
    return (*this)(c.fill(op, c.make<ReshapeOp>(op, one, Ints{}),
                          RankedTensorType::get(shape, bits(64))));
  }
  /// The numbers 0, 1, 2, ... in row-major order.
  Tensor count(ArrayRef<int64_t> shape) const {
    auto type =
        RankedTensorType::get({ShapedType::getNumElements(shape)}, bits(64));
    return make<ReshapeOp>(make<IotaOp>(type, 0, Value()), shape);
  }
};

/// Adds a number of blocks to the counter: {low, high}.
std::pair<Tensor, Tensor> advanced(const Words &w, Tensor low, Tensor high,
                                   Tensor by) {
  Tensor sum = low + by, carry = w.resized(sum < low, 64);
  return {sum, high + carry};
}

/// Computes four words of each block, by ten rounds.
SmallVector<Tensor> philox(const Words &w, Tensor low, Tensor high,
                           Tensor key) {
  SmallVector<Tensor> x = {w.low(low), w.high(low), w.low(high), w.high(high)};
  Tensor a = w.low(key), b = w.high(key);
  for (int round = 0; round < 10; ++round) {
    Tensor first = w.resized(x[0], 64) * 0xD2511F53,
           second = w.resized(x[2], 64) * 0xCD9E8D57;
    x = {w.high(second) ^ x[1] ^ a, w.low(second), w.high(first) ^ x[3] ^ b,
         w.low(first)};
    a = a + 0x9E3779B9;
    b = b + 0xBB67AE85;
  }
  return x;
}

/// Computes two words of each block, by five groups of four rounds.
SmallVector<Tensor> threefry(const Words &w, Tensor counter, Tensor key) {
  static constexpr unsigned kTurns[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  SmallVector<Tensor> keys = {w.low(key), w.high(key)};
  Tensor mixed = keys[0] ^ keys[1];
  keys.push_back(mixed ^ mixed.number(0x1BD11BDA));
  Tensor x = w.low(counter) + keys[0], y = w.high(counter) + keys[1];
  for (unsigned group = 0; group < 5; ++group) {
    for (unsigned turn : kTurns[group % 2]) {
      x = x + y;
      y = w.rotated(y, turn) ^ x;
    }
    x = x + keys[(group + 1) % 3];
    y = y + keys[(group + 2) % 3] + (group + 1);
  }
  return {x, y};
}

/// Interleaves the words of each block along a dimension, and cuts it to the
/// size in `shape`.
Tensor interleaved(const Words &w, ArrayRef<Tensor> parts, int64_t dim,
                   ArrayRef<int64_t> shape) {
  auto type = parts[0].type();
  Ints single(type.getShape()), sizes = single;
  auto count = static_cast<int64_t>(parts.size());
  single.insert(single.begin() + dim + 1, 1);
  SmallVector<Value> columns;
  for (Tensor part : parts)
    columns.push_back(w.make<ReshapeOp>(part, single));
  single[dim + 1] = count;
  Value all = w.c.make<ConcatenateOp>(
      w.op, RankedTensorType::get(single, type.getElementType()), columns,
      dim + 1);
  sizes[dim] *= count;
  all = w.c.make<ReshapeOp>(w.op, all, sizes);
  Ints limit(sizes);
  limit[dim] = shape[dim];
  return w.make<SliceOp>(all, Ints(sizes.size(), 0), limit,
                         Ints(sizes.size(), 1));
}

/// Random words, and the new counter.
struct Generated {
  Tensor bits;
  SmallVector<Tensor> counter;
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
  SmallVector<Tensor> x = philox(w, here, above, w.word(state, 0, {blocks}));
  if (isWide)
    x = {w.joined(x[0], x[1]), w.joined(x[2], x[3])};
  Tensor bits = interleaved(w, x, 0, {count});
  auto [lower, upper] = counter({});
  auto [next, more] = advanced(w, lower, upper, lower.number(double(blocks)));
  Generated result{w.make<ReshapeOp>(bits, shape), {next}};
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
  Tensor counter = w.word(state, 1, half) + w.count(half);
  SmallVector<Tensor> x = threefry(w, counter, w.word(state, 0, half));
  Tensor bits = isWide ? w.joined(x[0], x[1]) : interleaved(w, x, dim, whole);
  Tensor next = w.word(state, 1, {}) + double(ShapedType::getNumElements(half));
  return {w.make<ReshapeOp>(bits, shape), {next}};
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
  Value bits = w.cut(made.bits, element.getWidth());
  if (bits.getType() != op.resultType(1))
    bits = c.make<BitcastOp>(op, op.resultType(1), bits);
  SmallVector<Value> words = {
      c.make<SliceOp>(op, state, Ints{0}, Ints{1}, Ints{1})};
  for (Tensor word : made.counter)
    words.push_back(c.make<ReshapeOp>(op, word, Ints{1}));
  return c.give(op, {c.make<ConcatenateOp>(op, stateType, words, 0), bits});
}

//===----------------------------------------------------------------------===//
// rng
//===----------------------------------------------------------------------===//

/// Random words of 32 or 64 bits, by Philox from a key of the op's own.
Tensor freshBits(const Words &w, ArrayRef<int64_t> shape, bool isWide) {
  uint64_t key = 0x9E3779B97F4A7C15 * ++w.c.generators;
  auto type = RankedTensorType::get({3}, w.bits(64));
  Value state = w.c.make<ConstantOp>(
      w.op, DenseElementsAttr::get(
                type, {APInt(64, key), APInt(64, 0), APInt(64, 0)}));
  return generatePhilox(w, state, shape, isWide).bits;
}

/// Floats in [0, 1) with as many random bits as `type` has, or in (0, 1) in the
/// middle between two of them.
Tensor unitFloats(const Words &w, ArrayRef<int64_t> shape, FloatType type,
                  FloatType computed, bool isOpen) {
  unsigned width = computed.getWidth();
  unsigned digits = std::min(type.getFPMantissaWidth(),
                             computed.getFPMantissaWidth() - (isOpen ? 1 : 0));
  Tensor bits = w.right(freshBits(w, shape, width == 64), width - digits);
  Tensor numbers = w(w.c.cast(w.op, bits, computed));
  if (isOpen)
    numbers = numbers + 0.5;
  return numbers * std::ldexp(1.0, -int(digits));
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
    return w(c.fill(op, scalar, type));
  };
  Tensor bits = w.cut(freshBits(w, type.getShape(), element.getWidth() == 64),
                      element.getWidth());
  Tensor low = word(c.input(op, 0)), high = word(c.input(op, 1));
  Value drawn = low + bits % max(high - low, 1);
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
  Tensor x = unitFloats(w, type.getShape(), element, computed, isNormal);
  Tensor a = w(c.fill(op, c.cast(op, c.input(op, 0), computed), type));
  Tensor b = w(c.fill(op, c.cast(op, c.input(op, 1), computed), type));
  if (isNormal) { // a is the mean, b the standard deviation
    x = a + b * (formulas::erfInv(x * 2 - 1) * std::sqrt(2.0));
    return c.give(op, c.cast(op, x, element));
  }
  auto narrow = [&](Tensor value) { return w(c.cast(op, value, element)); };
  x = narrow(a + x * (b - a)); // may round to b
  a = narrow(a);
  return c.give(op, select(x < narrow(b), x, a).get());
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
