//===- Trigonometry.cpp - functions of angles and of hyperbolas -----------===//
//
// Most are functions of chlo on JAX, and have its formulas.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/frontends/formulas/RealTensor.h"
#include "weft/compiler/frontends/keras/operations/Operation.h"

#include <numbers>

using namespace mlir;
using namespace weft;
using namespace weft::keras;
using formulas::RealTensor;

/// The row of a formula; numbers of 16 bits are computed in f32, as in JAX.
template <RealTensor formula(RealTensor)>
static OperationRow byFormula(const char *name) {
  return ofFloats(name, [](Tensors &t, Value x) {
    RealTensor wide(t.builder, t.loc, t.wide(x));
    return t.castLike(formula(wide).get(), x);
  });
}

/// sin(pi x) / (pi x), 1 at 0.
static Value sinc(Tensors &t, Value x) {
  Value isZero = t.compare(CompareKind::EQ, x, 0);
  Value angle = t.mul(x, std::numbers::pi);
  Value safe = t.select(isZero, t.splat(1, x), angle);
  return t.select(isZero, t.splat(1, x), t.div(t.make<SinOp>(safe), safe));
}

std::vector<OperationRow> weft::keras::trigonometricOperations() {
  return {byFormula<formulas::acos>("Arccos"),
          byFormula<formulas::acosh>("Arccosh"),
          byFormula<formulas::asin>("Arcsin"),
          byFormula<formulas::asinh>("Arcsinh"),
          byFormula<formulas::atan>("Arctan"),
          byFormula<formulas::atanh>("Arctanh"),
          ofFloats("Cos", one<CosOp>),
          byFormula<formulas::cosh>("Cosh"),
          ofFloats("Sin", one<SinOp>),
          ofFloats("Sinc", sinc),
          byFormula<formulas::sinh>("Sinh"),
          ofFloats("Tan", one<TanOp>),
          ofFloats("Tanh", one<TanhOp>)};
}
