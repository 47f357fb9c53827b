// Compares floats with the processor's own arithmetic and closed formulas.
#include "weft/test/cuda/PtxTest.h"

#include <cmath>
#include <limits>

using namespace weft::ptx;
using Values = std::vector<uint64_t>;

static uint64_t bitsOf(float value) { return std::bit_cast<uint32_t>(value); }
static uint64_t bitsOf(double value) { return std::bit_cast<uint64_t>(value); }
template <class T> static T floatOf(uint64_t bits) {
  if constexpr (sizeof(T) == 4)
    return std::bit_cast<float>(uint32_t(bits));
  else
    return std::bit_cast<double>(bits);
}

template <class T> static Values corners() {
  using Limits = std::numeric_limits<T>;
  Values values;
  for (T value : {T(0), T(1), T(1.5), T(3), T(1) / T(3), T(1e-10), T(12345.678),
                  Limits::max(), Limits::min(), Limits::denorm_min(),
                  Limits::min() / 3, Limits::infinity(), Limits::epsilon()}) {
    values.push_back(bitsOf(value));
    values.push_back(bitsOf(-value));
  }
  values.push_back(bitsOf(Limits::quiet_NaN()));
  return values;
}

template <class T> static void checkBits(uint64_t found, T wanted) {
  if (std::isnan(wanted)) {
    CHECK(std::isnan(floatOf<T>(found)));
    if (sizeof(T) == 4)
      CHECK(found == 0x7FFFFFFF);
  } else {
    CHECK(found == bitsOf(wanted));
  }
}

template <class T>
static void check(const std::string &op, T (*formula)(T, T)) {
  unsigned bits = 8 * sizeof(T);
  std::string name = op + ".f" + std::to_string(bits);
  auto columns = pairs(corners<T>());
  auto found = evaluate(name, {bits, bits, bits}, columns);
  for (size_t i = 0; i < found.size(); ++i) {
    T a = floatOf<T>(columns[0][i]), b = floatOf<T>(columns[1][i]);
    INFO(name << " " << a << " " << b);
    checkBits<T>(found[i], formula(a, b));
  }
}

TEMPLATE_TEST_CASE("arithmetic is rounded to nearest, denormals are kept", "",
                   float, double) {
  using T = TestType;
  check<T>("add.rn", [](T a, T b) { return a + b; });
  check<T>("sub.rn", [](T a, T b) { return a - b; });
  check<T>("mul.rn", [](T a, T b) { return a * b; });
  check<T>("div.rn", [](T a, T b) { return a / b; });
  check<T>("add", [](T a, T b) { return a + b; });
}

TEST_CASE("copysign takes the first sign and keeps a NaN") {
  auto columns = pairs(corners<float>());
  auto found = evaluate("copysign.f32", {32, 32, 32}, columns);
  for (size_t i = 0; i < found.size(); ++i)
    CHECK(found[i] ==
          ((columns[0][i] & 0x80000000) | (columns[1][i] & 0x7FFFFFFF)));
}

template <class T> static T extreme(T a, T b, bool isMax, bool nanWins) {
  if (std::isnan(a) || std::isnan(b))
    return nanWins || (std::isnan(a) && std::isnan(b))
               ? std::numeric_limits<T>::quiet_NaN()
           : std::isnan(a) ? b
                           : a;
  if (a == 0 && b == 0)
    return std::signbit(a) == isMax ? b : a;
  return isMax ? std::max(a, b) : std::min(a, b);
}

TEMPLATE_TEST_CASE("a NaN loses against a number unless it is named", "", float,
                   double) {
  using T = TestType;
  check<T>("min", [](T a, T b) { return extreme(a, b, false, false); });
  check<T>("max", [](T a, T b) { return extreme(a, b, true, false); });
  if constexpr (sizeof(T) == 4) {
    check<T>("min.NaN", [](T a, T b) { return extreme(a, b, false, true); });
    check<T>("max.NaN", [](T a, T b) { return extreme(a, b, true, true); });
  }
}

TEMPLATE_TEST_CASE("one operand and fma", "", float, double) {
  using T = TestType;
  unsigned bits = 8 * sizeof(T);
  std::string type = ".f" + std::to_string(bits);
  Values values = corners<T>();
  auto root = evaluate("sqrt.rn" + type, {bits, bits}, {values}),
       inverse = evaluate("rcp.rn" + type, {bits, bits}, {values});
  auto size = evaluate("abs" + type, {bits, bits}, {values}),
       negative = evaluate("neg" + type, {bits, bits}, {values});
  for (size_t i = 0; i < values.size(); ++i) {
    T value = floatOf<T>(values[i]);
    checkBits<T>(root[i], std::sqrt(value));
    checkBits<T>(inverse[i], T(1) / value);
    CHECK(size[i] == bitsOf(std::fabs(value)));
    CHECK(negative[i] == bitsOf(-value));
  }
  // The result 1 - e^2 is exact only if the product is not rounded.
  T e = std::numeric_limits<T>::epsilon();
  auto fused = evaluate("fma.rn" + type, {bits, bits, bits, bits},
                        {{bitsOf(1 + e)}, {bitsOf(1 - e)}, {bitsOf(T(-1))}});
  CHECK(floatOf<T>(fused[0]) == -e * e);
}

TEST_CASE("testp asks for the kind of a float") {
  float denormal = std::numeric_limits<float>::denorm_min(),
        nan = std::nanf(""), infinity = HUGE_VALF;
  Values values = {bitsOf(1.0f), bitsOf(0.0f), bitsOf(denormal),
                   bitsOf(infinity), bitsOf(nan)};
  auto of = [&](const char *property) {
    return evaluate(std::string("testp.") + property + ".f32", {1, 32},
                    {values});
  };
  CHECK(of("finite") == Values{1, 1, 1, 0, 0});
  CHECK(of("infinite") == Values{0, 0, 0, 1, 0});
  CHECK(of("number") == Values{1, 1, 1, 1, 0});
  CHECK(of("notanumber") == Values{0, 0, 0, 0, 1});
  CHECK(of("normal") == Values{1, 1, 0, 0, 0});
  CHECK(of("subnormal") == Values{0, 0, 1, 0, 0});
}

/// The short float nearest to a number, ties to even, by bisection.
template <class Decode>
static uint16_t nearest(long double wanted, Decode decode, uint16_t infinity) {
  bool isNegative = std::signbit(wanted);
  long double size = std::fabs(wanted);
  uint16_t low = 0, high = infinity; // low <= size < high
  while (high - low > 1) {
    auto middle = uint16_t((low + high) / 2);
    (decode(middle) <= size ? low : high) = middle;
  }
  // Rounding gives infinity from half way to where the next float would be.
  long double below = decode(low),
              above = high == infinity ? 2 * below - decode(uint16_t(low - 1))
                                       : decode(high);
  bool isUp =
      size - below > above - size || (size - below == above - size && low % 2);
  return uint16_t((isUp ? high : low) | (isNegative ? 0x8000 : 0));
}
static double half(uint16_t bits) {
  int exponent = bits >> 10 & 31;
  double fraction = bits & 1023;
  double size = exponent ? std::ldexp(1024 + fraction, exponent - 25)
                         : std::ldexp(fraction, -24);
  return bits & 0x8000 ? -size : size;
}
static double brain(uint16_t bits) {
  return std::bit_cast<float>(uint32_t(bits) << 16);
}

template <class Decode>
static void checkShort(const std::string &type, Decode decode,
                       uint16_t infinity, const std::vector<uint64_t> &values) {
  auto columns = pairs(values);
  auto sum = evaluate("add.rn." + type, {16, 16, 16}, columns),
       product = evaluate("mul.rn." + type, {16, 16, 16}, columns);
  auto difference = evaluate("sub.rn." + type, {16, 16, 16}, columns);
  std::vector<uint64_t> third(columns[0].size(), values[5]);
  auto fused = evaluate("fma.rn." + type, {16, 16, 16, 16},
                        {columns[0], columns[1], third});
  for (size_t i = 0; i < sum.size(); ++i) {
    long double a = decode(uint16_t(columns[0][i])),
                b = decode(uint16_t(columns[1][i])),
                c = decode(uint16_t(values[5]));
    INFO(type << " " << double(a) << " " << double(b));
    CHECK(sum[i] == nearest(a + b, decode, infinity));
    CHECK(difference[i] == nearest(a - b, decode, infinity));
    CHECK(product[i] == nearest(a * b, decode, infinity));
    CHECK(fused[i] == nearest(a * b + c, decode, infinity));
  }
}

TEST_CASE("f16 and bf16 are rounded once") {
  checkShort("f16", half, 0x7C00,
             {0x0001, 0x8001, 0x03FF, 0x0400, 0x3C00, 0x3555, 0xBC01, 0x7BFF,
              0x5640, 0x4248, 0x1400});
  checkShort(
      "bf16", brain, 0x7F80,
      {0x3F80, 0xBF81, 0x3EAB, 0x4049, 0xC2F6, 0x3A83, 0x4300, 0x3F7F, 0x3C01});
  CHECK(evaluate("add.rn.f16", {16, 16, 16}, {{0x7C00}, {0xFC00}}) ==
        Values{0x7FFF});
  CHECK(evaluate("fma.rn.bf16x2", {32, 32, 32, 32},
                 {{0x3F804000}, {0x40004000}, {0x3F803F80}}) ==
        Values{0x404040A0});
  CHECK(evaluate("add.rn.f16x2", {32, 32, 32}, {{0x3C004000}, {0x3C003C00}}) ==
        Values{0x40004200});
  CHECK(evaluate("max.NaN.bf16", {16, 16, 16},
                 {{0x3F80, 0x7FC0}, {0x4000, 0x4000}}) ==
        Values{0x4000, 0x7FFF});
  CHECK(evaluate("neg.bf16", {16, 16}, {{0x3F80}}) == Values{0xBF80});
  CHECK(evaluate("abs.f16", {16, 16}, {{0xBC00}}) == Values{0x3C00});
}

TEST_CASE("approximations and flushes are refused by name") {
  for (const char *op :
       {"div.full.f32", "div.approx.f32", "sqrt.approx.f32", "add.ftz.f32",
        "ex2.approx.f32", "add.rz.f32", "max.xorsign.abs.f32"}) {
    Module module;
    std::string line = std::string(op) + " %r1, %r2, %r3;";
    std::string error = parseModule(kernelOf("\n" + line), module);
    INFO(op << ": " << error);
    CHECK(error.find(op) != std::string::npos);
    CHECK(error.find("not known to this machine") != std::string::npos);
  }
}
