//===- GammaFunctions.cpp - the gamma function's family -------------------===//

#include "weft/compiler/frontends/formulas/Functions.h"

#include <cmath>

using namespace mlir;
using namespace weft;
using namespace weft::formulas;

namespace {

/// Lanczos' approximation with g = 7: Gamma(z + 1) is
/// sqrt(2 pi) t^(z + 1/2) e^-t (first + sum of c[i] / (z + 1 + i)), t = z + g + 1/2.
constexpr double kG = 7, kFirst = 0.99999999999980993227684700473478;
constexpr double kTerms[] = {
    676.520368121885098567009190444019, -1259.13921672240287047156078755283,
    771.3234287776530788486528258894,   -176.61502916214059906584551354,
    12.507343278686904814458936853,     -0.13857109526572011689554707,
    9.984369578019570859563e-6,         1.50563273514931155834e-7};

/// The sum in Lanczos' approximation, and its derivative with respect to z.
struct Lanczos {
  explicit Lanczos(Tensor z) : sum(z.number(kFirst)), slope(z.number(0)) {
    for (auto [i, term] : llvm::enumerate(kTerms)) {
      Tensor place = z + (double(i) + 1);
      sum = sum + term / place;
      slope = slope - term / (place * place);
    }
  }
  Tensor sum, slope;
};

Tensor logOfT(Tensor z) { return std::log(kG + 0.5) + log1p(z / (kG + 0.5)); }

/// x - 1, or -x for x below 1/2, where the functions of x are computed from
/// those of 1 - x.
Tensor reflected(Tensor x) { return select(x < 0.5, -x, x - 1); }

Tensor isInteger(Tensor x) { return floor(x) == x; }

/// (-1)^n for an integer n.
Tensor alternating(Tensor n) {
  return select(floor(n / 2) * 2 == n, n.number(1), n.number(-1));
}

} // namespace

Tensor formulas::lgamma(Tensor x) {
  Tensor z = reflected(x), t = z + (kG + 0.5), logT = logOfT(z);
  Tensor result = (z + 0.5 - t / logT) * logT + 0.5 * std::log(2 * kPi) +
                  log(Lanczos(z).sum);
  // log(pi / |sin(pi x)|) is computed from the distance to the nearest integer.
  Tensor fraction = abs(x) - floor(abs(x));
  Tensor mirror =
      log(sin(kPi * select(fraction > 0.5, 1 - fraction, fraction)));
  Tensor below = select(fraction == 0, x.number(kInfinity),
                        std::log(kPi) - mirror - result);
  return select(abs(x) == kInfinity, x.number(kInfinity),
                select(x < 0.5, below, result));
}

Tensor formulas::digamma(Tensor x) {
  Tensor z = reflected(x);
  Lanczos lanczos(z);
  Tensor result =
      logOfT(z) + lanczos.slope / lanczos.sum - kG / (z + (kG + 0.5));
  Tensor fraction = x - floor(x + 0.5);
  Tensor below = result - kPi * cos(kPi * fraction) / sin(kPi * fraction);
  Tensor poles = (x <= 0) & isInteger(x);
  return select(poles, x.number(kNan), select(x < 0.5, below, result));
}

/// The Euler-Maclaurin formula: nine terms and half of the tenth, an integral
/// for the rest, and corrections by Bernoulli numbers (the coefficients are
/// (2k)! / B_2k).
Tensor formulas::zeta(Tensor x, Tensor q) {
  constexpr double coefficients[] = {12,
                                     -720,
                                     30240,
                                     -1209600,
                                     47900160,
                                     -1.8924375803183791606e9,
                                     7.47242496e10,
                                     -2.950130727918164224e12,
                                     1.1646782814350067249e14,
                                     -4.5979787224074726105e15,
                                     1.8152105401943546773e17,
                                     -7.1661652561756670113e18};
  Tensor power = pow(q, -x), sum = power, place = q;
  for (int k = 0; k < 9; ++k) {
    place = place + 1;
    power = pow(place, -x);
    sum = sum + power;
  }
  sum = sum + power * place / (x - 1) - 0.5 * power;
  Tensor factor = x.number(1);
  double k = 0;
  for (double coefficient : coefficients) {
    factor = factor * (x + k);
    power = power / place;
    sum = sum + factor * power / coefficient;
    factor = factor * (x + (k + 1));
    power = power / place;
    k += 2;
  }
  Tensor beyond = select(isInteger(q), x.number(kInfinity),
                         select(isInteger(x), sum, kNan));
  Tensor result = select(q <= 0, beyond, sum);
  return select(x < 1, x.number(kNan), select(x == 1, kInfinity, result));
}

Tensor formulas::polygamma(Tensor n, Tensor x) {
  Tensor order = n + 1;
  Tensor higher = -alternating(n) * exp(lgamma(order)) * zeta(order, x);
  Tensor result = select(n == 0, digamma(x), higher);
  Tensor wrong = select(n < 0, n.number(1),
                        select(isInteger(n), n.number(0), n.number(1)));
  return select(wrong == 1, kNan, result);
}
