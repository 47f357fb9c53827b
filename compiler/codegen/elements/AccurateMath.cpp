//===- AccurateMath.cpp - f32 functions exact to a unit or two ------------===//

#include "weft/compiler/codegen/elements/AccurateMath.h"

#include "weft/compiler/codegen/elements/Formula.h"

#include <limits>
#include <numbers>

using namespace mlir;

namespace weft::elements {

namespace {

constexpr double kPi = std::numbers::pi;

using enum arith::CmpFPredicate;

/// x = turns * pi/2 + rest in f64, |rest| up to pi/4. pi/2 is split so that k
/// times its first part is exact for k below 2^20, and for every k with a fused
/// multiply-add.
struct Reduced {
  Value rest, turns;
};
Reduced reduced(const Formula &f, Value x) {
  Value wide = f.angle(f.widened(x));
  Value k = f.nearest(f.mul(wide, 2 / kPi));
  Value rest = f.fma(k, -1.57079632673412561417e+00, wide);
  return {f.fma(k, -6.07710050650619224932e-11, rest), k};
}

/// Whether an integer is odd.
Value isOdd(const Formula &f, Value turns) {
  Value half = f.mul(turns, 0.5);
  return f.compare(ONE, f.nearest(half), half);
}

/// sin(x + quarters * pi/2). The polynomials are Cephes' sinf and cosf.
Value sine(const Formula &f, Value x, int quarters) {
  auto [rest, k] = reduced(f, x);
  Value turns = f.add(k, quarters);
  turns = f.fma(math::FloorOp::create(f.b, f.loc, f.mul(turns, 0.25)), -4,
                turns); // quarters modulo 4
  Value r = f.narrowed(rest), z = f.mul(r, r);
  Value sin = f.fma(
      f.mul(r, z),
      f.polynomial(z, {-1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4}),
      r);
  Value cos = f.polynomial(z, {1, -0.5, 4.166664568298827e-2,
                               -1.388731625493765e-3, 2.443315711809948e-5});
  Value size = f.select(isOdd(f, turns), cos, sin);
  return f.select(f.compare(OGE, turns, 2),
                  arith::NegFOp::create(f.b, f.loc, size), size);
}

/// tan(rest), or -1 / tan(rest) after an odd number of quarters. The polynomial
/// is Cephes' tanf, in f64.
Value tangent(const Formula &f, Value x) {
  auto [r, turns] = reduced(f, x);
  Value z = f.mul(r, r);
  Value tan = f.fma(
      f.mul(r, z),
      f.polynomial(z, {3.33331568548e-1, 1.33387994085e-1, 5.34112807005e-2,
                       2.44301354525e-2, 3.11992232697e-3, 9.38540185543e-3}),
      r);
  Value odd = isOdd(f, turns);
  Value divisor = f.select(odd, tan, f.number(1, tan)); // This is never 0 / 0.
  return f.narrowed(f.select(odd, f.div(f.number(-1, tan), divisor), tan));
}

/// The angle of (x, y), in f64, with Cephes' atanf for arguments below
/// tan(pi/8).
Value angle(const Formula &f, Value y, Value x) {
  Value height = f.abs(y), width = f.abs(x);
  Value isSteep = f.compare(OGT, height, width);
  Value low = f.select(isSteep, width, height),
        high = f.select(isSteep, height, width);
  // atan(low / high), or pi/4 - atan((high - low) / (high + low)).
  Value isCorner = f.compare(OEQ, low, std::numeric_limits<double>::infinity());
  Value isWide = arith::OrIOp::create(
      f.b, f.loc, isCorner,
      f.compare(OGT, low, f.mul(high, 0.41421356237309503)));
  Value up = f.select(isWide, f.sub(high, low), low),
        down = f.select(isWide, f.add(high, low), high);
  Value hasNoRatio =
      arith::OrIOp::create(f.b, f.loc, isCorner, f.compare(OEQ, down, 0.0));
  Value t = f.select(hasNoRatio, f.number(0, y), f.div(up, down));
  Value z = f.mul(t, t);
  Value term = f.fma(f.mul(t, z),
                     f.polynomial(z, {-3.33329491539e-1, 1.99777106478e-1,
                                      -1.38776856032e-1, 8.05374449538e-2}),
                     t);
  Value result = f.select(isWide, f.sub(f.number(kPi / 4, y), term), term);
  result = f.select(isSteep, f.sub(f.number(kPi / 2, y), result), result);
  Value isLeft =
      f.compare(OLT, f.withSignOf(f.number(1, x), x), 0.0); // -0, too
  result = f.select(isLeft, f.sub(f.number(kPi, y), result), result);
  Value isNumber = f.compare(ORD, x, y);
  return f.select(isNumber, f.withSignOf(result, y), f.add(x, y));
}

/// The cube root: two of Halley's steps in f64 from a guess by a third of the
/// exponent.
Value cubeRoot(const Formula &f, Value x) {
  Value size = f.abs(f.widened(x));
  // Only the high word is divided: 32-bit integers are sufficient, and fast.
  Type i32 = f.b.getI32Type();
  Value third = arith::AddIOp::create(
      f.b, f.loc,
      arith::DivUIOp::create(f.b, f.loc, f.highWord(size), f.integer(3, i32)),
      f.integer(715094163, i32)); // B1 of FreeBSD's cbrt
  Value root = f.fromWords(third, /*low=*/{});
  for (int step = 0; step < 2; ++step) {
    Value cube = f.mul(f.mul(root, root), root);
    root = f.mul(root, f.div(f.fma(size, 2, cube), f.fma(cube, 2, size)));
  }
  Value isUsual = arith::AndIOp::create(
      f.b, f.loc, f.compare(OGT, size, 0.0),
      f.compare(OLT, size, std::numeric_limits<double>::infinity()));
  return f.select(isUsual, f.withSignOf(f.narrowed(root), x), x);
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// log2(size) in f64. Requires an extended f32 that is neither negative nor
/// NaN. size = 2^k * m, m from sqrt(1/2) to sqrt(2); log(m) = 2 (s + s^3/3 +
/// s^5/5...) with s = (m-1) / (m+1) and a relative error of 2e-12.
Value logarithm(const Formula &f, Value size) {
  Type i32 = f.b.getI32Type(), i64 = f.b.getI64Type();
  Value root = f.integer(0x3fe6a09e, i32); // the high word of sqrt(1/2)
  Value above = arith::SubIOp::create(f.b, f.loc, f.highWord(size), root);
  Value exponent =
      arith::ShRSIOp::create(f.b, f.loc, above, f.integer(20, i32));
  Value high = arith::AddIOp::create(
      f.b, f.loc,
      arith::AndIOp::create(f.b, f.loc, above, f.integer(0xfffff, i32)), root);
  Value low = arith::AndIOp::create(
      f.b, f.loc, arith::BitcastOp::create(f.b, f.loc, i64, size),
      f.integer(0xffffffff, i64));
  Value m = f.fromWords(high, low);
  Value k = arith::SIToFPOp::create(f.b, f.loc, f.b.getF64Type(), exponent);
  Value s = f.div(f.add(m, -1), f.add(m, 1)), z = f.mul(s, s);
  Value ofOne = f.polynomial(
      z, {1, 1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13});
  Value log = f.fma(f.mul(s, 2 * std::numbers::log2e), ofOne, k);
  log = f.select(f.compare(OEQ, size, 0.0), f.number(-kInfinity, log), log);
  return f.select(f.compare(OEQ, size, kInfinity), size, log);
}

/// 2^t in f64, to be rounded to f32: t is clamped to [-160, 160], beyond which
/// the f32 is 0 or infinity. The polynomial approximates e^(rest log 2), with a
/// relative error of 7e-12.
Value powerOfTwo(const Formula &f, Value t) {
  t = f.select(f.compare(OGT, t, -160), t, f.number(-160, t)); // NaN, too
  t = f.select(f.compare(OLT, t, 160), t, f.number(160, t));
  Value k = f.nearest(t);
  Value rest = f.mul(f.sub(t, k), std::numbers::ln2);
  Value size =
      f.polynomial(rest, {1, 1, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120,
                          1.0 / 720, 1.0 / 5040, 1.0 / 40320, 1.0 / 362880});
  Type i32 = f.b.getI32Type();
  Value exponent = arith::AddIOp::create(
      f.b, f.loc, arith::FPToSIOp::create(f.b, f.loc, i32, k),
      f.integer(1023, i32));
  Value high = arith::ShLIOp::create(f.b, f.loc, exponent, f.integer(20, i32));
  return f.mul(size, f.fromWords(high, /*low=*/{}));
}

/// 2^(y log2 |x|) in f64, with the sign and the special cases of C's pow.
Value power(const Formula &f, Value x, Value y) {
  Value base = f.widened(x), exponent = f.widened(y), size = f.abs(base);
  auto both = [&](Value a, Value b) -> Value {
    return arith::AndIOp::create(f.b, f.loc, a, b);
  };
  // 1^infinity is 1, not 2^(infinity * 0).
  Value t = f.select(f.compare(OEQ, size, 1.0), f.number(0, size),
                     f.mul(exponent, logarithm(f, size)));
  Value result = f.narrowed(powerOfTwo(f, t));
  Value rounded = f.nearest(exponent);
  Value isInteger = f.compare(OEQ, rounded, exponent);
  result = f.select(both(isInteger, isOdd(f, exponent)),
                    f.withSignOf(result, x), result);
  Value isNegative =
      both(f.compare(OLT, base, 0.0), f.compare(OGT, base, -kInfinity));
  Value isFraction = f.compare(ONE, rounded, exponent);
  Value nan = f.number(std::numeric_limits<double>::quiet_NaN(), result);
  result = f.select(both(isNegative, isFraction), nan, result);
  result = f.select(f.compare(ORD, x, y), result, f.add(x, y));
  Value isOne = arith::OrIOp::create(f.b, f.loc, f.compare(OEQ, x, 1.0),
                                     f.compare(OEQ, y, 0.0)); // also for NaN
  return f.select(isOne, f.number(1, result), result);
}

} // namespace

void populateAccurateMathPatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ByFormula<math::SinOp>>(
      context, 32, [](const Formula &f, math::SinOp op) {
        Value x = op.getOperand();
        return f.select(f.compare(OEQ, x, 0.0), x, sine(f, x, 0)); // -0
      });
  patterns.add<ByFormula<math::CosOp>>(context, 32,
                                       [](const Formula &f, math::CosOp op) {
                                         return sine(f, op.getOperand(), 1);
                                       });
  patterns.add<ByFormula<math::TanOp>>(
      context, 32, [](const Formula &f, math::TanOp op) {
        Value x = op.getOperand();
        return f.select(f.compare(OEQ, x, 0.0), x, tangent(f, x)); // -0
      });
  patterns.add<ByFormula<math::CbrtOp>>(context, 32,
                                        [](const Formula &f, math::CbrtOp op) {
                                          return cubeRoot(f, op.getOperand());
                                        });
  patterns.add<ByFormula<math::AtanOp>>(
      context, 32, [](const Formula &f, math::AtanOp op) {
        Value y = f.widened(op.getOperand());
        return f.narrowed(angle(f, y, f.number(1, y)));
      });
  patterns.add<ByFormula<math::Atan2Op>>(
      context, 32, [](const Formula &f, math::Atan2Op op) {
        return f.narrowed(
            angle(f, f.widened(op.getLhs()), f.widened(op.getRhs())));
      });
  patterns.add<ByFormula<math::PowFOp>>(
      context, 32, [](const Formula &f, math::PowFOp op) {
        return power(f, op.getLhs(), op.getRhs());
      });
}

} // namespace weft::elements
