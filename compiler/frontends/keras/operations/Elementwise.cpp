//===- Elementwise.cpp - functions of one number --------------------------===//
//
// The functions are those of jax.numpy, by formulas of its operations.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/frontends/keras/operations/Operation.h"

#include <cmath>
#include <limits>
#include <numbers>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

OperationRow weft::keras::ofFloats(const char *name, UnaryFormula formula) {
  return operation(name, {"x"}, {}, [formula](OperationCall &a) {
    return formula(a.t, a.floats("x"));
  });
}

/// The row of a function that computes in the type of its operand.
static OperationRow ofNumbers(const char *name, UnaryFormula formula) {
  return operation(name, {"x"}, {}, [formula](OperationCall &a) {
    return formula(a.t, a.tensor("x"));
  });
}

static Tensor log2Of(Tensors &t, Tensor x) { return log(x) / std::log(2.0); }
static Tensor log10Of(Tensors &t, Tensor x) { return log(x) / std::log(10.0); }
static Tensor exp2Of(Tensors &t, Tensor x) { return pow(2, x); }
static Tensor toRadians(Tensors &t, Tensor x) {
  return x * (std::numbers::pi / 180);
}
static Tensor toDegrees(Tensors &t, Tensor x) {
  return x * (180 / std::numbers::pi);
}
static Tensor reciprocal(Tensors &t, Tensor x) { return 1 / x; }

static Tensor truncated(Tensors &t, Tensor x) {
  if (!isFloat(x))
    return x;
  return select(x < 0, ceil(x), floor(x));
}
static Tensor absolute(Tensors &t, Tensor x) {
  auto integer = dyn_cast<IntegerType>(elementOf(x));
  bool isNeverNegative =
      integer && (integer.getWidth() == 1 || integer.isUnsigned());
  return isNeverNegative ? x : abs(x);
}
static Tensor square(Tensors &t, Tensor x) {
  x = asNumbers(t, x);
  return x * x;
}
static Tensor identity(Tensors &, Tensor x) { return x; }

static Tensor rounded(OperationCall &a) {
  Tensors &t = a.t;
  Tensor x = a.tensor("x");
  int64_t decimals = a.integer("decimals");
  if (!a.check(std::abs(decimals) <= 30,
               "\"decimals\" must lie between -30 and 30"))
    return x;
  if (!isFloat(x) && decimals >= 0)
    return x;
  Type type = elementOf(x);
  Tensor scaled = asFloats(t, x);
  double factor = std::pow(10.0, double(decimals));
  if (decimals)
    scaled = scaled * factor;
  scaled = roundEven(scaled);
  return castTo(t, decimals ? scaled / factor : scaled, type);
}

/// The largest finite number of a type of floats; 0 of another type.
static double largestOf(Type element) {
  auto type = dyn_cast<FloatType>(element);
  return type ? llvm::APFloat::getLargest(type.getFloatSemantics())
                    .convertToDouble()
              : 0;
}

static Tensor nanToNum(OperationCall &a) {
  Tensor x = a.floats("x");
  double most = largestOf(elementOf(x));
  const double infinity = std::numeric_limits<double>::infinity();
  Tensor out = select(x != x, a.number("nan"), x);
  out = select(x == infinity, a.number("posinf", most), out);
  return select(x == -infinity, a.number("neginf", -most), out);
}

static Tensor clip(OperationCall &a) {
  Tensors &t = a.t;
  Tensor x = asNumbers(t, a.tensor("x"));
  for (const char *bound : {"x_min", "x_max"}) {
    if (!a.given(bound))
      continue;
    SmallVector<Tensor> both = a.together({bound, "x"});
    bool isLow = bound == StringRef("x_min");
    if (isLow || !a.given("x_min")) {
      x = isLow ? max(both[0], castTo(t, both[1], elementOf(both[0])))
                : min(both[0], both[1]);
      continue;
    }
    both = a.stretched(
        {castTo(t, both[0], promoted(elementOf(both[0]), elementOf(x))),
         castTo(t, x, promoted(elementOf(both[0]), elementOf(x)))});
    x = min(both[0], both[1]);
  }
  return x;
}

/// The row of a constant in the shape of x; an option "dtype" changes the type.
static OperationRow constantLike(const char *name, double number) {
  return operation(name, {"x"}, {{"dtype"}}, [number](OperationCall &a) {
    Tensor x = a.tensor("x");
    return a.t.splat(number, a.cast(x, "dtype"));
  });
}
static Tensor fullLike(OperationCall &a) {
  Tensor x = a.cast(a.tensor("x"), "dtype");
  Tensor fill = castTo(a.t, a.tensor("fill_value"), elementOf(x));
  SmallVector<Tensor> both = a.stretched({fill, x});
  return both[0];
}
static Tensor castOf(OperationCall &a) {
  return a.cast(a.tensor("x"), "dtype");
}

std::vector<OperationRow> weft::keras::elementwiseOperations() {
  return {ofNumbers("Absolute", absolute),
          ofNumbers("Abs", absolute),
          ofFloats("Fabs", absolute),
          operation("Array", {"x"}, {{"dtype"}}, castOf),
          operation("Cast", {"x"}, {{"dtype"}}, castOf),
          ofFloats("Cbrt", one<CbrtOp>),
          ofFloats("Ceil", one<CeilOp>),
          operation("Clip", {"x"}, {{"x_min"}, {"x_max"}}, clip),
          operation("ConvertToTensor", {"x"},
                    {{"dtype"},
                     {"sparse", "null", "sparse tensors"},
                     {"ragged", "null", "ragged tensors"}},
                    castOf),
          ofNumbers("Copy", identity),
          ofFloats("Deg2rad", toRadians),
          ofFloats("Erf", one<ErfOp>),
          ofFloats("Erfc", one<ErfcOp>),
          ofFloats("Exp", one<ExpOp>),
          ofFloats("Exp2", exp2Of),
          ofFloats("Expm1", one<Expm1Op>),
          ofFloats("Floor", one<FloorOp>),
          operation("FullLike", {"x", "fill_value"}, {{"dtype"}}, fullLike),
          ofFloats("Log", one<LogOp>),
          ofFloats("Log10", log10Of),
          ofFloats("Log1p", one<Log1pOp>),
          ofFloats("Log2", log2Of),
          operation("NanToNum", {"x"}, {{"nan", "0.0"}, {"posinf"}, {"neginf"}},
                    nanToNum),
          ofNumbers("Negative", one<NegOp>),
          constantLike("OnesLike", 1),
          ofFloats("Rad2deg", toDegrees),
          ofFloats("Reciprocal", reciprocal),
          operation("Round", {"x"}, {{"decimals", "0"}}, rounded),
          ofFloats("Rsqrt", one<RsqrtOp>),
          ofNumbers("Sign", one<SignOp>),
          ofFloats("Sqrt", one<SqrtOp>),
          ofNumbers("Square", square),
          operation("StopGradient", {"variable"}, {},
                    [](OperationCall &a) {
                      Tensor x = a.tensor("variable");
                      return isFloat(x) ? a.t.make<StopGradientOp>(x) : x;
                    }),
          ofNumbers("Trunc", truncated),
          constantLike("ZerosLike", 0)};
}
