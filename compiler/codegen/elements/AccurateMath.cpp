//===- AccurateMath.cpp - f32 functions exact to a unit or two ------------===//

#include "weft/compiler/codegen/elements/AccurateMath.h"

#include "weft/compiler/codegen/elements/Number.h"

#include <limits>
#include <numbers>

using namespace mlir;

namespace weft::elements {

namespace {

constexpr double kPi = std::numbers::pi,
                 kInfinity = std::numeric_limits<double>::infinity();

/// x = turns * pi/2 + rest in f64, |rest| up to pi/4. pi/2 is split so that k
/// times its first part is exact for k below 2^20, and for every k with a fused
/// multiply-add.
struct Reduced {
  Number rest, turns;
};
Reduced reduced(Number x) {
  Number wide = asAngle(widened(x));
  Number k = nearest(wide * (2 / kPi));
  Number rest = fma(k, -1.57079632673412561417e+00, wide);
  return {fma(k, -6.07710050650619224932e-11, rest), k};
}

/// Whether an integer is odd.
Number isOdd(Number turns) {
  Number half = turns * 0.5;
  return nearest(half) != half;
}

/// sin(x + quarters * pi/2). The polynomials are Cephes' sinf and cosf.
Number sine(Number x, int quarters) {
  auto [rest, k] = reduced(x);
  Number turns = k + quarters;
  turns = fma(floor(turns * 0.25), -4,
              turns); // quarters modulo 4
  Number r = narrowed(rest), z = r * r;
  Number sin = fma(
      r * z,
      polynomial(z, {-1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4}), r);
  Number cos = polynomial(z, {1, -0.5, 4.166664568298827e-2,
                              -1.388731625493765e-3, 2.443315711809948e-5});
  Number size = select(isOdd(turns), cos, sin);
  return select(turns >= 2, -size, size);
}

/// tan(rest), or -1 / tan(rest) after an odd number of quarters. The polynomial
/// is Cephes' tanf, in f64.
Number tangent(Number x) {
  auto [r, turns] = reduced(x);
  Number z = r * r;
  Number tan =
      fma(r * z,
          polynomial(z, {3.33331568548e-1, 1.33387994085e-1, 5.34112807005e-2,
                         2.44301354525e-2, 3.11992232697e-3, 9.38540185543e-3}),
          r);
  Number odd = isOdd(turns);
  Number divisor = select(odd, tan, tan.number(1)); // This is never 0 / 0.
  return narrowed(select(odd, tan.number(-1) / divisor, tan));
}

/// atan(low / high), in f64, with Cephes' atanf for arguments below tan(pi/8).
Number angleOfRatio(Number low, Number high) {
  // atan(low / high), or pi/4 - atan((high - low) / (high + low)).
  Number isCorner = low == kInfinity;
  Number isWide = isCorner | (low > high * 0.41421356237309503);
  Number up = select(isWide, high - low, low),
         down = select(isWide, high + low, high);
  Number hasNoRatio = isCorner | (down == 0.0);
  Number t = select(hasNoRatio, low.number(0), up / down);
  Number z = t * t;
  Number term = fma(t * z,
                    polynomial(z, {-3.33329491539e-1, 1.99777106478e-1,
                                   -1.38776856032e-1, 8.05374449538e-2}),
                    t);
  return select(isWide, low.number(kPi / 4) - term, term);
}

Number angle(Number y, Number x) { return angleBy(y, x, angleOfRatio); }

/// The cube root: two of Halley's steps in f64 from a guess by a third of the
/// exponent.
Number cubeRoot(Number x) {
  Number size = abs(widened(x));
  // Only the high word is divided: 32-bit integers are sufficient, and fast.
  Number high = highWord(size);
  Number third = high / 3 + 715094163; // B1 of FreeBSD's cbrt
  Number root = ofHighWord(third);
  for (int step = 0; step < 2; ++step) {
    Number cube = root * root * root;
    root = root * (fma(size, 2, cube) / fma(cube, 2, size));
  }
  Number isUsual = (size > 0) & (size < kInfinity);
  return select(isUsual, withSignOf(narrowed(root), x), x);
}

/// log2(size) in f64. Requires an extended f32 that is neither negative nor
/// NaN. size = 2^k * m, m from sqrt(1/2) to sqrt(2); log(m) = 2 (s + s^3/3 +
/// s^5/5...) with s = (m-1) / (m+1) and a relative error of 2e-12.
Number logarithm(Number size) {
  Number word = highWord(size);
  Number root = word.integer(0x3fe6a09e); // the high word of sqrt(1/2)
  Number above = word - root, exponent = halved(above, 20);
  Number high = (above & 0xfffff) + root, low = bitsOf(size) & 0xffffffff;
  Number m = ofBits(bitsOf(ofHighWord(high)) | low);
  Number k = exponent.to<arith::SIToFPOp>(size.builder().getF64Type());
  Number s = (m - 1) / (m + 1), z = s * s;
  Number ofOne = polynomial(
      z, {1, 1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13});
  Number log = fma(s * (2 * std::numbers::log2e), ofOne, k);
  log = select(size == 0.0, log.number(-kInfinity), log);
  return select(size == kInfinity, size, log);
}

/// 2^t in f64, to be rounded to f32: t is clamped to [-160, 160], beyond which
/// the f32 is 0 or infinity. The polynomial approximates e^(rest log 2), with a
/// relative error of 7e-12.
Number powerOfTwo(Number t) {
  t = select(t > -160, t, t.number(-160)); // NaN, too
  t = select(t < 160, t, t.number(160));
  Number k = nearest(t);
  Number rest = (t - k) * std::numbers::ln2;
  Number size =
      polynomial(rest, {1, 1, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720,
                        1.0 / 5040, 1.0 / 40320, 1.0 / 362880});
  Number exponent = k.to<arith::FPToSIOp>(k.builder().getI32Type()) + 1023;
  return size * ofHighWord(exponent << 20);
}

/// 2^(y log2 |x|) in f64, with the sign and the special cases of C's pow.
Number power(Number x, Number y) {
  Number base = widened(x), exponent = widened(y), size = abs(base);
  // 1^infinity is 1, not 2^(infinity * 0).
  Number t = select(size == 1.0, size.number(0), exponent * logarithm(size));
  Number result = narrowed(powerOfTwo(t));
  Number rounded = nearest(exponent);
  Number isInteger = rounded == exponent;
  result = select(isInteger & isOdd(exponent), withSignOf(result, x), result);
  Number isNegative = (base < 0) & (base > -kInfinity);
  Number isFraction = rounded != exponent;
  Number nan = result.number(std::numeric_limits<double>::quiet_NaN());
  result = select(isNegative & isFraction, nan, result);
  result = select(areNumbers(x, y), result, x + y);
  Number isOne = (x == 1) | (y == 0); // also for NaN
  return select(isOne, result.number(1), result);
}

} // namespace

void populateAccurateMathPatterns(RewritePatternSet &patterns) {
  auto add = [&]<typename Op>(Op, Number (*formula)(Numbers x)) {
    patterns.add<ByFormula<Op>>(patterns.getContext(), 32, formula);
  };
  add(math::SinOp(), [](Numbers x) {
    return select(x[0] == 0, x[0], sine(x[0], 0)); // -0
  });
  add(math::CosOp(), [](Numbers x) { return sine(x[0], 1); });
  add(math::TanOp(), [](Numbers x) {
    return select(x[0] == 0, x[0], tangent(x[0])); // -0
  });
  add(math::CbrtOp(), [](Numbers x) { return cubeRoot(x[0]); });
  add(math::AtanOp(), [](Numbers x) {
    Number y = widened(x[0]);
    return narrowed(angle(y, y.number(1)));
  });
  add(math::Atan2Op(),
      [](Numbers x) { return narrowed(angle(widened(x[0]), widened(x[1]))); });
  add(math::PowFOp(), [](Numbers x) { return power(x[0], x[1]); });
}

} // namespace weft::elements
