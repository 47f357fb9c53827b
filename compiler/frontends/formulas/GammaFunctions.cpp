//===- GammaFunctions.cpp - the gamma function's family -------------------===//

#include "weft/compiler/frontends/formulas/RealTensor.h"

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
  explicit Lanczos(RealTensor z) : sum(z.number(kFirst)), slope(z.number(0)) {
    for (auto [i, term] : llvm::enumerate(kTerms)) {
      RealTensor place = z + (double(i) + 1);
      sum = sum + term / place;
      slope = slope - term / (place * place);
    }
  }
  RealTensor sum, slope;
};

RealTensor logOfT(RealTensor z) {
  return std::log(kG + 0.5) + log1p(z / (kG + 0.5));
}

/// x - 1, or -x for x below 1/2, where the functions of x are computed from
/// those of 1 - x.
RealTensor reflected(RealTensor x) { return (x < 0.5).select(-x, x - 1); }

RealTensor isInteger(RealTensor x) { return floor(x) == x; }

/// (-1)^n for an integer n.
RealTensor alternating(RealTensor n) {
  return (floor(n / 2) * 2 == n).select(n.number(1), n.number(-1));
}

} // namespace

RealTensor formulas::lgamma(RealTensor x) {
  RealTensor z = reflected(x), t = z + (kG + 0.5), logT = logOfT(z);
  RealTensor result = (z + 0.5 - t / logT) * logT + 0.5 * std::log(2 * kPi) +
                      log(Lanczos(z).sum);
  // log(pi / |sin(pi x)|) is computed from the distance to the nearest integer.
  RealTensor fraction = abs(x) - floor(abs(x));
  RealTensor mirror =
      log(sin(kPi * (fraction > 0.5).select(1 - fraction, fraction)));
  RealTensor below =
      (fraction == 0)
          .select(x.number(kInfinity), std::log(kPi) - mirror - result);
  return (abs(x) == kInfinity)
      .select(x.number(kInfinity), (x < 0.5).select(below, result));
}

RealTensor formulas::digamma(RealTensor x) {
  RealTensor z = reflected(x);
  Lanczos lanczos(z);
  RealTensor result =
      logOfT(z) + lanczos.slope / lanczos.sum - kG / (z + (kG + 0.5));
  RealTensor fraction = x - floor(x + 0.5);
  RealTensor below = result - kPi * cos(kPi * fraction) / sin(kPi * fraction);
  RealTensor poles = (x <= 0) & isInteger(x);
  return poles.select(x.number(kNan), (x < 0.5).select(below, result));
}

/// The Euler-Maclaurin formula: nine terms and half of the tenth, an integral
/// for the rest, and corrections by Bernoulli numbers (the coefficients are
/// (2k)! / B_2k).
RealTensor formulas::zeta(RealTensor x, RealTensor q) {
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
  RealTensor power = pow(q, -x), sum = power, place = q;
  for (int k = 0; k < 9; ++k) {
    place = place + 1;
    power = pow(place, -x);
    sum = sum + power;
  }
  sum = sum + power * place / (x - 1) - 0.5 * power;
  RealTensor factor = x.number(1);
  double k = 0;
  for (double coefficient : coefficients) {
    factor = factor * (x + k);
    power = power / place;
    sum = sum + factor * power / coefficient;
    factor = factor * (x + (k + 1));
    power = power / place;
    k += 2;
  }
  RealTensor beyond = isInteger(q).select(
      x.number(kInfinity), isInteger(x).select(sum, x.number(kNan)));
  RealTensor result = (q <= 0).select(beyond, sum);
  return (x < 1).select(x.number(kNan),
                        (x == 1).select(x.number(kInfinity), result));
}

RealTensor formulas::polygamma(RealTensor n, RealTensor x) {
  RealTensor order = n + 1;
  RealTensor higher = -alternating(n) * exp(lgamma(order)) * zeta(order, x);
  RealTensor result = (n == 0).select(digamma(x), higher);
  RealTensor wrong = (n < 0).select(
      n.number(1), isInteger(n).select(n.number(0), n.number(1)));
  return (wrong == 1).select(n.number(kNan), result);
}
