//===- ProgramGenerator.cpp - the table of rooms, and common steps --------===//

#include "weft/test/fuzz/ProgramGenerator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace weft {

std::string list(const std::vector<int64_t> &values) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i)
    text += (i ? ", " : "") + std::to_string(values[i]);
  return text + "]";
}

std::string arrayAttribute(const std::string &name,
                           const std::vector<int64_t> &values) {
  std::string text = name + " = array<i64";
  for (size_t i = 0; i < values.size(); ++i)
    text += (i ? ", " : ": ") + std::to_string(values[i]);
  return text + ">";
}

std::string typeOf(const Shape &shape, const std::string &element) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + element + ">";
}

/// The most elements of a tensor in a program that is only compiled.
static constexpr int64_t kMostElements = int64_t(1) << 24;
/// The largest size in a program that is only planned.
static constexpr int64_t kLargestSize = int64_t(1) << 62;

int64_t elements(const Shape &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    if (size == 0)
      return 0;
    else if (__builtin_mul_overflow(count, size, &count))
      count = std::numeric_limits<int64_t>::max();
  return count;
}

std::vector<int64_t> counted(size_t n, int64_t first) {
  std::vector<int64_t> values(n);
  std::iota(values.begin(), values.end(), first);
  return values;
}

const std::vector<ElementKind> &elementKinds() {
  constexpr double wraps = 1e300; // integer sums are exact modulo 2^width
  static const std::vector<ElementKind> kinds = {
      {"f32", 32, true, false, 1 << 22, 6e-8, 40},
      {"f64", 64, true, false, 1e15, 1.2e-16, 6},
      {"bf16", 16, true, false, 256, 4e-3, 6},
      {"f16", 16, true, false, 2048, 5e-4, 6},
      {"f8E4M3FN", 8, true, false, 16, 7e-2, 2},
      {"f8E5M2", 8, true, false, 8, 0.13, 2},
      {"i32", 32, false, false, wraps, 0, 8},
      {"i64", 64, false, false, wraps, 0, 3},
      {"i16", 16, false, false, wraps, 0, 3},
      {"i8", 8, false, false, wraps, 0, 4},
      {"ui8", 8, false, true, wraps, 0, 3},
      {"ui16", 16, false, true, wraps, 0, 2},
      {"ui32", 32, false, true, wraps, 0, 4},
      {"ui64", 64, false, true, wraps, 0, 2},
      {"i1", 1, false, false, wraps, 0, 5},
  };
  return kinds;
}

const ElementKind &elementKind(const std::string &name) {
  for (const ElementKind &kind : elementKinds())
    if (name == kind.name)
      return kind;
  return elementKinds().front();
}

bool isExactIn(const ElementKind &from, const ElementKind &to) {
  if (&from == &to)
    return true;
  bool losesSign = to.isUnsigned && !from.isUnsigned && from.width > 1;
  return from.isFloat == to.isFloat && from.width < to.width && !losesSign &&
         (!to.isFloat || to.width >= 16);
}

const ElementKind &ProgramGenerator::randomElement() {
  // Compiled programs are drawn without f8, which has the weight 0 there.
  auto weight = [&](const ElementKind &kind) {
    return options.compiled && kind.isFloat && kind.width == 8 ? 0
                                                               : kind.weight;
  };
  int64_t total = 0;
  for (const ElementKind &kind : elementKinds())
    total += weight(kind);
  int64_t drawn = below(total);
  for (const ElementKind &kind : elementKinds()) {
    drawn -= weight(kind);
    if (drawn < 0)
      return kind;
  }
  return elementKinds().front();
}

/// Sizes that models have, and those beside them; of up to 2^24 elements.
Shape ProgramGenerator::largeShape() {
  static constexpr int64_t sizes[] = {1,    3,    7,    8,    64,  100,
                                      127,  128,  448,  512,  768, 1000,
                                      1024, 4096, 4097, 16384};
  Shape shape(oneIn(12) ? 0 : 1 + below(oneIn(6) ? 4 : 3));
  int64_t room = kMostElements;
  for (int64_t &size : shape) {
    size = std::min(sizes[below(std::size(sizes))], room);
    room /= size;
  }
  if (shape.size() == 1 && oneIn(2))
    shape[0] = kMostElements - below(3);
  std::shuffle(shape.begin(), shape.end(), random);
  return shape;
}

Shape ProgramGenerator::randomShape() {
  if (options.large)
    return largeShape();
  Shape shape(oneIn(12) ? 0 : 1 + below(oneIn(6) ? 4 : 3));
  for (int64_t &size : shape)
    size = 1 + below(shape.size() > 3 ? 5 : 9);
  // Larger dimensions are needed to fill vector registers and tiles.
  if (options.compiled && !shape.empty() && shape.size() < 4)
    shape[below(static_cast<int64_t>(shape.size()))] = 1 + below(70);
  if (options.planned && !shape.empty() && !oneIn(3))
    shape[below(static_cast<int64_t>(shape.size()))] = hugeSize();
  // An empty dimension, for the few constructs that take one.
  if (!shape.empty() && oneIn(40))
    shape[below(static_cast<int64_t>(shape.size()))] = 0;
  return shape;
}

/// A size at the limits of 32 or 64 bits, of elements or of their bytes, or a
/// prime.
int64_t ProgramGenerator::hugeSize() {
  static constexpr int64_t bases[] = {65536,
                                      1000003,
                                      int64_t(1) << 29,
                                      int64_t(1) << 31,
                                      int64_t(1) << 32,
                                      int64_t(1) << 40,
                                      int64_t(1) << 50,
                                      int64_t(1) << 53,
                                      kLargestSize - 1};
  return bases[below(std::size(bases))] + below(3) - 1;
}

std::optional<RandomValue> ProgramGenerator::pick(const Test &test) {
  std::vector<const RandomValue *> fitting;
  for (const RandomValue &value : values)
    if ((elements(value.shape) || emptiesToo) && (!test || test(value)))
      fitting.push_back(&value);
  if (fitting.empty())
    return std::nullopt;
  size_t late = std::min<size_t>(fitting.size(), 3);
  return *(oneIn(2) ? fitting[fitting.size() - 1 - below(late)]
                    : fitting[below(fitting.size())]);
}

RandomValue ProgramGenerator::partner(const RandomValue &x) {
  return *pick([&](const RandomValue &y) {
    return y.shape == x.shape && y.element == x.element;
  });
}

RandomValue ProgramGenerator::like(const RandomValue &x) const {
  RandomValue result = x;
  result.onTape = true;
  result.signedZeros = false;
  return result;
}

RandomValue ProgramGenerator::moved(const RandomValue &x, Shape shape) const {
  RandomValue result = like(x, std::move(shape));
  result.signedZeros = x.signedZeros;
  return result;
}

RandomValue ProgramGenerator::like(const RandomValue &x, Shape shape) const {
  RandomValue result = like(x);
  result.shape = std::move(shape);
  return result;
}

RandomValue ProgramGenerator::sumLike(const RandomValue &x, Shape shape,
                                      double terms) const {
  RandomValue result = like(x, std::move(shape));
  result.bound *= terms;
  if (!x.integral)
    result.depth += terms;
  return result;
}

RandomValue ProgramGenerator::widened(const RandomValue &x) {
  RandomValue result = x;
  if (inLoss || !oneIn(3))
    return result;
  std::vector<const ElementKind *> wider;
  for (const ElementKind &kind : elementKinds())
    if (isExactIn(*x.element, kind))
      wider.push_back(&kind);
  result.element = wider[below(static_cast<int64_t>(wider.size()))];
  return result;
}

void ProgramGenerator::join(RandomValue &into, const RandomValue &other) {
  into.depth = std::max(into.depth, other.depth);
  into.unit = std::max(into.unit, other.unit);
  into.integral &= other.integral;
  into.signedZeros &= other.signedZeros;
}

bool ProgramGenerator::isTooLarge(const RandomValue &x) const {
  if (options.large)
    return x.shape.size() > 5 || elements(x.shape) > kMostElements;
  if (options.planned)
    return x.shape.size() > 5 ||
           std::any_of(x.shape.begin(), x.shape.end(), [](int64_t size) {
             return size < 0 || size > kLargestSize;
           });
  return elements(x.shape) > (options.compiled ? 8192 : 2048) ||
         x.shape.size() > 5 ||
         (x.isFloat() && x.integral && x.bound > x.element->largest) ||
         (options.reals && x.isFloat() && x.bound > 1e4) ||
         (inLoss && x.bound > 1e12);
}

bool ProgramGenerator::emit(const std::string &text, RandomValue result,
                            const Slopes &slopes) {
  if (isTooLarge(result))
    return false;
  std::string name = fresh("");
  line(name + " = " + text);
  define(name, std::move(result), slopes);
  return true;
}

void ProgramGenerator::define(const std::string &name, RandomValue result,
                              const Slopes &slopes) {
  result.name = name;
  result.id = ids++;
  result.special = false;
  result.onTape = inLoss ? !slopes.empty() : true;
  for (const Slope &slope : slopes) {
    result.onTape &= slope.operand.onTape;
    tape.push_back({result.id, slope.operand.id, slope.by,
                    static_cast<double>(elements(result.shape)) + 8});
  }
  if (options.large) {
    result.bound = 4;
    result.depth = result.unit = 0;
    result.integral = true;
  }
  // Integers wrap, so their bound is at most the range of the type.
  if (!result.isFloat()) {
    double range = std::ldexp(1.0, static_cast<int>(result.element->width));
    result.bound = result.element->isUnsigned
                       ? range
                       : std::min(result.bound, range / 2 + result.isBool());
    result.integral = true;
    result.depth = 0;
    result.unit = 0;
  }
  values.push_back(std::move(result));
}

struct ProgramGenerator::Room {
  void (ProgramGenerator::*step)();
  unsigned weight;
  bool inLoss; ///< whether losses may use it
  bool emptiesToo = false;
  bool anySize = false; ///< whether text and time do not grow with sizes
};

std::vector<ProgramGenerator::Room> ProgramGenerator::rooms() {
  using G = ProgramGenerator;
  return {{&G::unary, 2, true, true, true},
          {&G::jumpingUnary, 1, true, false, true},
          {&G::function, 1, true, false, true},
          {&G::binary, 3, true, true, true},
          {&G::fractionalBinary, 1, false},
          {&G::integerBinary, 1, false},
          {&G::bits, 1, false, false, true},
          {&G::compare, 1, false, false, true},
          {&G::zeroSigns, 1, false},
          {&G::select, 1, true, true, true},
          {&G::clamp, 1, true, false, true},
          {&G::convert, 1, false, false, true},
          {&G::bitcast, 1, false},
          {&G::precision, 1, false},
          {&G::constrain, 2, true, true, true},
          {&G::barrier, 1, false, true, true},
          {&G::broadcast, 1, true, true, true},
          {&G::transpose, 1, true, true, true},
          {&G::reshape, 2, true},
          {&G::slice, 1, true, false, true},
          {&G::pad, 1, true},
          {&G::concatenate, 1, true, true, true},
          {&G::source, 1, true, false, true},
          {&G::randomBits, 1, false},
          {&G::reduce, 2, true, true, true},
          {&G::reduceBits, 1, false, false, true},
          {&G::dot, 2, true, true, true},
          {&G::reverse, 1, true, false, true},
          {&G::roll, 1, true, false, true},
          {&G::dynamicSlice, 1, true},
          {&G::dynamicUpdateSlice, 1, true},
          {&G::movedChain, 1, false},
          {&G::gather, 1, true},
          {&G::scatter, 1, true},
          {&G::gatherBlocks, 1, true},
          {&G::scatterBlocks, 1, true},
          {&G::oneHot, 1, false},
          {&G::cumulative, 1, true, false, true},
          {&G::argument, 1, false, false, true},
          {&G::topK, 1, true, false, true},
          {&G::sort, 1, true, false, true},
          {&G::foldOne, 1, false},
          {&G::foldPair, 1, false},
          {&G::reduceWindow, 1, true},
          {&G::selectAndScatter, 1, false},
          {&G::convolution, 1, true},
          {&G::triangularSolve, 1, false},
          {&G::cholesky, 1, false},
          {&G::call, 1, false},
          {&G::manual, 1, false},
          {&G::loop, 1, false},
          {&G::branch, 1, false},
          {&G::changingLoop, 1, false},
          {&G::accumulatingLoop, 1, true},
          {&G::complexNumbers, 1, true},
          {&G::gradient, 2, false}};
}

unsigned numConstructs() { return ProgramGenerator::rooms().size(); }

unsigned numFollowers() { return ProgramGenerator::followers().size(); }

void ProgramGenerator::take(const Room &room) {
  emptiesToo = room.emptiesToo;
  (this->*room.step)();
}

/// Draws and takes `n` steps.
void ProgramGenerator::steps(unsigned n) {
  static const std::vector<Room> all = rooms();
  unsigned total = 0;
  auto isOpen = [&](const Room &room) {
    return (!inLoss || room.inLoss) && (!options.planned || room.anySize);
  };
  for (const Room &room : all)
    total += isOpen(room) ? room.weight : 0;
  for (unsigned i = 0; i < n; ++i) {
    int64_t drawn = below(total);
    for (const Room &room : all) {
      drawn -= isOpen(room) ? room.weight : 0;
      if (drawn < 0) {
        take(room);
        break;
      }
    }
  }
}

std::string ProgramGenerator::run() {
  std::string mesh = drawMesh();
  hasParts = oneIn(4);
  drawArguments();
  if (options.construct)
    take(rooms()[*options.construct]);
  else
    steps(options.ops);
  if (options.large)
    (this->*followers()[options.follower])();
  else if (!options.planned && !options.reals && oneIn(6))
    largeSum();
  std::string head = signature();
  return "#mesh = #weft.mesh<" + mesh +
         ">\nmodule attributes {weft.mesh = #mesh} {\n" + functions + head +
         " {\n" + body + "}\n}\n";
}

std::string randomProgram(uint64_t seed, const ProgramOptions &options) {
  return ProgramGenerator(seed, options).run();
}

} // namespace weft
