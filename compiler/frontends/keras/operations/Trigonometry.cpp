//===- Trigonometry.cpp - functions of angles and of hyperbolas -----------===//
//
// Inverse trigonometric functions are computed by atan2.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/frontends/keras/operations/Operation.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

/// sqrt((1 - x) (1 + x)).
static Value side(Tensors &t, Value x) {
  return t.make<SqrtOp>(t.mul(t.sub(1, x), t.add(x, 1.0)));
}
static Value arcsin(Tensors &t, Value x) {
  return t.make<Atan2Op>(x, side(t, x));
}
static Value arccos(Tensors &t, Value x) {
  return t.make<Atan2Op>(side(t, x), x);
}
static Value arctan(Tensors &t, Value x) {
  return t.make<Atan2Op>(x, t.splat(1, x));
}
static Value arctanh(Tensors &t, Value x) {
  return t.mul(t.sub(t.make<Log1pOp>(x), t.make<Log1pOp>(t.neg(x))), 0.5);
}
/// sign(x) log(|x| + sqrt(x^2 + 1)), by log1p, which is exact near 0.
static Value arcsinh(Tensors &t, Value x) {
  Value size = t.make<AbsOp>(x), squared = t.mul(x, x);
  Value root = t.make<SqrtOp>(t.add(squared, 1.0));
  Value rest = t.div(squared, t.add(root, 1.0));
  return t.mul(t.make<SignOp>(x), t.make<Log1pOp>(t.add(size, rest)));
}
static Value arccosh(Tensors &t, Value x) {
  Value root =
      t.mul(t.make<SqrtOp>(t.add(x, -1.0)), t.make<SqrtOp>(t.add(x, 1.0)));
  return t.make<LogOp>(t.add(x, root));
}
/// (e^x - e^-x) / 2, computed from e^x - 1, which is exact near 0.
static Value sinh(Tensors &t, Value x) {
  Value above = t.make<Expm1Op>(x);
  return t.mul(t.add(above, t.div(above, t.add(above, 1.0))), 0.5);
}
static Value cosh(Tensors &t, Value x) {
  return t.mul(t.add(t.make<ExpOp>(x), t.make<ExpOp>(t.neg(x))), 0.5);
}
/// sin(pi x) / (pi x), 1 at 0.
static Value sinc(Tensors &t, Value x) {
  Value isZero = t.compare(CompareKind::EQ, x, 0);
  Value angle = t.mul(x, std::numbers::pi);
  Value safe = t.select(isZero, t.splat(1, x), angle);
  return t.select(isZero, t.splat(1, x), t.div(t.make<SinOp>(safe), safe));
}

std::vector<OperationRow> weft::keras::trigonometricOperations() {
  return {ofFloats("Arccos", arccos),   ofFloats("Arccosh", arccosh),
          ofFloats("Arcsin", arcsin),   ofFloats("Arcsinh", arcsinh),
          ofFloats("Arctan", arctan),   ofFloats("Arctanh", arctanh),
          ofFloats("Cos", one<CosOp>),  ofFloats("Cosh", cosh),
          ofFloats("Sin", one<SinOp>),  ofFloats("Sinc", sinc),
          ofFloats("Sinh", sinh),       ofFloats("Tan", one<TanOp>),
          ofFloats("Tanh", one<TanhOp>)};
}
