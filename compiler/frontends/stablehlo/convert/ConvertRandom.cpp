//===- ConvertRandom.cpp - rng_bit_generator ------------------------------===//
//
// Random bits, equal to those of XLA. The state is a key of 64 bits and a
// counter of 64 or 128. Each value of the counter gives a block of words of 32
// bits: four by ten rounds of Philox, or two by twenty rounds of Threefry.
// XLA's CPU uses Philox by default; a counter of 64 bits then has the key as
// its upper half.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/frontends/stablehlo/convert/Converter.h"

#include "weft/dialects/layout/TensorType.h"

#include "llvm/Support/MathExtras.h"

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

constexpr ConversionEntry kEntries[] = {
    {"rng_bit_generator", bitGenerator},
};

} // namespace

ArrayRef<ConversionEntry> stablehlo::randomConversions() { return kEntries; }
