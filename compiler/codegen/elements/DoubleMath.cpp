//===- DoubleMath.cpp - f64 functions in arithmetic -----------------------===//

#include "weft/compiler/codegen/elements/DoubleMath.h"

#include "weft/compiler/codegen/elements/Number.h"

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

Number lesser(Number x, double y) { // y of NaN
  return select(x < y, x, x.number(y));
}
Number greater(Number x, double y) { return select(x > y, x, x.number(y)); }
Number orNaN(Number x, Number result) {
  return select(areNumbers(x, x), result, x);
}

/// 2^k for an integer k from -1022 to 1023: the lowest bits of k + 1.5 * 2^52
/// are k. Vectors of AVX2 have no conversion to integers of 64 bits.
Number powerOfTwo(Number k) {
  return ofBits(bitsOf(k + (0x1.8p52 + 1023)) << 52);
}

/// The terms x^first / first! to x^last / last! of the series of e^x, divided
/// by the first term.
Number exponentialSeries(Number x, int first, int last) {
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
  return polynomial(x, coefficients);
}

/// e^(x + rest), rest far below x.
Number exponential(Number x, Number rest = {}) {
  Number bounded = greater(lesser(x, 710), -746);
  Number k = nearest(bounded * std::numbers::log2e);
  Number r = fma(k, -kLog2, bounded);
  r = fma(k, -kLog2Rest, r);
  if (rest)
    r = r + select(abs(rest) < 1.0, rest, rest.number(0));
  Number size = exponentialSeries(r, 0, 14);
  Number half = nearest(k * 0.5), other = k - half;
  size = size * powerOfTwo(half) * powerOfTwo(other);
  return orNaN(x, size);
}

/// A number in two parts, the second far below the first.
struct Double {
  Number high, low;
};

/// x = 2^k m of a positive finite number, m from sqrt(1/2) to sqrt(2).
struct Scaled {
  Number k, m;
};

Scaled scaled(Number x) {
  constexpr int64_t kRoot = 0x3fe6a09e667f3bcd; // sqrt(1/2)
  Number isSmall = x < 0x1p-1022;
  Number bits = bitsOf(select(isSmall, x * 0x1p54, x));
  // k + 1024, which is positive, in the exponent's bits.
  Number above = bits + bits.integer((int64_t(1024) << 52) - kRoot);
  Number m = ofBits((above & ((int64_t(1) << 52) - 1)) + bits.integer(kRoot));
  Number exponent = above >> 52;
  Number shifted =
      ofBits(exponent | exponent.integer(0x4330000000000000)); // 2^52
  Number k = shifted + (-0x1p52 - 1024);
  return {select(isSmall, k - 54, k), m};
}

/// log(x) of a positive finite number: log(m) = 2 (s + s^3/3 + ...) of
/// s = (m - 1) / (m + 1).
Double logarithm(Number x) {
  auto [k, m] = scaled(x);
  Number up = m - 1, down = m + 1;
  Number lost = m - (down - 1); // rounding error of m + 1
  Number s = up / down;
  Number left = fma(s, -1, s.number(0)); // -s
  left = fma(left, lost, fma(left, down, up)) / down;
  Number z = s * s;
  SmallVector<double> odd;
  for (int n = 3; n <= 27; n += 2)
    odd.push_back(2.0 / n);
  Number series = z * s * polynomial(z, odd);
  // k log 2 + 2 s with its rounding error: the larger term comes first.
  Number a = k * kLog2, b = s * 2;
  Number high = a + b;
  Number isFirst = k == 0.0;
  Number low = a - high + b;
  low = select(isFirst, low.number(0), low);
  low = fma(k, kLog2Rest, low) + left * 2 + series;
  return {high, low};
}

/// The same in one part, by the polynomial of fdlibm's e_log.c: with h = m - 1
/// the term h - h^2/2 is exact enough that s needs no second part.
Number roundedLogarithm(Number x) {
  auto [k, m] = scaled(x);
  Number h = m - 1, half = h * h * 0.5;
  Number s = h / (h + 2), z = s * s;
  Number series =
      z * polynomial(z, {6.666666666666735130e-01, 3.999999999940941908e-01,
                         2.857142874366239149e-01, 2.222219843214978396e-01,
                         1.818357216161805012e-01, 1.531383769920937332e-01,
                         1.479819860511658591e-01});
  Number small = fma(k, kLog2Rest, s * (half + series));
  return fma(k, kLog2, small - half + h);
}

/// log x, with IEEE 754's results for 0, infinity, NaN and negative numbers.
Number logarithmOf(Number x) {
  Number isUsual = (x > 0.0) & (x < kInfinity);
  Number log = roundedLogarithm(select(isUsual, x, x.number(1)));
  Number other = select(x == 0.0, x.number(-kInfinity), x.number(kNaN));
  other = select(x == kInfinity, x, other);
  return select(isUsual, log, orNaN(x, other));
}

/// log(1 + x). With u = 1 + x, rounded, log(u) x / (u - 1) cancels the rounding
/// error of u.
Number logarithmOfNext(Number x) {
  Number u = x + 1, apart = u - 1;
  Number isTiny = apart == 0.0;
  Number ratio = x / select(isTiny, x.number(1), apart);
  Number log = logarithmOf(u) * ratio;
  log = select(isTiny, x, log);
  return select(x == kInfinity, x, log);
}

Number exponentialLess1(Number x) {
  Number small = x * exponentialSeries(x, 1, 18);
  return select(abs(x) < 0.5, small, exponential(x) - 1);
}

Number hyperbolicTangent(Number x) {
  Number t = exponentialLess1(lesser(abs(x), 22) * 2);
  Number size = t / (t + 2);
  return orNaN(x, withSignOf(size, x));
}

/// Builds a loop that runs `count` times with n = count, ..., 1 as an f64.
Number loop(int64_t count, Number start,
            llvm::function_ref<Number(Number n, Number sum)> next) {
  Type i64 = start.builder().getI64Type();
  auto loop = scf::ForOp::create(
      start.builder(), Value(start).getLoc(), start.integer(0, i64),
      start.integer(count, i64), start.integer(1, i64), Value(start),
      [&](OpBuilder &inner, Location loc, Value i, ValueRange sums) {
        Number n = start.integer(count, i64) - start.with(i);
        n = n.to<arith::SIToFPOp>(inner.getF64Type());
        scf::YieldOp::create(inner, loc, Value(next(n, start.with(sums[0]))));
      });
  return start.with(loop.getResult(0));
}

/// 2/sqrt(pi) x e^(-z) (1 + 2z/3 (1 + 2z/5 (1 + ...))), z = x^2, whose terms
/// are positive; above 2.5 1 - e^(-z) / (sqrt(pi) (x + 1/2 / (x + 2/2 / (x +
/// ...)))).
Number errorFunction(Number x) {
  Number size = lesser(abs(x), 6), z = size * size;
  Number lost = fma(size, size, -z); // the square's rounding error
  Number falling = exponential(-z, -lost);
  Number twice = z * 2;
  Number sum = loop(60, z.number(1), [&](Number n, Number sum) {
    Number odd = n * 2 + 1;
    return twice / odd * sum + 1;
  });
  sum = size * (2 * std::numbers::inv_sqrtpi) * falling * sum;
  Number isLarge = size > 2.5;
  Number safe = select(isLarge, size, x.number(1));
  Number fraction = loop(
      60, safe, [&](Number n, Number part) { return n * 0.5 / part + safe; });
  Number rest = falling / fraction * std::numbers::inv_sqrtpi;
  Number result = select(isLarge, x.number(1) - rest, sum);
  return orNaN(x, withSignOf(result, x));
}

/// 1 - erf(x) for |x| up to 1, above it e^(-x^2) times a ratio of polynomials,
/// those of Cephes' ndtr.c.
Number complementOfErrorFunction(Number x) {
  Number size = lesser(abs(x), 28), z = size * size;
  Number lost = fma(size, size, -z); // the square's rounding error
  Number falling = exponential(-z, -lost);
  Number near =
      polynomial(size, {5.57535335369399327526e2, 1.02755188689515710272e3,
                        9.34528527171957607540e2, 5.26445194995477358631e2,
                        1.96520832956077098242e2, 4.86371970985681366614e1,
                        7.46321056442269912687e0, 5.64189564831068821977e-1,
                        2.46196981473530512524e-10}) /
      polynomial(size, {5.57535340817727675546e2, 1.65666309194161350182e3,
                        2.24633760818710981792e3, 1.82390916687909736289e3,
                        9.75708501743205489753e2, 3.54937778887819891062e2,
                        8.67072140885989742329e1, 1.32281951154744992508e1, 1});
  Number far =
      polynomial(size, {2.97886665372100240670e0, 7.40974269950448939160e0,
                        6.16021097993053585195e0, 5.01905042251180477414e0,
                        1.27536670759978104416e0, 5.64189583547755073984e-1}) /
      polynomial(size, {3.36907645100081516050e0, 9.60896809063285878198e0,
                        1.70814450747565897222e1, 1.20489539808096656605e1,
                        9.39603524938001434673e0, 2.26052863220117276590e0, 1});
  Number tail = falling * select(size < 8.0, near, far);
  tail = select(x < 0.0, x.number(2) - tail, tail);
  Number middle = x.number(1) - errorFunction(x);
  Number result = select(size < 1.0, middle, tail);
  return orNaN(x, result);
}

/// The cube root: a guess by the logarithm, then one of Newton's steps; tiny
/// numbers are scaled.
Number cubeRoot(Number x) {
  Number size = abs(x), isTiny = size < 0x1p-900;
  Number isUsual = (size > 0.0) & (size < kInfinity);
  Number scaled = select(isTiny, size * 0x1p300, size);
  scaled = select(isUsual, scaled, x.number(1));
  Double log = logarithm(scaled);
  Number root = exponential((log.high + log.low) / x.number(3));
  Number square = root * root;
  Number off = fma(root, square, -scaled);
  root = root - off / (square * 3);
  root = select(isTiny, root * 0x1p-100, root);
  return select(isUsual, withSignOf(root, x), x);
}

/// sin(x + quarters pi/2). pi/2 is in three parts.
Number sine(Number x, int quarters) {
  x = asAngle(x);
  Number k = nearest(x * (2 / kPi));
  Number r = fma(k, -0x1.921fb54442d18p0, x);
  r = fma(k, -0x1.1a62633145c07p-54, r);
  r = fma(k, 0x1.f1976b7ed8fbcp-110, r);
  Number turns = k + quarters;
  turns = fma(floor(turns * 0.25), -4, turns); // 0, 1, 2 or 3
  Number z = r * r;
  SmallVector<double> odd, even{1};
  double term = 1;
  for (int n = 2; n <= 21; ++n) {
    term /= n * (n % 2 ? 1 : -1);
    (n % 2 ? odd : even).push_back(term);
  }
  Number sin = fma(r * z, polynomial(z, odd), r), cos = polynomial(z, even);
  Number half = turns * 0.5;
  Number isOdd = nearest(half - 0.25) != half;
  Number size = select(isOdd, cos, sin);
  return select(turns >= 2, -size, size);
}

Number tangent(Number x) { return sine(x, 0) / sine(x, 1); }

/// atan(low / high); atan(t) of t up to tan(pi/8) by its series.
Number angleOfRatio(Number low, Number high) {
  Number isCorner = low == kInfinity;
  Number ratio = low / select(high == 0.0, low.number(1), high);
  ratio = select(isCorner, low.number(1), ratio);
  // atan(ratio), or pi/4 + atan((ratio - 1) / (ratio + 1)).
  Number isWide = ratio > 0.41421356237309503;
  Number t = select(isWide, (ratio - 1) / (ratio + 1), ratio);
  Number z = t * t;
  SmallVector<double> odd;
  for (int n = 3; n <= 43; n += 2)
    odd.push_back((n % 4 == 3 ? -1.0 : 1.0) / n);
  Number term = fma(t * z, polynomial(z, odd), t);
  return select(isWide, term + (kPi / 4), term);
}

Number angle(Number y, Number x) { return angleBy(y, x, angleOfRatio); }

/// e^(y log|x|), the product in two parts, with the sign and the special cases
/// of C's pow.
Number power(Number x, Number y) {
  Number size = abs(x);
  Number isUsual = (size > 0.0) & (size < kInfinity);
  Double log = logarithm(select(isUsual, size, x.number(1)));
  Number edge = select(size == 0.0, x.number(-kInfinity), x.number(kInfinity));
  Number head = log.high + log.low;
  Number tail = log.high - head + log.low;
  head = select(isUsual, head, edge);
  Number product = y * head;
  Number rest = fma(y, tail, fma(y, head, -product));
  rest = select(abs(product) < 1e4, rest, rest.number(0));
  // 1^infinity is 1, not e^(infinity * 0).
  product = select(size == 1.0, x.number(0), product);
  Number result = exponential(product, rest);
  Number half = y * 0.5;
  Number whole = floor(y);
  Number isInteger = whole == y;
  Number isOdd = floor(half) != half;
  result = select(isInteger & isOdd, withSignOf(result, x), result);
  Number isNegative = (x < 0) & (x > -kInfinity);
  Number isFraction = whole != y;
  result = select(isNegative & isFraction, x.number(kNaN), result);
  result = select(areNumbers(x, y), result, x + y);
  Number isOne = (x == 1.0) | (y == 0.0); // for NaN, too
  return select(isOne, x.number(1), result);
}

} // namespace

/// Replaces the values by next(values) as long as goesOn(values) holds.
static SmallVector<Number>
repeat(SmallVector<Number> start, llvm::function_ref<Number(Numbers)> goesOn,
       llvm::function_ref<SmallVector<Number>(Numbers)> next) {
  auto numbers = [&](ValueRange values) {
    return llvm::map_to_vector(values,
                               [&](Value v) { return start[0].with(v); });
  };
  auto first = SmallVector<Value>(Numbers(start));
  auto loop = scf::WhileOp::create(
      start[0].builder(), first[0].getLoc(), ValueRange(first).getTypes(),
      first,
      [&](OpBuilder &b, Location loc, ValueRange values) {
        scf::ConditionOp::create(b, loc, goesOn(numbers(values)), values);
      },
      [&](OpBuilder &b, Location loc, ValueRange values) {
        scf::YieldOp::create(
            b, loc, SmallVector<Value>(Numbers(next(numbers(values)))));
      });
  return numbers(loop.getResults());
}

/// |x| minus the multiples y 2^n that fit, from the largest on: each
/// subtraction is exact.
static Number remainder(Number x, Number y) {
  Number left = abs(x), by = abs(y);
  Number isInteger = (left < kInfinity) & (by == kInfinity);
  Number isUsual = (left < kInfinity) & ((by > 0.0) & (by < kInfinity));
  left = select(isUsual, left, x.number(0));
  by = select(isUsual, by, x.number(1));
  Number largest = repeat(
      {by}, [&](Numbers v) { return v[0] * 2 <= left; },
      [](Numbers v) { return SmallVector<Number>{v[0] * 2}; })[0];
  Number rest = repeat(
      {left, largest}, [&](Numbers v) { return v[1] >= by; },
      [](Numbers v) {
        Number fits = v[0] >= v[1];
        return SmallVector<Number>{select(fits, v[0] - v[1], v[0]), v[1] * 0.5};
      })[0];
  Number other = select(isInteger, x, x.number(kNaN));
  return select(isUsual, withSignOf(rest, x), other);
}

namespace {
struct RemainderLoop : OpRewritePattern<arith::RemFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::RemFOp op,
                                PatternRewriter &rewriter) const override {
    bool isShort = op.getType().getIntOrFloatBitWidth() < 32;
    Number x(rewriter, op.getLoc(), op.getLhs()), y = x.with(op.getRhs());
    Type wide = rewriter.getF32Type();
    Number rest = isShort ? remainder(x.to<arith::ExtFOp>(wide),
                                      y.to<arith::ExtFOp>(wide))
                                .to<arith::TruncFOp>(op.getType())
                          : remainder(x, y);
    rewriter.replaceOp(op, Value(rest));
    return success();
  }
};
} // namespace

template <typename Op>
static void addFormula(RewritePatternSet &patterns, Op,
                       Number (*formula)(Numbers x)) {
  patterns.add<ByFormula<Op>>(patterns.getContext(), 64, formula);
}

void populateDoubleExponentialPatterns(RewritePatternSet &patterns) {
  auto add = [&]<typename Op>(Op op, Number (*formula)(Numbers x)) {
    addFormula(patterns, op, formula);
  };
  add(math::ExpOp(), [](Numbers x) { return exponential(x[0]); });
  add(math::ExpM1Op(), [](Numbers x) { return exponentialLess1(x[0]); });
  add(math::LogOp(), [](Numbers x) { return logarithmOf(x[0]); });
  add(math::Log1pOp(), [](Numbers x) { return logarithmOfNext(x[0]); });
  add(math::TanhOp(), [](Numbers x) { return hyperbolicTangent(x[0]); });
}

void populateDoubleMathPatterns(RewritePatternSet &patterns) {
  auto add = [&]<typename Op>(Op op, Number (*formula)(Numbers x)) {
    addFormula(patterns, op, formula);
  };
  populateDoubleExponentialPatterns(patterns);
  add(math::ErfOp(), [](Numbers x) { return errorFunction(x[0]); });
  add(math::ErfcOp(),
      [](Numbers x) { return complementOfErrorFunction(x[0]); });
  add(math::CbrtOp(), [](Numbers x) { return cubeRoot(x[0]); });
  add(math::SinOp(), [](Numbers x) {
    return select(x[0] == 0, x[0], sine(x[0], 0)); // -0
  });
  add(math::CosOp(), [](Numbers x) { return sine(x[0], 1); });
  add(math::TanOp(),
      [](Numbers x) { return select(x[0] == 0, x[0], tangent(x[0])); });
  add(math::AtanOp(), [](Numbers x) { return angle(x[0], x[0].number(1)); });
  add(math::Atan2Op(), [](Numbers x) { return angle(x[0], x[1]); });
  add(math::PowFOp(), [](Numbers x) { return power(x[0], x[1]); });
  patterns.add<RemainderLoop>(patterns.getContext());
}

} // namespace weft::elements
