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
// power of two (Bluestein, 1970). Tables are computed here, in double.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/codegen/elements/ComplexOps.h"
#include "weft/compiler/codegen/elements/OwnNests.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/ops/LinearAlgebraOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>
#include <complex>

using namespace mlir;

namespace weft::elements {

namespace {

using Complex = std::complex<double>;

/// exp(-2 pi i k / n).
Complex rootOf(int64_t k, int64_t n) {
  return std::polar(1.0, -2 * M_PI * static_cast<double>(k % n) / n);
}

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
    Complex turned = odd[k] * rootOf(k, n);
    result[k] = even[k] + turned;
    result[k + n / 2] = even[k] - turned;
  }
  return result;
}

/// A complex number on registers.
struct Pair {
  Value re, im;
};

/// Memory of n numbers, twice: stages alternate between the halves.
struct Scratch {
  Value here, there;
};

struct FourierNest {
  ElementEmitter &e;
  mutable FftOp op;
  Type component;
  bool inverse;

  FourierNest(ElementEmitter &e, FftOp op)
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
  Value table(ArrayRef<Complex> numbers) const;
  Value roots(int64_t n) const;
  Scratch scratch(int64_t n) const;
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
             Value table, bool turned) const;
  Value transform(Scratch memory, int64_t n, Value table, bool turned) const;
  LogicalResult read(ArrayRef<Value> line, Value memory, Value chirp) const;
  void write(ArrayRef<Value> line, Value memory, Value chirp) const;
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

Value FourierNest::table(ArrayRef<Complex> numbers) const {
  SmallVector<APFloat> values;
  for (Complex x : numbers)
    for (double value : {x.real(), x.imag()})
      values.push_back(e.builder.getFloatAttr(component, value).getValue());
  auto type = RankedTensorType::get(int64_t(values.size()), component);
  return e.globalData(DenseElementsAttr::get(type, values));
}

Value FourierNest::roots(int64_t n) const {
  std::vector<Complex> numbers;
  for (int64_t k = 0; k < n; ++k)
    numbers.push_back(rootOf(k, n));
  return table(numbers);
}

Scratch FourierNest::scratch(int64_t n) const {
  Type byte = e.builder.getI8Type();
  Value here = e.scratch();
  int64_t line = llvm::alignTo(n * 2 * bytesOf(component), 64);
  Value there =
      LLVM::GEPOp::create(e.builder, e.loc, here.getType(), byte, here,
                          ArrayRef<LLVM::GEPArg>{int32_t(line)});
  return {here, there};
}

/// Combines transformed groups of `before` elements to groups of `radix` times
/// as many.
void FourierNest::stage(Scratch memory, int64_t n, int64_t radix,
                        int64_t before, Value table, bool turned) const {
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
      Complex root = rootOf(r * k, radix);
      sum = add(sum, times(x[r], turned ? std::conj(root) : root));
    }
    store(sum, memory.there,
          e.add(e.add(e.mul(a, before * radix), b), e.constant(k * before)));
  }
  e.closeLoops(outer);
}

/// Transforms a line; returns the half with the result.
Value FourierNest::transform(Scratch memory, int64_t n, Value table,
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

/// Reads the line at `line`, multiplied by the chirp if there is one.
LogicalResult FourierNest::read(ArrayRef<Value> line, Value memory,
                                Value chirp) const {
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
    store(chirp ? times(x, load(chirp, i)) : x, memory, i);
  };
  each(0, std::min(n, given), [&](Value i) { copy(i, i, false); });
  if (given < n)
    each(given, n, [&](Value i) {
      copy(i, arith::SubIOp::create(e.builder, e.loc, e.constant(n), i), true);
    });
  return success(!failure);
}

void FourierNest::write(ArrayRef<Value> line, Value memory, Value chirp) const {
  RankedTensorType type = typeOf(op.getResult());
  each(0, type.getDimSize(op.getDim()), [&](Value i) {
    Pair x = load(memory, i);
    if (chirp)
      x = times(x, load(chirp, i));
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

LogicalResult FourierNest::emit() {
  int64_t n = op.getLength(), size = nest::fftLength(n);
  Value chirp, kernel;
  if (!nest::fftRadices(n)) {
    std::vector<Complex> turns, circle(size);
    for (int64_t k = 0; k < n; ++k) {
      Complex turn = rootOf(k * k % (2 * n), 2 * n);
      turns.push_back(inverse ? std::conj(turn) : turn);
      circle[k] = circle[(size - k) % size] =
          std::conj(turns.back()) / double(size);
    }
    chirp = table(turns);
    kernel = table(transformed(circle));
  }
  Value table = roots(size);
  Scratch memory = scratch(size);
  SmallVector<Value> line;
  for (auto [i, others] : llvm::enumerate(typeOf(op.getResult()).getShape()))
    line.push_back(i == op.getDim() ? Value() : e.openLoop(others));
  if (failed(read(line, memory.here, chirp)))
    return failure();
  if (!chirp) {
    write(line, transform(memory, n, table, inverse), chirp);
    return success();
  }
  if (n < size)
    each(n, size,
         [&](Value i) { store({number(0), number(0)}, memory.here, i); });
  Value spectrum = transform(memory, size, table, false);
  each(0, size, [&](Value i) {
    store(times(load(spectrum, i), load(kernel, i)), spectrum, i);
  });
  Scratch back{spectrum, spectrum == memory.here ? memory.there : memory.here};
  write(line, transform(back, size, table, true), chirp);
  return success();
}

LogicalResult emitFft(ElementEmitter &e, FftOp op) {
  return FourierNest(e, op).emit();
}

} // namespace weft::elements
