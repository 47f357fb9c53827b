//===- double-functions-test.cpp - f64 functions of CPU kernels -----------===//
//
// Oracle: long double, whose 64 bits of mantissa are those of an f64 and 11
// more, and IEEE 754's results for special values.
//
//===----------------------------------------------------------------------===//

#include "weft/test/unit/codegen-kernels.h"

#include <cmath>
#include <limits>

using weft::test::Buffer;
using weft::test::function;
using weft::test::Kernels;
using weft::test::testTarget;

namespace {

struct Function {
  const char *op;
  long double (*meaning)(long double);
  double low, high;
  double allowed; ///< units in the last place
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The distance from the exact value in units of the last place; 0 for equal
/// infinities and NaN.
double distance(double value, long double exact) {
  auto rounded = double(exact);
  if (value == rounded || (std::isnan(value) && std::isnan(rounded)))
    return std::signbit(value) == std::signbit(rounded) || std::isnan(value)
               ? 0
               : kInfinity;
  double unit =
      std::nextafter(std::fabs(rounded), kInfinity) - std::fabs(rounded);
  return double(std::fabs(value - exact)) / unit;
}

} // namespace

TEST_CASE("exponentials and logarithms of f64 are exact to three units") {
  const Function functions[] = {{"exp", std::exp, -700, 709, 1},
                                {"exp", std::exp, -745, -700, 1},
                                {"exp", std::exp, -1, 1, 1},
                                {"expm1", std::expm1, -40, 40, 2},
                                {"expm1", std::expm1, -1e-3, 1e-3, 2},
                                {"log", std::log, 1e-300, 1e300, 1},
                                {"log", std::log, 0.5, 2, 1},
                                {"log", std::log, 1e-320, 1e-309, 1},
                                {"log1p", std::log1p, -0.999, 3, 3},
                                {"log1p", std::log1p, 0, 1e6, 3},
                                {"tanh", std::tanh, -20, 20, 3},
                                {"tanh", std::tanh, -1e-3, 1e-3, 3}};
  const double special[] = {0.0,        -0.0,         1.0,    -1.0,  kInfinity,
                            -kInfinity, std::nan(""), 5e-324, 800.0, -800.0,
                            -2.0,       1e300,        -1e300};
  constexpr int kCount = 1003;
  for (const char *target : {testTarget(), "cpu:generic"})
    for (const Function &f : functions) {
      std::string type = "tensor<" + std::to_string(kCount) + "xf64>";
      Kernels kernels(function("elementwise", "(%x: " + type + ") -> " + type,
                               "%0 = weft." + std::string(f.op) + " %x : " +
                                   type + "\nreturn %0 : " + type + "\n"),
                      target);
      Buffer<double> x(kCount, 0, 1), y(kCount);
      for (int i = 0; i < kCount; ++i)
        x[i] = f.low + x[i] * (f.high - f.low);
      std::copy(std::begin(special), std::end(special), &x[0]);
      kernels.run("k", {x.data, y.data});
      for (int i = 0; i < kCount; ++i) {
        INFO(target << " " << f.op << " of " << x[i] << ": " << y[i]);
        CHECK(distance(y[i], f.meaning(x[i])) <= f.allowed);
      }
    }
}
