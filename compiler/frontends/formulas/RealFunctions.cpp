//===- RealFunctions.cpp - inverse, hyperbolic, error and Bessel's --------===//
//
// A formula whose terms overflow for some numbers gets others in their place,
// so that its derivative, taken op by op, is no NaN.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/frontends/formulas/Functions.h"

#include <cmath>
#include <limits>
#include <numbers>

using namespace mlir;
using namespace weft;
using namespace weft::formulas;

namespace {

constexpr double kLog2 = std::numbers::ln2;

/// The square root of the largest number of the type.
double rootOfLargest(Tensor x) {
  return std::sqrt(x.isDouble() ? std::numeric_limits<double>::max()
                                : std::numeric_limits<float>::max());
}

/// c[0] x^(n-1) + ... + c[n-1].
Tensor polynomial(Tensor x, ArrayRef<double> coefficients) {
  Tensor sum = x.number(coefficients.front());
  for (double coefficient : coefficients.drop_front())
    sum = sum * x + coefficient;
  return sum;
}

/// The sum of Chebyshev polynomials of x / 2 by Clenshaw's method; the
/// coefficient of the highest one is first.
Tensor chebyshev(Tensor x, ArrayRef<double> coefficients) {
  Tensor last = x.number(0), before = last, sum = last;
  for (double coefficient : coefficients) {
    before = last;
    last = sum;
    sum = x * last - before + coefficient;
  }
  return (sum - before) * 0.5;
}

} // namespace

Tensor formulas::acos(Tensor x) {
  Tensor angle = 2 * atan2(sqrt((1 - x) * (1 + x)), 1 + x);
  return select(x == -1, kPi, angle);
}

Tensor formulas::asin(Tensor x) {
  return 2 * atan2(x, 1 + sqrt((1 - x) * (1 + x)));
}

Tensor formulas::atan(Tensor x) { return atan2(x, x.number(1)); }

Tensor formulas::acosh(Tensor x) {
  Tensor isLarge = x > rootOfLargest(x), near = select(isLarge, 1, x);
  Tensor above = near - 1;
  Tensor usual = log1p(above + sqrt(above * (near + 1)));
  Tensor result = select(isLarge, log(x) + kLog2, usual);
  return select(x < 1, kNan, result);
}

Tensor formulas::asinh(Tensor x) {
  Tensor size = abs(x), isLarge = size > rootOfLargest(x);
  Tensor near = select(isLarge, 1, size), square = near * near;
  Tensor usual = log1p(near + square / (1 + sqrt(square + 1)));
  Tensor far = log(select(isLarge, size, 1)) + kLog2;
  Tensor result = select(isLarge, far, usual);
  return select(x == 0, x, sign(x) * result);
}

Tensor formulas::atanh(Tensor x) {
  Tensor result = 0.5 * (log1p(x) - log1p(-x));
  return select(abs(x) > 1, kNan, result);
}

/// The factor 1/2 is moved into the exponents, as e^x may overflow.
Tensor formulas::cosh(Tensor x) { return exp(x - kLog2) + exp(-x - kLog2); }

Tensor formulas::sinh(Tensor x) {
  Tensor isSmall = abs(x) < 1;
  Tensor grown = expm1(select(isSmall, x, 0));
  Tensor small = 0.5 * (grown + grown / (grown + 1));
  return select(isSmall, small, exp(x - kLog2) - exp(-x - kLog2));
}

/// The polynomials in w = -log(1 - x^2) of M. Giles, "Approximating the erfinv
/// function", 2010, in single and in double precision.
static Tensor singleErfInv(Tensor x, Tensor w) {
  Tensor middle =
      polynomial(w - 2.5, {2.81022636e-08, 3.43273939e-07, -3.5233877e-06,
                           -4.39150654e-06, 0.00021858087, -0.00125372503,
                           -0.00417768164, 0.246640727, 1.50140941});
  Tensor tail =
      polynomial(sqrt(w) - 3, {-0.000200214257, 0.000100950558, 0.00134934322,
                               -0.00367342844, 0.00573950773, -0.0076224613,
                               0.00943887047, 1.00167406, 2.83297682});
  return select(w < 5, middle, tail) * x;
}

static Tensor doubleErfInv(Tensor x, Tensor w) {
  Tensor middle = polynomial(
      w - 3.125, {-3.6444120640178196996e-21, -1.685059138182016589e-19,
                  1.2858480715256400167e-18,  1.115787767802518096e-17,
                  -1.333171662854620906e-16,  2.0972767875968561637e-17,
                  6.6376381343583238325e-15,  -4.0545662729752068639e-14,
                  -8.1519341976054721522e-14, 2.6335093153082322977e-12,
                  -1.2975133253453532498e-11, -5.4154120542946279317e-11,
                  1.051212273321532285e-09,   -4.1126339803469836976e-09,
                  -2.9070369957882005086e-08, 4.2347877827932403518e-07,
                  -1.3654692000834678645e-06, -1.3882523362786468719e-05,
                  0.0001867342080340571352,   -0.00074070253416626697512,
                  -0.0060336708714301490533,  0.24015818242558961693,
                  1.6536545626831027356});
  Tensor outer = polynomial(
      sqrt(w) - 3.25,
      {2.2137376921775787049e-09, 9.0756561938885390979e-08,
       -2.7517406297064545428e-07, 1.8239629214389227755e-08,
       1.5027403968909827627e-06, -4.013867526981545969e-06,
       2.9234449089955446044e-06, 1.2475304481671778723e-05,
       -4.7318229009055733981e-05, 6.8284851459573175448e-05,
       2.4031110387097893999e-05, -0.0003550375203628474796,
       0.00095328937973738049703, -0.0016882755560235047313,
       0.0024914420961078508066, -0.0037512085075692412107,
       0.005370914553590063617, 1.0052589676941592334, 3.0838856104922207635});
  Tensor tail = polynomial(
      sqrt(w) - 5, {-2.7109920616438573243e-11, -2.5556418169965252055e-10,
                    1.5076572693500548083e-09, -3.7894654401267369937e-09,
                    7.6157012080783393804e-09, -1.4960026627149240478e-08,
                    2.9147953450901080826e-08, -6.7711997758452339498e-08,
                    2.2900482228026654717e-07, -9.9298272942317002539e-07,
                    4.5260625972231537039e-06, -1.9681778105531670567e-05,
                    7.5995277030017761139e-05, -0.00021503011930044477347,
                    -0.00013871931833623122026, 1.0103004648645343977,
                    4.8499064014085844221});
  return select(w < 6.25, middle, select(w < 16, outer, tail)) * x;
}

Tensor formulas::erfInv(Tensor x) {
  Tensor w = -log1p(-(x * x));
  Tensor result = x.isDouble() ? doubleErfInv(x, w) : singleErfInv(x, w);
  return select(abs(x) == 1, x * kInfinity, result);
}

/// The Chebyshev series of e^-|x| I1(x) from Cephes, for |x| up to 8 and above.
Tensor formulas::besselI1e(Tensor x) {
  constexpr double near[] = {
      2.77791411276104639959e-18, -2.11142121435816608115e-17,
      1.55363195773620046921e-16, -1.10559694773538630805e-15,
      7.60068429473540693410e-15, -5.04218550472791168711e-14,
      3.22379336594557470981e-13, -1.98397439776494371520e-12,
      1.17361862988909016308e-11, -6.66348972350202774223e-11,
      3.62559028155211703701e-10, -1.88724975172282928790e-9,
      9.38153738649577178388e-9,  -4.44505912879632808065e-8,
      2.00329475355213526229e-7,  -8.56872026469545474066e-7,
      3.47025130813767847674e-6,  -1.32731636560394358279e-5,
      4.78156510755005422638e-5,  -1.61760815825896745588e-4,
      5.12285956168575772895e-4,  -1.51357245063125314899e-3,
      4.15642294431288815669e-3,  -1.05640848946261981558e-2,
      2.47264490306265168283e-2,  -5.29459812080949914269e-2,
      1.02643658689847095384e-1,  -1.76416518357834055153e-1,
      2.52587186443633654823e-1};
  constexpr double far[] = {
      7.51729631084210481353e-18,  4.41434832307170791151e-18,
      -4.65030536848935832153e-17, -3.20952592199342395980e-17,
      2.96262899764595013876e-16,  3.30820231092092828324e-16,
      -1.88035477551078244854e-15, -3.81440307243700780478e-15,
      1.04202769841288027642e-14,  4.27244001671195135429e-14,
      -2.10154184277266431302e-14, -4.08355111109219731823e-13,
      -7.19855177624590851209e-13, 2.03562854414708950722e-12,
      1.41258074366137813316e-11,  3.25260358301548823856e-11,
      -1.89749581235054123450e-11, -5.58974346219658380687e-10,
      -3.83538038596423702205e-9,  -2.63146884688951950684e-8,
      -2.51223623787020892529e-7,  -3.88256480887769039346e-6,
      -1.10588938762623716291e-4,  -9.76109749136146840777e-3,
      7.78576235018280120474e-1};
  Tensor size = abs(x);
  Tensor small = chebyshev(size * 0.5 - 2, near) * size;
  Tensor large = chebyshev(32 / size - 2, far) / sqrt(size);
  return select(x < 0, x.number(-1), x.number(1)) *
         select(size <= 8, small, large);
}
