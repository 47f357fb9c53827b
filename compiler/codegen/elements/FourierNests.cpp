//===- FourierNests.cpp - fast Fourier transforms -------------------------===//
//
// The lines of a group are copied to working memory (FourierLines.h),
// transformed there in stages of small radices (FourierStages.cpp), and copied
// out.
//
// A length with a prime above 13 is a convolution with exp(i pi k^2 / n) of a
// power of two (Bluestein, 1970). Its transform is a table made here; if the
// table would be too long, the kernel first computes the transform as a line.
//
// A line of an even number n of real elements is transformed as one of n/2
// complex numbers, and numbers k and n/2 - k follow from each other:
//
//   x0 x1 x2 x3 ...  =>  z = x0 + i x1, x2 + i x3, ...
//   X[k] = E + w O, conj X[n/2 - k] = E - w O,  w = exp(-2 pi i k / n),
//   E = (Z[k] + conj Z[n/2 - k]) / 2,  O = (Z[k] - conj Z[n/2 - k]) / 2i
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/codegen/elements/FourierLines.h"
#include "weft/compiler/codegen/elements/OwnNests.h"
#include "weft/dialects/weft/ElementTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

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

/// The numbers of Bluestein's convolution: exp(-i pi k^2 / n), by which
/// elements of a line are multiplied, and the transform of their inverses.
struct Chirp {
  std::function<Pair(const FourierStages &, Value k)> at;
  std::function<Pair(Value k)> spectrum;
};

struct FourierNest {
  ElementEmitter &e;
  mutable FftOp op;
  nest::FourierForm form;
  FourierStages stages;
  bool inverse;

  FourierNest(ElementEmitter &e [[clang::lifetimebound]], FftOp op);

  Value array(int64_t number) const;
  Value memoryAt(int64_t byte) const;
  Value transform(Scratch memory, const StageRoots &roots) const;
  Value squareModulo(Value k) const;
  Chirp shortChirp() const;
  Chirp longChirp(Scratch &memory, const StageRoots &roots) const;
  void fillCircle(Value memory, const UnitRoots &turns) const;
  Value convolve(Scratch memory, const StageRoots &roots,
                 const Chirp &chirp) const;
  Pair turned(Pair x, const UnitRoots &whole, Value k, bool inverse) const;
  void splitReal(Scratch memory, const UnitRoots &whole) const;
  void joinReal(Scratch memory, const UnitRoots &whole) const;
  void mirror(Value memory) const;
  FourierLines openLines() const;
  LogicalResult emit();
};

} // namespace

/// The lanes of a vector: as many as a register has numbers, but no more than
/// there are lines in a group.
static int64_t lanesOf(ElementEmitter &e, const nest::FourierForm &form,
                       Type component) {
  return std::max<int64_t>(
      std::min(form.lanes, e.vectorBytes() / bytesOf(component)), 1);
}

FourierNest::FourierNest(ElementEmitter &e, FftOp op)
    : e(e), op(op), form(nest::fourierForm(op)),
      stages(e, componentType(typeOf(op.getInput()).getElementType()),
             lanesOf(e, form,
                     componentType(typeOf(op.getInput()).getElementType()))),
      inverse(op.getKind() == FftKind::IFFT || op.getKind() == FftKind::IRFFT) {
}

Value FourierNest::memoryAt(int64_t byte) const {
  Value first = e.scratch();
  return LLVM::GEPOp::create(e.builder, e.loc, first.getType(),
                             e.builder.getI8Type(), first,
                             ArrayRef<LLVM::GEPArg>{e.constant(byte)});
}

/// The address of an array of the working memory.
Value FourierNest::array(int64_t number) const {
  return memoryAt(
      number *
      llvm::alignTo(form.numbers * 2 * bytesOf(stages.component) * stages.lanes,
                    64));
}

/// Transforms lines of complex numbers; returns the array with the result.
Value FourierNest::transform(Scratch memory, const StageRoots &roots) const {
  int64_t bytes = bytesOf(stages.component);
  FourierStages wide(e, stages.component,
                     std::max<int64_t>(e.vectorBytes() / bytes, 1));
  if (form.rows == 0 || wide.lanes == 1)
    return stages.transform(memory, form.size, roots);
  int64_t begin = form.arrays * llvm::alignTo(form.numbers * 2 * bytes, 64);
  Scratch work{memoryAt(begin),
               memoryAt(begin + form.columns() * 2 * bytes * wide.lanes)};
  return wide.transformMatrix(memory, work, form.rows, form.columns(), roots);
}

//===----------------------------------------------------------------------===//
// Lengths with a large prime
//===----------------------------------------------------------------------===//

/// A chirp that consists of two tables.
Chirp FourierNest::shortChirp() const {
  int64_t n = form.length, size = form.size;
  std::vector<Complex> turns, circle(size);
  for (int64_t k = 0; k < n; ++k) {
    Complex turn = unitRoot(k * k % (2 * n), 2 * n);
    turns.push_back(inverse ? std::conj(turn) : turn);
    circle[k] = circle[(size - k) % size] =
        std::conj(turns.back()) / double(size);
  }
  Value table = complexTable(e, stages.component, turns),
        spectrum = complexTable(e, stages.component, transformed(circle));
  return {
      [=](const FourierStages &in, Value k) { return in.loadTable(table, k); },
      [=, this](Value k) { return stages.loadTable(spectrum, k); }};
}

/// k^2 modulo 2n.
Value FourierNest::squareModulo(Value k) const {
  return arith::RemUIOp::create(e.builder, e.loc,
                                arith::MulIOp::create(e.builder, e.loc, k, k),
                                e.constant(2 * form.length));
}

/// Writes the inverses of the chirp, from both ends of a line on, divided by
/// its length.
void FourierNest::fillCircle(Value memory, const UnitRoots &turns) const {
  int64_t n = form.length, size = form.size;
  auto put = [&](Value k, Value at) {
    Pair turn = stages.load(turns, squareModulo(k));
    stages.store(stages.scaled(stages.conj(turn), 1.0 / double(size)), memory,
                 at);
  };
  stages.each(0, n, [&](Value k) { put(k, k); });
  stages.each(n, size - n + 1, [&](Value k) {
    stages.store({stages.number(0), stages.number(0)}, memory, k);
  });
  stages.each(1, n, [&](Value k) {
    put(k, arith::SubIOp::create(e.builder, e.loc, e.constant(size), k));
  });
}

/// A chirp whose spectrum is the third array of the memory and may trade places
/// with the second.
Chirp FourierNest::longChirp(Scratch &memory, const StageRoots &roots) const {
  auto turns = std::make_shared<UnitRoots>(e, stages.component, 2 * form.length,
                                           inverse);
  Scratch arrays{array(2), memory.there};
  fillCircle(arrays.here, *turns);
  Value spectrum = transform(arrays, roots);
  memory.there = FourierStages::otherOf(arrays, spectrum);
  return {[=, this](const FourierStages &in, Value k) {
            return in.load(*turns, squareModulo(k));
          },
          [=, this](Value k) { return stages.load(spectrum, k); }};
}

/// Transforms lines by the convolution; returns the array with the result.
Value FourierNest::convolve(Scratch memory, const StageRoots &roots,
                            const Chirp &chirp) const {
  auto timesChirp = [&](Value array) {
    stages.each(0, form.length, [&](Value i) {
      stages.store(stages.times(stages.load(array, i), chirp.at(stages, i)),
                   array, i);
    });
  };
  timesChirp(memory.here);
  if (form.length < form.size)
    stages.each(form.length, form.size, [&](Value i) {
      stages.store({stages.number(0), stages.number(0)}, memory.here, i);
    });
  Value spectrum = transform(memory, roots);
  stages.each(0, form.size, [&](Value i) {
    stages.store(stages.times(stages.load(spectrum, i), chirp.spectrum(i)),
                 spectrum, i);
  });
  StageRoots back = roots;
  back.inverse = true;
  Value result =
      transform({spectrum, FourierStages::otherOf(memory, spectrum)}, back);
  timesChirp(result);
  return result;
}

//===----------------------------------------------------------------------===//
// Real lines
//===----------------------------------------------------------------------===//

/// x exp(-2 pi i k / n), or times the inverse.
Pair FourierNest::turned(Pair x, const UnitRoots &whole, Value k,
                         bool inverse) const {
  Pair root = stages.load(whole, k);
  return stages.times(x, inverse ? stages.conj(root) : root);
}

/// Computes the spectrum of the real lines from that of their pairs.
void FourierNest::splitReal(Scratch memory, const UnitRoots &whole) const {
  int64_t half = form.length;
  Value zero = e.constant(0);
  Pair first = stages.load(memory.here, zero);
  stages.store({stages.add(first.re, first.im), stages.number(0)}, memory.there,
               zero);
  stages.store({stages.subtract(first.re, first.im), stages.number(0)},
               memory.there, e.constant(half));
  stages.each(1, half / 2 + 1, [&](Value k) {
    Value other = arith::SubIOp::create(e.builder, e.loc, e.constant(half), k);
    Pair x = stages.scaled(stages.load(memory.here, k), 0.5),
         y = stages.scaled(stages.conj(stages.load(memory.here, other)), 0.5);
    Pair even = stages.add(x, y), odd = stages.subtract(x, y);
    odd = turned({odd.im, stages.negate(odd.re)}, whole, k, false);
    stages.store(stages.add(even, odd), memory.there, k);
    stages.store(stages.conj(stages.subtract(even, odd)), memory.there, other);
  });
}

/// Computes the spectrum of pairs, twice as large, from that of real lines.
void FourierNest::joinReal(Scratch memory, const UnitRoots &whole) const {
  int64_t half = form.length;
  Value zero = e.constant(0);
  Value first = stages.load(memory.here, zero).re,
        last = stages.load(memory.here, e.constant(half)).re;
  stages.store({stages.add(first, last), stages.subtract(first, last)},
               memory.there, zero);
  stages.each(1, half / 2 + 1, [&](Value k) {
    Value other = arith::SubIOp::create(e.builder, e.loc, e.constant(half), k);
    Pair x = stages.load(memory.here, k),
         y = stages.conj(stages.load(memory.here, other));
    Pair even = stages.add(x, y),
         odd = turned(stages.subtract(x, y), whole, k, true);
    odd = {stages.negate(odd.im), odd.re};
    stages.store(stages.add(even, odd), memory.there, k);
    stages.store(stages.conj(stages.subtract(even, odd)), memory.there, other);
  });
}

/// Writes the numbers of a real line's spectrum that are not given: the mirror
/// images of others.
void FourierNest::mirror(Value memory) const {
  int64_t n = op.getLength(),
          given = typeOf(op.getInput()).getDimSize(op.getDim());
  stages.each(given, n, [&](Value i) {
    Value other = arith::SubIOp::create(e.builder, e.loc, e.constant(n), i);
    stages.store(stages.conj(stages.load(memory, other)), memory, i);
  });
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// Opens the loops over groups and over vectors of lines.
FourierLines FourierNest::openLines() const {
  Value group = e.openSharedLoop(0, form.groups), outer = e.constant(0);
  int64_t lines = form.lines();
  if (form.isAlongInner()) {
    Value groups = e.constant(llvm::divideCeil(form.inner, form.lanes));
    outer = arith::DivUIOp::create(e.builder, e.loc, group, groups);
    group = arith::RemUIOp::create(e.builder, e.loc, group, groups);
    lines = form.inner;
  }
  Value first = e.mul(group, form.lanes);
  if (stages.lanes < form.lanes) {
    Value rest =
        arith::SubIOp::create(e.builder, e.loc, e.constant(lines), first);
    rest =
        arith::MinUIOp::create(e.builder, e.loc, rest, e.constant(form.lanes));
    Value vectors = arith::CeilDivUIOp::create(e.builder, e.loc, rest,
                                               e.constant(stages.lanes));
    Value vector = e.openLoop(e.constant(0), vectors);
    first = e.add(first, e.mul(vector, stages.lanes));
  }
  return FourierLines{stages, op, form, outer, first};
}

LogicalResult FourierNest::emit() {
  e.beginNest();
  bool isLong = form.size != form.length,
       isFromReal = op.getKind() == FftKind::RFFT,
       isToReal = op.getKind() == FftKind::IRFFT;
  std::optional<UnitRoots> whole;
  if (form.isPaired)
    whole.emplace(e, stages.component, op.getLength());
  bool isShared = whole && !isLong;
  std::optional<UnitRoots> table;
  if (!isShared)
    table.emplace(e, stages.component, form.size);
  StageRoots roots{isShared ? *whole : *table, isShared ? 2 : 1,
                   inverse && !isLong};
  Scratch memory{array(0), array(1)};
  std::optional<Chirp> chirp;
  if (isLong)
    chirp = form.arrays == 2 ? shortChirp() : longChirp(memory, roots);

  FourierLines lines = openLines();
  if (failed(lines.read(memory)))
    return failure();
  if (isToReal && form.isPaired) {
    joinReal(memory, *whole);
    std::swap(memory.here, memory.there);
  } else if (isToReal) {
    mirror(memory.here);
  }
  Value result =
      chirp ? convolve(memory, roots, *chirp) : transform(memory, roots);
  if (isFromReal && form.isPaired) {
    Scratch parts{result, FourierStages::otherOf(memory, result)};
    splitReal(parts, *whole);
    result = parts.there;
  }
  lines.write(result, inverse ? 1.0 / double(op.getLength()) : 1);
  return success();
}

LogicalResult emitFft(ElementEmitter &e, FftOp op) {
  return FourierNest(e, op).emit();
}

} // namespace weft::elements
