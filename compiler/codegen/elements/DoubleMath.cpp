//===- DoubleMath.cpp - f64 functions in arithmetic -----------------------===//

#include "weft/compiler/codegen/elements/DoubleMath.h"

#include "weft/compiler/codegen/elements/Formula.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <limits>
#include <numbers>

using namespace mlir;

namespace weft::elements {

namespace {

constexpr double kPi = std::numbers::pi,
                 kInfinity = std::numeric_limits<double>::infinity(),
                 kNaN = std::numeric_limits<double>::quiet_NaN();
/// log(2) in two parts. The first has 42 bits: times an exponent it is exact.
constexpr double kLog2 = 0x1.62e42fefa38p-1, kLog2Rest = 0x1.ef35793c7673p-45;

using enum arith::CmpFPredicate;

Value both(const Formula &f, Value a, Value b) {
  return arith::AndIOp::create(f.b, f.loc, a, b);
}
Value lesser(const Formula &f, Value x, double y) { // y of NaN
  return f.select(f.compare(OLT, x, y), x, f.number(y, x));
}
Value greater(const Formula &f, Value x, double y) {
  return f.select(f.compare(OGT, x, y), x, f.number(y, x));
}
Value orNaN(const Formula &f, Value x, Value result) {
  return f.select(f.compare(ORD, x, x), result, x);
}

/// 2^k for an integer k from -1022 to 1023.
Value powerOfTwo(const Formula &f, Value k) {
  Type i64 = f.b.getI64Type();
  Value exponent =
      arith::AddIOp::create(f.b, f.loc, f.integer(1023, i64),
                            arith::FPToSIOp::create(f.b, f.loc, i64, k));
  return arith::BitcastOp::create(
      f.b, f.loc, f.b.getF64Type(),
      arith::ShLIOp::create(f.b, f.loc, exponent, f.integer(52, i64)));
}

/// The terms x^first / first! to x^last / last! of the series of e^x, divided
/// by the first term.
Value exponentialSeries(const Formula &f, Value x, int first, int last) {
  SmallVector<double> coefficients;
  double factorial = 1;
  for (int n = 1; n <= last; ++n) {
    if (n > first)
      factorial *= n;
    if (n >= first)
      coefficients.push_back(1 / factorial);
  }
  if (first == 0)
    coefficients.insert(coefficients.begin(), 1.0);
  return f.polynomial(x, coefficients);
}

/// e^(x + rest), rest far below x.
Value exponential(const Formula &f, Value x, Value rest = {}) {
  Value bounded = greater(f, lesser(f, x, 710), -746);
  Value k = f.nearest(f.mul(bounded, std::numbers::log2e));
  Value r = f.fma(k, -kLog2, bounded);
  r = f.fma(k, -kLog2Rest, r);
  if (rest)
    r = f.add(
        r, f.select(f.compare(OLT, f.abs(rest), 1.0), rest, f.number(0, rest)));
  Value size = exponentialSeries(f, r, 0, 14);
  Value half = f.nearest(f.mul(k, 0.5)), other = f.sub(k, half);
  size = f.mul(f.mul(size, powerOfTwo(f, half)), powerOfTwo(f, other));
  return orNaN(f, x, size);
}

/// A number in two parts, the second far below the first.
struct Double {
  Value high, low;
};

/// log(x) of a positive finite number: x = 2^k m, m from sqrt(1/2) to sqrt(2),
/// log(m) = 2 (s + s^3/3 + ...) of s = (m - 1) / (m + 1).
Double logarithm(const Formula &f, Value x) {
  Type i64 = f.b.getI64Type();
  Value isSmall = f.compare(OLT, x, 0x1p-1022);
  x = f.select(isSmall, f.mul(x, 0x1p54), x);
  Value bits = arith::BitcastOp::create(f.b, f.loc, i64, x);
  Value root = f.integer(0x3fe6a09e667f3bcd, i64); // sqrt(1/2)
  Value above = arith::SubIOp::create(f.b, f.loc, bits, root);
  Value exponent =
      arith::ShRSIOp::create(f.b, f.loc, above, f.integer(52, i64));
  Value fraction = arith::AndIOp::create(
      f.b, f.loc, above, f.integer((int64_t(1) << 52) - 1, i64));
  Value m = arith::BitcastOp::create(
      f.b, f.loc, f.b.getF64Type(),
      arith::AddIOp::create(f.b, f.loc, fraction, root));
  Value k = arith::SIToFPOp::create(f.b, f.loc, f.b.getF64Type(), exponent);
  k = f.select(isSmall, f.add(k, -54), k);
  Value up = f.add(m, -1), down = f.add(m, 1);
  Value lost = f.sub(m, f.add(down, -1)); // rounding error of m + 1
  Value s = f.div(up, down);
  Value left = f.fma(s, -1, f.number(0, s)); // -s
  left = f.div(f.fma(left, lost, f.fma(left, down, up)), down);
  Value z = f.mul(s, s);
  SmallVector<double> odd;
  for (int n = 3; n <= 27; n += 2)
    odd.push_back(2.0 / n);
  Value series = f.mul(f.mul(z, s), f.polynomial(z, odd));
  // k log 2 + 2 s with its rounding error: the larger term comes first.
  Value a = f.mul(k, kLog2), b = f.mul(s, 2);
  Value high = f.add(a, b);
  Value isFirst = f.compare(OEQ, k, 0.0);
  Value low = f.add(f.sub(a, high), b);
  low = f.select(isFirst, f.number(0, low), low);
  low = f.add(f.add(f.fma(k, kLog2Rest, low), f.mul(left, 2)), series);
  return {high, low};
}

/// log x, with IEEE 754's results for 0, infinity, NaN and negative numbers.
Value logarithmOf(const Formula &f, Value x) {
  Value isUsual = both(f, f.compare(OGT, x, 0.0), f.compare(OLT, x, kInfinity));
  Double parts = logarithm(f, f.select(isUsual, x, f.number(1, x)));
  Value log = f.add(parts.high, parts.low);
  Value other = f.select(f.compare(OEQ, x, 0.0), f.number(-kInfinity, x),
                         f.number(kNaN, x));
  other = f.select(f.compare(OEQ, x, kInfinity), x, other);
  return f.select(isUsual, log, orNaN(f, x, other));
}

/// log(1 + x). With u = 1 + x, rounded, log(u) x / (u - 1) cancels the rounding
/// error of u.
Value logarithmOfNext(const Formula &f, Value x) {
  Value u = f.add(x, 1), apart = f.add(u, -1);
  Value isTiny = f.compare(OEQ, apart, 0.0);
  Value ratio = f.div(x, f.select(isTiny, f.number(1, x), apart));
  Value log = f.mul(logarithmOf(f, u), ratio);
  log = f.select(isTiny, x, log);
  return f.select(f.compare(OEQ, x, kInfinity), x, log);
}

Value exponentialLess1(const Formula &f, Value x) {
  Value small = f.mul(x, exponentialSeries(f, x, 1, 18));
  return f.select(f.compare(OLT, f.abs(x), 0.5), small,
                  f.add(exponential(f, x), -1));
}

Value hyperbolicTangent(const Formula &f, Value x) {
  Value t = exponentialLess1(f, f.mul(lesser(f, f.abs(x), 22), 2));
  Value size = f.div(t, f.add(t, 2));
  return orNaN(f, x, f.withSignOf(size, x));
}

/// Builds a loop that runs `count` times with n = count, ..., 1 as an f64.
Value loop(
    const Formula &f, int64_t count, Value start,
    llvm::function_ref<Value(const Formula &, Value n, Value sum)> next) {
  auto index = [&](int64_t value) -> Value {
    return f.integer(value, f.b.getI64Type());
  };
  auto loop = scf::ForOp::create(
      f.b, f.loc, index(0), index(count), index(1), ValueRange(start),
      [&](OpBuilder &inner, Location loc, Value i, ValueRange sums) {
        Formula g{inner, loc};
        Value n =
            arith::SubIOp::create(inner, loc, g.integer(count, i.getType()), i);
        n = arith::SIToFPOp::create(inner, loc, inner.getF64Type(), n);
        scf::YieldOp::create(inner, loc, next(g, n, sums[0]));
      });
  return loop.getResult(0);
}

/// 2/sqrt(pi) x e^(-z) (1 + 2z/3 (1 + 2z/5 (1 + ...))), z = x^2, whose terms
/// are positive; above 2.5 1 - e^(-z) / (sqrt(pi) (x + 1/2 / (x + 2/2 / (x +
/// ...)))).
Value errorFunction(const Formula &f, Value x) {
  Value size = lesser(f, f.abs(x), 6), z = f.mul(size, size);
  Value lost = f.fma(size, size, f.mul(z, -1)); // the square's rounding error
  Value falling = exponential(f, f.mul(z, -1), f.mul(lost, -1));
  Value twice = f.mul(z, 2);
  Value sum =
      loop(f, 60, f.number(1, z), [&](const Formula &g, Value n, Value sum) {
        Value odd = g.add(g.mul(n, 2), 1);
        return g.add(g.mul(g.div(twice, odd), sum), 1);
      });
  sum = f.mul(f.mul(f.mul(size, 2 * std::numbers::inv_sqrtpi), falling), sum);
  Value isLarge = f.compare(OGT, size, 2.5);
  Value safe = f.select(isLarge, size, f.number(1, x));
  Value fraction =
      loop(f, 60, safe, [&](const Formula &g, Value n, Value part) {
        return g.add(g.div(g.mul(n, 0.5), part), safe);
      });
  Value rest = f.mul(f.div(falling, fraction), std::numbers::inv_sqrtpi);
  Value result = f.select(isLarge, f.sub(f.number(1, x), rest), sum);
  return orNaN(f, x, f.withSignOf(result, x));
}

/// 1 - erf(x) for |x| up to 1, above it e^(-x^2) times a ratio of polynomials,
/// those of Cephes' ndtr.c.
Value complementOfErrorFunction(const Formula &f, Value x) {
  Value size = lesser(f, f.abs(x), 28), z = f.mul(size, size);
  Value lost = f.fma(size, size, f.mul(z, -1)); // the square's rounding error
  Value falling = exponential(f, f.mul(z, -1), f.mul(lost, -1));
  Value near = f.div(
      f.polynomial(size, {5.57535335369399327526e2, 1.02755188689515710272e3,
                          9.34528527171957607540e2, 5.26445194995477358631e2,
                          1.96520832956077098242e2, 4.86371970985681366614e1,
                          7.46321056442269912687e0, 5.64189564831068821977e-1,
                          2.46196981473530512524e-10}),
      f.polynomial(size,
                   {5.57535340817727675546e2, 1.65666309194161350182e3,
                    2.24633760818710981792e3, 1.82390916687909736289e3,
                    9.75708501743205489753e2, 3.54937778887819891062e2,
                    8.67072140885989742329e1, 1.32281951154744992508e1, 1}));
  Value far = f.div(
      f.polynomial(size, {2.97886665372100240670e0, 7.40974269950448939160e0,
                          6.16021097993053585195e0, 5.01905042251180477414e0,
                          1.27536670759978104416e0, 5.64189583547755073984e-1}),
      f.polynomial(size,
                   {3.36907645100081516050e0, 9.60896809063285878198e0,
                    1.70814450747565897222e1, 1.20489539808096656605e1,
                    9.39603524938001434673e0, 2.26052863220117276590e0, 1}));
  Value tail = f.mul(falling, f.select(f.compare(OLT, size, 8.0), near, far));
  tail = f.select(f.compare(OLT, x, 0.0), f.sub(f.number(2, x), tail), tail);
  Value middle = f.sub(f.number(1, x), errorFunction(f, x));
  Value result = f.select(f.compare(OLT, size, 1.0), middle, tail);
  return orNaN(f, x, result);
}

/// The cube root: a guess by the logarithm, then one of Newton's steps; tiny
/// numbers are scaled.
Value cubeRoot(const Formula &f, Value x) {
  Value size = f.abs(x), isTiny = f.compare(OLT, size, 0x1p-900);
  Value isUsual =
      both(f, f.compare(OGT, size, 0.0), f.compare(OLT, size, kInfinity));
  Value scaled = f.select(isTiny, f.mul(size, 0x1p300), size);
  scaled = f.select(isUsual, scaled, f.number(1, x));
  Double log = logarithm(f, scaled);
  Value root = exponential(f, f.div(f.add(log.high, log.low), f.number(3, x)));
  Value square = f.mul(root, root);
  Value off = f.fma(root, square, f.mul(scaled, -1));
  root = f.sub(root, f.div(off, f.mul(square, 3)));
  root = f.select(isTiny, f.mul(root, 0x1p-100), root);
  return f.select(isUsual, f.withSignOf(root, x), x);
}

/// sin(x + quarters pi/2). pi/2 is in three parts.
Value sine(const Formula &f, Value x, int quarters) {
  x = f.angle(x);
  Value k = f.nearest(f.mul(x, 2 / kPi));
  Value r = f.fma(k, -0x1.921fb54442d18p0, x);
  r = f.fma(k, -0x1.1a62633145c07p-54, r);
  r = f.fma(k, 0x1.f1976b7ed8fbcp-110, r);
  Value turns = f.add(k, quarters);
  turns = f.fma(math::FloorOp::create(f.b, f.loc, f.mul(turns, 0.25)), -4,
                turns); // 0, 1, 2 or 3
  Value z = f.mul(r, r);
  SmallVector<double> odd, even{1};
  double term = 1;
  for (int n = 2; n <= 21; ++n) {
    term /= n * (n % 2 ? 1 : -1);
    (n % 2 ? odd : even).push_back(term);
  }
  Value sin = f.fma(f.mul(r, z), f.polynomial(z, odd), r),
        cos = f.polynomial(z, even);
  Value half = f.mul(turns, 0.5);
  Value isOdd = f.compare(ONE, f.nearest(f.add(half, -0.25)), half);
  Value size = f.select(isOdd, cos, sin);
  return f.select(f.compare(OGE, turns, 2), f.mul(size, -1), size);
}

Value tangent(const Formula &f, Value x) {
  return f.div(sine(f, x, 0), sine(f, x, 1));
}

/// The angle of (x, y); atan(t) of t up to tan(pi/8) by its series.
Value angle(const Formula &f, Value y, Value x) {
  Value height = f.abs(y), width = f.abs(x);
  Value isSteep = f.compare(OGT, height, width);
  Value low = f.select(isSteep, width, height),
        high = f.select(isSteep, height, width);
  Value isCorner = f.compare(OEQ, low, kInfinity);
  Value ratio =
      f.div(low, f.select(f.compare(OEQ, high, 0.0), f.number(1, y), high));
  ratio = f.select(isCorner, f.number(1, y), ratio);
  // atan(ratio), or pi/4 + atan((ratio - 1) / (ratio + 1)).
  Value isWide = f.compare(OGT, ratio, 0.41421356237309503);
  Value t = f.select(isWide, f.div(f.add(ratio, -1), f.add(ratio, 1)), ratio);
  Value z = f.mul(t, t);
  SmallVector<double> odd;
  for (int n = 3; n <= 43; n += 2)
    odd.push_back((n % 4 == 3 ? -1.0 : 1.0) / n);
  Value term = f.fma(f.mul(t, z), f.polynomial(z, odd), t);
  Value result = f.select(isWide, f.add(term, kPi / 4), term);
  result = f.select(isSteep, f.sub(f.number(kPi / 2, y), result), result);
  Value isLeft =
      f.compare(OLT, f.withSignOf(f.number(1, x), x), 0.0); // -0, too
  result = f.select(isLeft, f.sub(f.number(kPi, y), result), result);
  return f.select(f.compare(ORD, x, y), f.withSignOf(result, y), f.add(x, y));
}

/// e^(y log|x|), the product in two parts, with the sign and the special cases
/// of C's pow.
Value power(const Formula &f, Value x, Value y) {
  Value size = f.abs(x);
  Value isUsual =
      both(f, f.compare(OGT, size, 0.0), f.compare(OLT, size, kInfinity));
  Double log = logarithm(f, f.select(isUsual, size, f.number(1, x)));
  Value edge = f.select(f.compare(OEQ, size, 0.0), f.number(-kInfinity, x),
                        f.number(kInfinity, x));
  Value head = f.add(log.high, log.low);
  Value tail = f.add(f.sub(log.high, head), log.low);
  head = f.select(isUsual, head, edge);
  Value product = f.mul(y, head);
  Value rest = f.fma(y, tail, f.fma(y, head, f.mul(product, -1)));
  rest = f.select(f.compare(OLT, f.abs(product), 1e4), rest, f.number(0, rest));
  // 1^infinity is 1, not e^(infinity * 0).
  product = f.select(f.compare(OEQ, size, 1.0), f.number(0, x), product);
  Value result = exponential(f, product, rest);
  Value half = f.mul(y, 0.5);
  Value floor = math::FloorOp::create(f.b, f.loc, y);
  Value isInteger = f.compare(OEQ, floor, y);
  Value isOdd = f.compare(ONE, math::FloorOp::create(f.b, f.loc, half), half);
  result = f.select(both(f, isInteger, isOdd), f.withSignOf(result, x), result);
  Value isNegative =
      both(f, f.compare(OLT, x, 0.0), f.compare(OGT, x, -kInfinity));
  Value isFraction = f.compare(ONE, floor, y);
  result = f.select(both(f, isNegative, isFraction), f.number(kNaN, x), result);
  result = f.select(f.compare(ORD, x, y), result, f.add(x, y));
  Value isOne = arith::OrIOp::create(f.b, f.loc, f.compare(OEQ, x, 1.0),
                                     f.compare(OEQ, y, 0.0)); // for NaN, too
  return f.select(isOne, f.number(1, x), result);
}

} // namespace

/// Replaces the values by next(values) as long as goesOn(values) holds.
static SmallVector<Value> repeat(
    const Formula &f, ValueRange start,
    llvm::function_ref<Value(const Formula &, ValueRange)> goesOn,
    llvm::function_ref<SmallVector<Value>(const Formula &, ValueRange)> next) {
  auto loop = scf::WhileOp::create(
      f.b, f.loc, start.getTypes(), start,
      [&](OpBuilder &b, Location loc, ValueRange values) {
        scf::ConditionOp::create(b, loc, goesOn({b, loc}, values), values);
      },
      [&](OpBuilder &b, Location loc, ValueRange values) {
        scf::YieldOp::create(b, loc, next({b, loc}, values));
      });
  return SmallVector<Value>(loop.getResults());
}

/// |x| minus the multiples y 2^n that fit, from the largest on: each
/// subtraction is exact.
static Value remainder(const Formula &f, Value x, Value y) {
  Value left = f.abs(x), by = f.abs(y);
  Value isInteger =
      both(f, f.compare(OLT, left, kInfinity), f.compare(OEQ, by, kInfinity));
  Value isUsual =
      both(f, f.compare(OLT, left, kInfinity),
           both(f, f.compare(OGT, by, 0.0), f.compare(OLT, by, kInfinity)));
  left = f.select(isUsual, left, f.number(0, x));
  by = f.select(isUsual, by, f.number(1, x));
  Value largest = repeat(
      f, by,
      [&](const Formula &g, ValueRange v) {
        return g.compare(OLE, g.mul(v[0], 2), left);
      },
      [](const Formula &g, ValueRange v) {
        return SmallVector<Value>{g.mul(v[0], 2)};
      })[0];
  Value rest = repeat(
      f, {left, largest},
      [&](const Formula &g, ValueRange v) { return g.compare(OGE, v[1], by); },
      [](const Formula &g, ValueRange v) {
        Value fits = g.compare(OGE, v[0], v[1]);
        return SmallVector<Value>{g.select(fits, g.sub(v[0], v[1]), v[0]),
                                  g.mul(v[1], 0.5)};
      })[0];
  Value other = f.select(isInteger, x, f.number(kNaN, x));
  return f.select(isUsual, f.withSignOf(rest, x), other);
}

namespace {
struct RemainderLoop : OpRewritePattern<arith::RemFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::RemFOp op,
                                PatternRewriter &rewriter) const override {
    Formula f{rewriter, op.getLoc()};
    bool isShort = op.getType().getIntOrFloatBitWidth() < 32;
    Value x = op.getLhs(), y = op.getRhs();
    if (isShort) {
      x = arith::ExtFOp::create(rewriter, f.loc, rewriter.getF32Type(), x);
      y = arith::ExtFOp::create(rewriter, f.loc, rewriter.getF32Type(), y);
    }
    Value rest = remainder(f, x, y);
    if (isShort)
      rest = arith::TruncFOp::create(rewriter, f.loc, op.getType(), rest);
    rewriter.replaceOp(op, rest);
    return success();
  }
};
} // namespace

template <typename Op, Value (*function)(const Formula &, Value)>
static void addFunction(RewritePatternSet &patterns) {
  patterns.add<ByFormula<Op>>(
      patterns.getContext(), 64,
      [](const Formula &f, Op op) { return function(f, op.getOperand()); });
}

void populateDoubleMathPatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  addFunction<math::ExpOp, [](const Formula &f, Value x) {
    return exponential(f, x);
  }>(patterns);
  addFunction<math::ExpM1Op, exponentialLess1>(patterns);
  addFunction<math::LogOp, logarithmOf>(patterns);
  addFunction<math::Log1pOp, logarithmOfNext>(patterns);
  addFunction<math::TanhOp, hyperbolicTangent>(patterns);
  addFunction<math::ErfOp, errorFunction>(patterns);
  addFunction<math::ErfcOp, complementOfErrorFunction>(patterns);
  addFunction<math::CbrtOp, cubeRoot>(patterns);
  addFunction<math::SinOp, [](const Formula &f, Value x) {
    return f.select(f.compare(OEQ, x, 0.0), x, sine(f, x, 0)); // -0
  }>(patterns);
  addFunction<math::CosOp, [](const Formula &f, Value x) {
    return sine(f, x, 1);
  }>(patterns);
  addFunction<math::TanOp, [](const Formula &f, Value x) {
    return f.select(f.compare(OEQ, x, 0.0), x, tangent(f, x));
  }>(patterns);
  addFunction<math::AtanOp, [](const Formula &f, Value x) {
    return angle(f, x, f.number(1, x));
  }>(patterns);
  patterns.add<ByFormula<math::Atan2Op>>(
      context, 64, [](const Formula &f, math::Atan2Op op) {
        return angle(f, op.getLhs(), op.getRhs());
      });
  patterns.add<ByFormula<math::PowFOp>>(
      context, 64, [](const Formula &f, math::PowFOp op) {
        return power(f, op.getLhs(), op.getRhs());
      });
  patterns.add<RemainderLoop>(context);
}

} // namespace weft::elements
