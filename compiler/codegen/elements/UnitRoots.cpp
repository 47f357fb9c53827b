//===- UnitRoots.cpp - tables of roots of unity ---------------------------===//

#include "weft/compiler/codegen/elements/UnitRoots.h"

#include "weft/dialects/nest/FourierLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;

namespace weft::elements {

using Complex = std::complex<double>;

Complex unitRoot(int64_t k, int64_t n) {
  Complex root = std::polar(1.0, -2 * M_PI * double(k % n) / double(n));
  auto exact = [](double value) {
    return std::fabs(value) < 1e-15 ? 0 : value;
  };
  return {exact(root.real()), exact(root.imag())};
}

Value numberTable(ElementEmitter &e, Type component, ArrayRef<double> numbers) {
  SmallVector<APFloat> values;
  for (double value : numbers)
    values.push_back(e.builder.getFloatAttr(component, value).getValue());
  auto type = RankedTensorType::get(int64_t(values.size()), component);
  return e.globalData(DenseElementsAttr::get(type, values));
}

Value complexTable(ElementEmitter &e, Type component,
                   ArrayRef<Complex> numbers) {
  SmallVector<double> parts;
  for (Complex x : numbers)
    parts.append({x.real(), x.imag()});
  return numberTable(e, component, parts);
}

UnitRoots::UnitRoots(ElementEmitter &e, Type component, int64_t n, bool inverse,
                     double factor)
    : e(e), component(component) {
  auto numbers = [&](int64_t count, int64_t apart, double times) {
    SmallVector<Complex> all;
    for (int64_t k = 0; k < count; ++k) {
      Complex root = unitRoot(k * apart, n);
      all.push_back(times * (inverse ? std::conj(root) : root));
    }
    return complexTable(e, component, all);
  };
  if (n <= nest::kMostFftTable) {
    fine = numbers(n, 1, factor);
    return;
  }
  step = int64_t(1) << llvm::divideCeil(llvm::Log2_64_Ceil(n), 2);
  fine = numbers(step, 1, 1);
  coarse = numbers(llvm::divideCeil(n, step), step, factor);
}

std::pair<Value, Value> UnitRoots::loadFrom(Value table, Value k) const {
  Value at = e.mul(k, 2);
  Value re = e.load(table, component, at);
  return {re, e.load(table, component, e.add(at, e.constant(1)))};
}

std::pair<Value, Value> UnitRoots::load(Value k) const {
  if (!coarse)
    return loadFrom(fine, k);
  OpBuilder &b = e.builder;
  auto [re, im] =
      loadFrom(coarse, arith::ShRUIOp::create(b, e.loc, k,
                                              e.constant(llvm::Log2_64(step))));
  auto [fineRe, fineIm] =
      loadFrom(fine, arith::AndIOp::create(b, e.loc, k, e.constant(step - 1)));
  auto times = [&](Value x, Value y) -> Value {
    return arith::MulFOp::create(b, e.loc, x, y,
                                 arith::FastMathFlags::contract);
  };
  return {arith::SubFOp::create(b, e.loc, times(re, fineRe), times(im, fineIm),
                                arith::FastMathFlags::contract),
          arith::AddFOp::create(b, e.loc, times(re, fineIm), times(im, fineRe),
                                arith::FastMathFlags::contract)};
}

} // namespace weft::elements
