//===- FourierStages.cpp - stages of a Fourier transform ------------------===//
//
// Stages of small radices in Stockham's order, which needs no reversal of bits
// (Van Loan, "Computational Frameworks for the Fast Fourier Transform", 1992,
// section 1.7):
//
//   n = 12: radices 4, 3      for b in 1, a in 3:  4 elements, 3 apart, become 4
//                             for b in 4, a in 1:  3 elements, 4 apart, become 3
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/codegen/elements/FourierStages.h"

#include "weft/compiler/codegen/elements/TransposedVectors.h"
#include "weft/dialects/nest/FourierLoops.h"
#include "weft/dialects/weft/ElementTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <cmath>

using namespace mlir;

namespace weft::elements {

using Complex = std::complex<double>;

FourierStages::FourierStages(ElementEmitter &e, Type component, int64_t lanes)
    : e(e), component(component), lanes(lanes),
      registers(lanes == 1 ? component
                           : Type(VectorType::get(lanes, component))) {}

Value FourierStages::number(double value) const {
  TypedAttr one = e.builder.getFloatAttr(component, value);
  if (auto vector = dyn_cast<VectorType>(registers))
    one = DenseElementsAttr::get(vector, Attribute(one));
  return arith::ConstantOp::create(e.builder, e.loc, one);
}

Value FourierStages::add(Value x, Value y) const {
  return arith::AddFOp::create(e.builder, e.loc, x, y,
                               arith::FastMathFlags::contract);
}
Value FourierStages::subtract(Value x, Value y) const {
  return arith::SubFOp::create(e.builder, e.loc, x, y,
                               arith::FastMathFlags::contract);
}
Value FourierStages::multiply(Value x, Value y) const {
  return arith::MulFOp::create(e.builder, e.loc, x, y,
                               arith::FastMathFlags::contract);
}
Value FourierStages::negate(Value x) const {
  return arith::NegFOp::create(e.builder, e.loc, x);
}

Pair FourierStages::times(Pair x, Pair w) const {
  return {subtract(multiply(x.re, w.re), multiply(x.im, w.im)),
          add(multiply(x.re, w.im), multiply(x.im, w.re))};
}

Pair FourierStages::times(Pair x, Complex w) const {
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

Pair FourierStages::scaled(Pair x, double factor) const {
  return {multiply(x.re, number(factor)), multiply(x.im, number(factor))};
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static Value componentAt(const FourierStages &in, Value memory, Value at) {
  return LLVM::GEPOp::create(in.e.builder, in.e.loc, memory.getType(),
                             in.component, memory, ArrayRef<LLVM::GEPArg>{at});
}

Value FourierStages::loadVector(Value memory, Value at) const {
  return LLVM::LoadOp::create(e.builder, e.loc, registers,
                              componentAt(*this, memory, at),
                              bytesOf(component));
}

void FourierStages::storeVector(Value x, Value memory, Value at) const {
  LLVM::StoreOp::create(e.builder, e.loc, x, componentAt(*this, memory, at),
                        bytesOf(component));
}

Pair FourierStages::load(Value memory, Value i) const {
  Value re = e.mul(i, 2 * lanes), im = e.add(re, e.constant(lanes));
  if (lanes == 1)
    return {e.load(memory, component, re), e.load(memory, component, im)};
  return {loadVector(memory, re), loadVector(memory, im)};
}

void FourierStages::store(Pair x, Value memory, Value i) const {
  Value re = e.mul(i, 2 * lanes), im = e.add(re, e.constant(lanes));
  for (auto [value, at] : {std::pair(x.re, re), std::pair(x.im, im)})
    if (lanes == 1)
      e.store(value, memory, component, at);
    else
      storeVector(value, memory, at);
}

Pair FourierStages::loadAdjacent(Value memory, Value at) const {
  SmallVector<int32_t> even, odd;
  for (int32_t i = 0; i < lanes; ++i) {
    even.push_back(2 * i);
    odd.push_back(2 * i + 1);
  }
  Value low = loadVector(memory, at),
        high = loadVector(memory, e.add(at, e.constant(lanes)));
  return {shuffled(e.builder, e.loc, low, high, even),
          shuffled(e.builder, e.loc, low, high, odd)};
}

void FourierStages::storeAdjacent(Pair x, Value memory, Value at) const {
  for (int64_t half : {0, 1}) {
    SmallVector<int32_t> from;
    for (int64_t i = half * lanes / 2; i < (half + 1) * lanes / 2; ++i)
      from.append({int32_t(i), int32_t(i + lanes)});
    storeVector(shuffled(e.builder, e.loc, x.re, x.im, from), memory,
                e.add(at, e.constant(half * lanes)));
  }
}

Value FourierStages::inLanes(Value x) const {
  return lanes == 1
             ? x
             : vector::BroadcastOp::create(e.builder, e.loc, registers, x)
                   .getResult();
}

Pair FourierStages::load(const UnitRoots &roots, Value k) const {
  auto [re, im] = roots.load(k);
  return {inLanes(re), inLanes(im)};
}

Pair FourierStages::load(const StageRoots &roots, Value k) const {
  Pair root = load(roots.roots, e.mul(k, roots.apart));
  return roots.inverse ? conj(root) : root;
}

Pair FourierStages::loadTable(Value table, Value k) const {
  Value at = e.mul(k, 2);
  Value re = e.load(table, component, at);
  return {inLanes(re),
          inLanes(e.load(table, component, e.add(at, e.constant(1))))};
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

/// Transforms an odd number of numbers: with sums s and differences d of
/// numbers r and n - r,
///
///   X[k] = x[0] + sum cos(2 pi r k / n) s[r] - i sum sin(2 pi r k / n) d[r]
SmallVector<Pair> FourierStages::oddButterfly(ArrayRef<Pair> x,
                                              bool inverse) const {
  int64_t n = x.size(), half = n / 2;
  SmallVector<Pair> sums{x[0]}, differences{x[0]}, result(n);
  Pair all = x[0];
  for (int64_t r = 1; r <= half; ++r) {
    sums.push_back(add(x[r], x[n - r]));
    differences.push_back(subtract(x[r], x[n - r]));
    all = add(all, sums[r]);
  }
  result[0] = all;
  for (int64_t k = 1; k <= half; ++k) {
    Pair cosines = x[0], sines;
    for (int64_t r = 1; r <= half; ++r) {
      Complex root = unitRoot(r * k, n);
      cosines = add(cosines, scaled(sums[r], root.real()));
      Pair term = scaled(differences[r], -root.imag());
      sines = r == 1 ? term : add(sines, term);
    }
    Pair turned{sines.im, negate(sines.re)}; // -i sines
    result[inverse ? n - k : k] = add(cosines, turned);
    result[inverse ? k : n - k] = subtract(cosines, turned);
  }
  return result;
}

SmallVector<Pair> FourierStages::butterfly(ArrayRef<Pair> x,
                                           bool inverse) const {
  int64_t n = x.size();
  if (n == 1)
    return {x[0]};
  if (n % 2 != 0)
    return oddButterfly(x, inverse);
  SmallVector<Pair> even, odd, result(n);
  for (int64_t i = 0; i < n; i += 2) {
    even.push_back(x[i]);
    odd.push_back(x[i + 1]);
  }
  even = butterfly(even, inverse);
  odd = butterfly(odd, inverse);
  for (int64_t k = 0; k < n / 2; ++k) {
    Complex root = unitRoot(k, n);
    Pair turned = times(odd[k], inverse ? std::conj(root) : root);
    result[k] = add(even[k], turned);
    result[k + n / 2] = subtract(even[k], turned);
  }
  return result;
}

/// Combines transformed groups of `before` numbers to groups that are `radix`
/// times as large.
void FourierStages::stage(Scratch memory, int64_t n, int64_t radix,
                          int64_t before, const StageRoots &roots) const {
  int64_t groups = n / (radix * before);
  auto combine = [&](Value a, Value b) {
    SmallVector<Pair> x;
    for (int64_t r = 0; r < radix; ++r) {
      Value from =
          e.add(e.add(e.mul(a, before), b), e.constant(r * (n / radix)));
      Pair value = load(memory.here, from);
      if (r > 0 && before > 1)
        value = times(value, load(roots, e.mul(b, r * groups)));
      x.push_back(value);
    }
    for (auto [k, sum] : llvm::enumerate(butterfly(x, roots.inverse)))
      store(sum, memory.there,
            e.add(e.add(e.mul(a, before * radix), b),
                  e.constant(int64_t(k) * before)));
  };
  bool manyGroups = groups > before;
  e.each(manyGroups ? before : groups, [&](Value slow) {
    each(0, manyGroups ? groups : before, [&](Value fast) {
      combine(manyGroups ? fast : slow, manyGroups ? slow : fast);
    });
  });
}

Value FourierStages::transform(Scratch memory, int64_t n,
                               const StageRoots &roots) const {
  int64_t before = 1;
  SmallVector<int64_t> radices = *nest::fftRadices(n);
  for (int64_t radix : radices) {
    stage(memory, n, radix, before, roots);
    std::swap(memory.here, memory.there);
    before *= radix;
  }
  return memory.here;
}

} // namespace weft::elements
