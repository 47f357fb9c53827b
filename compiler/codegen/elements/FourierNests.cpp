//===- FourierNests.cpp - fast Fourier transforms -------------------------===//
//
// Each line along the dimension is copied to scratch memory, transformed there
// in stages of small radices (Stockham's order, which needs no reversal of
// bits; Van Loan, "Computational Frameworks for the Fast Fourier Transform",
// 1992, section 1.7), and copied out:
//
//   n = 12: radices 4, 3      for b in 1, a in 3:  4 elements, 3 apart, become 4
//                             for b in 4, a in 1:  3 elements, 4 apart, become 3
//
// A length with a prime above 13 is a convolution with exp(i pi k^2 / n) of a
// power of two (Bluestein, 1970). Its transform is a table made here; if the
// table would be too long, the kernel first computes the transform as a line.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/codegen/elements/ComplexOps.h"
#include "weft/compiler/codegen/elements/OwnNests.h"
#include "weft/compiler/codegen/elements/UnitRoots.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/ops/LinearAlgebraOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>
#include <complex>
#include <functional>

using namespace mlir;

namespace weft::elements {

namespace {

using Complex = std::complex<double>;

/// The transform of `x`, whose length is a power of two, computed while
/// compiling.
std::vector<Complex> transformed(const std::vector<Complex> &x) {
  size_t n = x.size();
  if (n == 1)
    return x;
  std::vector<Complex> even, odd, result(n);
  for (size_t i = 0; i < n; i += 2) {
    even.push_back(x[i]);
    odd.push_back(x[i + 1]);
  }
  even = transformed(even);
  odd = transformed(odd);
  for (size_t k = 0; k < n / 2; ++k) {
    Complex turned = odd[k] * unitRoot(k, n);
    result[k] = even[k] + turned;
    result[k + n / 2] = even[k] - turned;
  }
  return result;
}

/// A complex number on registers.
struct Pair {
  Value re, im;
};

/// Two lines of n numbers: stages alternate between them.
struct Scratch {
  Value here, there;
};

/// The numbers of Bluestein's convolution: exp(-i pi k^2 / n), by which
/// elements of a line are multiplied, and the transform of their inverses.
struct Chirp {
  std::function<Pair(Value k)> at;
  Value spectrum;
};

struct FourierNest {
  ElementEmitter &e;
  mutable FftOp op;
  Type component;
  bool inverse;

  FourierNest(ElementEmitter &e [[clang::lifetimebound]], FftOp op)
      : e(e), op(op),
        component(componentType(typeOf(op.getInput()).getElementType())),
        inverse(op.getKind() == FftKind::IFFT ||
                op.getKind() == FftKind::IRFFT) {}

  Value number(double value) const {
    return arith::ConstantOp::create(e.builder, e.loc,
                                     e.builder.getFloatAttr(component, value));
  }
  Value add(Value x, Value y) const {
    return arith::AddFOp::create(e.builder, e.loc, x, y);
  }
  Value subtract(Value x, Value y) const {
    return arith::SubFOp::create(e.builder, e.loc, x, y);
  }
  Value multiply(Value x, Value y) const {
    return arith::MulFOp::create(e.builder, e.loc, x, y,
                                 arith::FastMathFlags::contract);
  }
  Value negate(Value x) const {
    return arith::NegFOp::create(e.builder, e.loc, x);
  }
  Pair add(Pair x, Pair y) const { return {add(x.re, y.re), add(x.im, y.im)}; }
  Pair times(Pair x, Pair w) const {
    return {subtract(multiply(x.re, w.re), multiply(x.im, w.im)),
            add(multiply(x.re, w.im), multiply(x.im, w.re))};
  }
  Pair conj(Pair x) const { return {x.re, negate(x.im)}; }
  Pair times(Pair x, Complex w) const;
  Pair load(Value memory, Value i) const {
    Value at = e.mul(i, 2);
    Value re = e.load(memory, component, at);
    return {re, e.load(memory, component, e.add(at, e.constant(1)))};
  }
  void store(Pair x, Value memory, Value i) const {
    Value at = e.mul(i, 2);
    e.store(x.re, memory, component, at);
    e.store(x.im, memory, component, e.add(at, e.constant(1)));
  }
  UnitRoots roots(int64_t n, bool inverse = false) const {
    return UnitRoots(e, component, n, inverse);
  }
  Pair load(const UnitRoots &roots, Value k) const {
    auto [re, im] = roots.load(k);
    return {re, im};
  }
  Value line(int64_t size, int64_t number) const;
  /// Builds a loop whose iterations are independent, and closes it.
  template <typename Body>
  void each(int64_t begin, int64_t end, Body body) const {
    unsigned outer = e.depth();
    Value i = e.openLoop(e.constant(begin), e.constant(end));
    e.markParallel();
    body(i);
    e.closeLoops(outer);
  }

  void stage(Scratch memory, int64_t n, int64_t radix, int64_t before,
             const UnitRoots &table, bool turned) const;
  Value transform(Scratch memory, int64_t n, const UnitRoots &table,
                  bool turned) const;
  LogicalResult read(ArrayRef<Value> line, Value memory,
                     const Chirp *chirp) const;
  void write(ArrayRef<Value> line, Value memory, const Chirp *chirp) const;
  Chirp shortChirp() const;
  Chirp longChirp(Scratch &memory, const UnitRoots &table) const;
  void fillCircle(Value memory, const UnitRoots &turns) const;
  LogicalResult emit();
};

} // namespace

/// x * w, without multiplications by 0, 1 and -1.
Pair FourierNest::times(Pair x, Complex w) const {
  auto scaled = [&](Value value, double factor) -> Value {
    if (std::fabs(factor) < 1e-15)
      return {};
    if (std::fabs(std::fabs(factor) - 1) < 1e-15)
      return factor > 0 ? value : negate(value);
    return multiply(value, number(factor));
  };
  auto sum = [&](Value a, Value b) { return a && b ? add(a, b) : a ? a : b; };
  return {sum(scaled(x.re, w.real()), scaled(x.im, -w.imag())),
          sum(scaled(x.re, w.imag()), scaled(x.im, w.real()))};
}

/// The address of a line of `size` numbers.
Value FourierNest::line(int64_t size, int64_t number) const {
  int64_t bytes = llvm::alignTo(size * 2 * bytesOf(component), 64);
  Value first = e.scratch();
  return LLVM::GEPOp::create(
      e.builder, e.loc, first.getType(), e.builder.getI8Type(), first,
      ArrayRef<LLVM::GEPArg>{e.constant(number * bytes)});
}

/// Combines transformed groups of `before` elements to groups that are `radix`
/// times as large.
void FourierNest::stage(Scratch memory, int64_t n, int64_t radix,
                        int64_t before, const UnitRoots &table,
                        bool turned) const {
  int64_t groups = n / (radix * before);
  unsigned outer = e.depth();
  bool manyGroups = groups > before;
  Value slow = e.openLoop(manyGroups ? before : groups),
        fast = e.openLoop(manyGroups ? groups : before);
  e.markParallel();
  Value a = manyGroups ? fast : slow, b = manyGroups ? slow : fast;
  SmallVector<Pair> x;
  for (int64_t r = 0; r < radix; ++r) {
    Value from = e.add(e.add(e.mul(a, before), b), e.constant(r * (n / radix)));
    Pair value = load(memory.here, from);
    if (r > 0 && before > 1) {
      Pair root = load(table, e.mul(b, r * groups));
      value = times(value, turned ? conj(root) : root);
    }
    x.push_back(value);
  }
  for (int64_t k = 0; k < radix; ++k) {
    Pair sum = x[0];
    for (int64_t r = 1; r < radix; ++r) {
      Complex root = unitRoot(r * k, radix);
      sum = add(sum, times(x[r], turned ? std::conj(root) : root));
    }
    store(sum, memory.there,
          e.add(e.add(e.mul(a, before * radix), b), e.constant(k * before)));
  }
  e.closeLoops(outer);
}

/// Transforms a line; returns the half with the result.
Value FourierNest::transform(Scratch memory, int64_t n, const UnitRoots &table,
                             bool turned) const {
  int64_t before = 1;
  SmallVector<int64_t> radices = *nest::fftRadices(n);
  for (int64_t radix : radices) {
    stage(memory, n, radix, before, table, turned);
    std::swap(memory.here, memory.there);
    before *= radix;
  }
  return memory.here;
}

/// Reads the line at `line`, multiplied by the chirp if there is a chirp.
LogicalResult FourierNest::read(ArrayRef<Value> line, Value memory,
                                const Chirp *chirp) const {
  int64_t n = op.getLength(),
          given = typeOf(op.getInput()).getDimSize(op.getDim());
  bool fromReal = op.getKind() == FftKind::RFFT, failure = false;
  auto copy = [&](Value i, Value from, bool mirrored) {
    SmallVector<Value> dims(line);
    dims[op.getDim()] = from;
    FailureOr<Value> value =
        e.element(op.getInput(), e.makeIndex(dims, e.depth()));
    e.enterDepth(e.depth());
    if (failed(value)) {
      failure = true;
      return;
    }
    ComplexEmitter c{e.builder, e.loc};
    Pair x =
        fromReal ? Pair{*value, number(0)} : Pair{c.re(*value), c.im(*value)};
    if (mirrored)
      x = conj(x);
    store(chirp ? times(x, chirp->at(i)) : x, memory, i);
  };
  each(0, std::min(n, given), [&](Value i) { copy(i, i, false); });
  if (given < n)
    each(given, n, [&](Value i) {
      copy(i, arith::SubIOp::create(e.builder, e.loc, e.constant(n), i), true);
    });
  return success(!failure);
}

void FourierNest::write(ArrayRef<Value> line, Value memory,
                        const Chirp *chirp) const {
  RankedTensorType type = typeOf(op.getResult());
  each(0, type.getDimSize(op.getDim()), [&](Value i) {
    Pair x = load(memory, i);
    if (chirp)
      x = times(x, chirp->at(i));
    if (inverse)
      x = times(x, Complex(1.0 / op.getLength()));
    SmallVector<Value> dims(line);
    dims[op.getDim()] = i;
    Value linear = e.linearIndex(type.getShape(), e.makeIndex(dims, e.depth()));
    bool toReal = op.getKind() == FftKind::IRFFT;
    Value value =
        toReal ? x.re : ComplexEmitter{e.builder, e.loc}.make(x.re, x.im);
    e.store(value, e.memoryOf(op.getResult()), type.getElementType(), linear);
  });
}

/// A chirp that consists of two tables.
Chirp FourierNest::shortChirp() const {
  int64_t n = op.getLength(), size = nest::fftLength(n);
  std::vector<Complex> turns, circle(size);
  for (int64_t k = 0; k < n; ++k) {
    Complex turn = unitRoot(k * k % (2 * n), 2 * n);
    turns.push_back(inverse ? std::conj(turn) : turn);
    circle[k] = circle[(size - k) % size] =
        std::conj(turns.back()) / double(size);
  }
  Value table = complexTable(e, component, turns);
  return {[=, this](Value k) { return load(table, k); },
          complexTable(e, component, transformed(circle))};
}

/// Writes the inverses of the chirp, from both ends of a line on, divided by
/// its length.
void FourierNest::fillCircle(Value memory, const UnitRoots &turns) const {
  int64_t n = op.getLength(), size = nest::fftLength(n);
  auto mirror = [&](Value k) -> Value {
    return arith::SubIOp::create(e.builder, e.loc, e.constant(size), k);
  };
  auto put = [&](Value k, Value at) {
    Value square = arith::RemUIOp::create(
        e.builder, e.loc, arith::MulIOp::create(e.builder, e.loc, k, k),
        e.constant(2 * n));
    store(times(conj(load(turns, square)), Complex(1.0 / double(size))), memory,
          at);
  };
  each(0, n, [&](Value k) { put(k, k); });
  each(n, size - n + 1,
       [&](Value k) { store({number(0), number(0)}, memory, k); });
  each(1, n, [&](Value k) { put(k, mirror(k)); });
}

/// A chirp whose spectrum is the third line of the memory and may trade places
/// with the second.
Chirp FourierNest::longChirp(Scratch &memory, const UnitRoots &table) const {
  int64_t n = op.getLength(), size = nest::fftLength(n);
  UnitRoots turns = roots(2 * n, inverse);
  Scratch lines{line(size, 2), memory.there};
  fillCircle(lines.here, turns);
  Value spectrum = transform(lines, size, table, false);
  memory.there = spectrum == lines.here ? lines.there : lines.here;
  return {[=, this](Value k) {
            Value square = arith::RemUIOp::create(
                e.builder, e.loc, arith::MulIOp::create(e.builder, e.loc, k, k),
                e.constant(2 * n));
            return load(turns, square);
          },
          spectrum};
}

LogicalResult FourierNest::emit() {
  int64_t n = op.getLength(), size = nest::fftLength(n);
  UnitRoots table = roots(size);
  Scratch memory{line(size, 0), line(size, 1)};
  std::optional<Chirp> chirp;
  if (!nest::fftRadices(n))
    chirp = nest::fftLines(n) == 2 ? shortChirp() : longChirp(memory, table);
  SmallVector<Value> at;
  for (auto [i, others] : llvm::enumerate(typeOf(op.getResult()).getShape()))
    at.push_back(i == op.getDim() ? Value() : e.openLoop(others));
  if (failed(read(at, memory.here, chirp ? &*chirp : nullptr)))
    return failure();
  if (!chirp) {
    write(at, transform(memory, n, table, inverse), nullptr);
    return success();
  }
  if (n < size)
    each(n, size,
         [&](Value i) { store({number(0), number(0)}, memory.here, i); });
  Value spectrum = transform(memory, size, table, false);
  each(0, size, [&](Value i) {
    store(times(load(spectrum, i), load(chirp->spectrum, i)), spectrum, i);
  });
  Scratch back{spectrum, spectrum == memory.here ? memory.there : memory.here};
  write(at, transform(back, size, table, true), &*chirp);
  return success();
}

LogicalResult emitFft(ElementEmitter &e, FftOp op) {
  return FourierNest(e, op).emit();
}

} // namespace weft::elements
