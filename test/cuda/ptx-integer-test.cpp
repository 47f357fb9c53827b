// Compares integer instructions with closed formulas, at corner values.
#include "weft/test/cuda/PtxTest.h"

using namespace weft::ptx;

__extension__ typedef __int128 Wide;

/// Corner values of a width, as bits.
static std::vector<uint64_t> corners(unsigned bits) {
  std::vector<uint64_t> values;
  for (int64_t value : {0, 1, 2, 3, 5, 7, -1, -2, -3, 100, -100, 12345, -12345})
    values.push_back(lowBits(uint64_t(value), bits));
  uint64_t top = uint64_t(1) << (bits - 1);
  for (uint64_t value :
       {top, top - 1, top + 1, top >> 1, top | top >> 1,
        uint64_t(0x0123456789ABCDEF), uint64_t(0xF0E1D2C3B4A59687)})
    values.push_back(lowBits(value, bits));
  return values;
}

static Wide signedOf(uint64_t value, unsigned bits) {
  return Wide(int64_t(value << (64 - bits)) >> (64 - bits));
}
static Wide numberOf(uint64_t value, unsigned bits, bool isSigned) {
  return isSigned ? signedOf(value, bits) : Wide(value);
}

using Formula = Wide (*)(Wide a, Wide b, unsigned bits);

static void check(const std::string &op, char kind, unsigned bits,
                  Formula formula, unsigned targetBits = 0) {
  targetBits = targetBits ? targetBits : bits;
  auto columns = pairs(corners(bits));
  std::string name = op + "." + kind + std::to_string(bits);
  auto found = evaluate(name, {targetBits, bits, bits}, columns);
  for (size_t i = 0; i < found.size(); ++i) {
    Wide a = numberOf(columns[0][i], bits, kind == 's'),
         b = numberOf(columns[1][i], bits, kind == 's');
    INFO(name << " " << columns[0][i] << " " << columns[1][i]);
    CHECK(found[i] == lowBits(uint64_t(formula(a, b, bits)), targetBits));
  }
}

TEST_CASE("sums and products of integers wrap") {
  for (unsigned bits : {16u, 32u, 64u})
    for (char kind : {'s', 'u'}) {
      check("add", kind, bits, [](Wide a, Wide b, unsigned) { return a + b; });
      check("sub", kind, bits, [](Wide a, Wide b, unsigned) { return a - b; });
      check("mul.lo", kind, bits, [](Wide a, Wide b, unsigned) {
        return Wide((unsigned __int128)a * (unsigned __int128)b);
      });
      check("min", kind, bits,
            [](Wide a, Wide b, unsigned) { return a < b ? a : b; });
      check("max", kind, bits,
            [](Wide a, Wide b, unsigned) { return a < b ? b : a; });
    }
  for (unsigned bits : {16u, 32u}) {
    auto product = [](Wide a, Wide b, unsigned) { return a * b; };
    check("mul.wide", 's', bits, product, 2 * bits);
    check("mul.wide", 'u', bits, product, 2 * bits);
  }
}

TEST_CASE("mul.hi is the upper half of the product") {
  for (char kind : {'s', 'u'}) {
    for (unsigned bits : {16u, 32u})
      check("mul.hi", kind, bits,
            [](Wide a, Wide b, unsigned n) { return a * b >> n; });
    check("mul.hi", kind, 64, [](Wide a, Wide b, unsigned) {
      // The product is computed from products of halves; a negative factor
      // counts 2^64 too much.
      uint64_t x = uint64_t(a), y = uint64_t(b);
      uint64_t xl = uint32_t(x), xh = x >> 32, yl = uint32_t(y), yh = y >> 32;
      uint64_t middle = xh * yl + (xl * yl >> 32),
               low = xl * yh + uint32_t(middle);
      uint64_t high = xh * yh + (middle >> 32) + (low >> 32);
      return Wide(high - (a < 0 ? y : 0) - (b < 0 ? x : 0));
    });
  }
}

TEST_CASE("quotients cut toward zero and survive their corner cases") {
  for (unsigned bits : {16u, 32u, 64u})
    for (char kind : {'s', 'u'}) {
      check("div", kind, bits,
            [](Wide a, Wide b, unsigned) { return b == 0 ? Wide(-1) : a / b; });
      check("rem", kind, bits,
            [](Wide a, Wide b, unsigned) { return b == 0 ? a : a % b; });
    }
}

TEST_CASE("add.sat.s32 and sub.sat.s32 clamp") {
  auto columns = pairs(corners(32));
  auto clamp = [](Wide value) {
    return uint32_t(value < INT32_MIN   ? INT32_MIN
                    : value > INT32_MAX ? INT32_MAX
                                        : int32_t(value));
  };
  auto sum = evaluate("add.sat.s32", {32, 32, 32}, columns);
  auto difference = evaluate("sub.sat.s32", {32, 32, 32}, columns);
  for (size_t i = 0; i < sum.size(); ++i) {
    Wide a = signedOf(columns[0][i], 32), b = signedOf(columns[1][i], 32);
    CHECK(sum[i] == clamp(a + b));
    CHECK(difference[i] == clamp(a - b));
  }
}

TEST_CASE("one operand, three operands, 24 bits") {
  uint64_t smallest = 0x80000000;
  CHECK(evaluate("neg.s32", {32, 32}, {{0, 1, smallest}}) ==
        std::vector<uint64_t>{0, 0xFFFFFFFF, smallest});
  CHECK(evaluate("abs.s32", {32, 32}, {{5, 0xFFFFFFFB, smallest}}) ==
        std::vector<uint64_t>{5, 5, smallest});
  CHECK(evaluate("abs.s64", {64, 64}, {{~uint64_t(0)}}) ==
        std::vector<uint64_t>{1});
  CHECK(evaluate("mad.lo.s32", {32, 32, 32, 32}, {{0x10001}, {0x10001}, {7}}) ==
        std::vector<uint64_t>{0x20008});
  CHECK(evaluate("mad.hi.u32", {32, 32, 32, 32}, {{smallest}, {6}, {9}}) ==
        std::vector<uint64_t>{12});
  CHECK(evaluate("mad.wide.s32", {64, 32, 32, 64}, {{0xFFFFFFFF}, {3}, {10}}) ==
        std::vector<uint64_t>{7});
  CHECK(evaluate("sad.s32", {32, 32, 32, 32},
                 {{0xFFFFFFFD, 9}, {4, 2}, {1, 1}}) ==
        std::vector<uint64_t>{8, 8});
  CHECK(evaluate("mul24.lo.s32", {32, 32, 32}, {{0xAAFFFFFF}, {5}}) ==
        std::vector<uint64_t>{0xFFFFFFFB});
  CHECK(evaluate("mul24.hi.u32", {32, 32, 32}, {{0xFF800000}, {0x10000}}) ==
        std::vector<uint64_t>{0x800000});
  CHECK(evaluate("mad24.lo.u32", {32, 32, 32, 32}, {{0x1000003}, {4}, {5}}) ==
        std::vector<uint64_t>{17});
  CHECK(evaluate("add.s16x2", {32, 32, 32}, {{0x7FFF0001}, {0x0001FFFF}}) ==
        std::vector<uint64_t>{0x80000000});
  CHECK(evaluate("min.u16x2", {32, 32, 32}, {{0x7FFF0001}, {0x0001FFFF}}) ==
        std::vector<uint64_t>{0x00010001});
}
