//===- Trigonometry.cpp - functions of angles and of hyperbolas -----------===//
//
// Most are functions of chlo on JAX, and have its formulas.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/frontends/formulas/Functions.h"
#include "weft/compiler/frontends/keras/operations/Operation.h"

#include <numbers>

using namespace mlir;
using namespace weft;
using namespace weft::keras;
using formulas::Tensor;

/// The row of a formula; numbers of 16 bits are computed in f32, as in JAX.
template <Tensor formula(Tensor)>
static OperationRow byFormula(const char *name) {
  return ofFloats(name, [](Tensors &t, Tensor x) {
    Tensor wide(t.builder, t.loc, t.wide(x));
    return t.castLike(formula(wide).get(), x);
  });
}

/// sin(pi x) / (pi x), 1 at 0.
static Tensor sinc(Tensors &t, Tensor x) {
  Tensor isZero = x == 0;
  Tensor angle = x * std::numbers::pi;
  Tensor safe = select(isZero, 1, angle);
  return select(isZero, t.splat(1, x), sin(safe) / safe);
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
