// Compares cvt and setp with closed formulas.
#include "weft/test/cuda/PtxTest.h"

#include <cmath>

using namespace weft::ptx;
using Values = std::vector<uint64_t>;

static uint64_t f(float value) { return std::bit_cast<uint32_t>(value); }
static uint64_t d(double value) { return std::bit_cast<uint64_t>(value); }

TEST_CASE("integers are cut and extended") {
  CHECK(evaluate("cvt.u64.u32", {64, 32}, {{0xFFFFFFFF}}) ==
        Values{0xFFFFFFFF});
  CHECK(evaluate("cvt.s64.s32", {64, 32}, {{0xFFFFFFFF}}) ==
        Values{~uint64_t(0)});
  CHECK(evaluate("cvt.u16.u64", {16, 64}, {{0x123456789}}) == Values{0x6789});
  CHECK(evaluate("cvt.s32.s8", {32, 16}, {{0x1280, 0x127F}}) ==
        Values{0xFFFFFF80, 0x7F});
  CHECK(evaluate("cvt.s32.s8", {32, 32}, {{0x1280}}) == Values{0xFFFFFF80});
  CHECK(evaluate("cvt.u32.u8", {32, 16}, {{0x12FF}}) == Values{0xFF});
  CHECK(evaluate("cvt.s16.s8", {16, 16}, {{0xFF80}}) == Values{0xFF80});
  CHECK(evaluate("cvt.sat.s8.s32", {16, 32}, {{300, uint32_t(-300), 5}}) ==
        Values{127, 0xFF80, 5});
  CHECK(evaluate("cvt.sat.u16.s32", {16, 32}, {{uint32_t(-1), 70000}}) ==
        Values{0, 65535});
}

TEST_CASE("floats become integers by the named rounding, clamped") {
  Values values = {f(2.5f),  f(-2.5f),  f(3.5f),         f(-0.5f),
                   f(1e20f), f(-1e20f), f(std::nanf(""))};
  uint32_t most = INT32_MAX, least = uint32_t(INT32_MIN);
  auto s = [](int value) { return uint64_t(uint32_t(value)); };
  CHECK(evaluate("cvt.rzi.s32.f32", {32, 32}, {values}) ==
        Values{2, s(-2), 3, 0, most, least, 0});
  CHECK(evaluate("cvt.rni.s32.f32", {32, 32}, {values}) ==
        Values{2, s(-2), 4, 0, most, least, 0});
  CHECK(evaluate("cvt.rmi.s32.f32", {32, 32}, {values}) ==
        Values{2, s(-3), 3, s(-1), most, least, 0});
  CHECK(evaluate("cvt.rpi.s32.f32", {32, 32}, {values}) ==
        Values{3, s(-2), 4, 0, most, least, 0});
  CHECK(evaluate("cvt.rzi.u32.f32", {32, 32}, {values}) ==
        Values{2, 0, 3, 0, UINT32_MAX, 0, 0});
  CHECK(evaluate("cvt.rzi.s64.f64", {64, 64},
                 {{d(-1e300), d(9007199254740993.0), d(NAN)}}) ==
        Values{uint64_t(1) << 63, 9007199254740992, uint64_t(1) << 63});
  CHECK(evaluate("cvt.rzi.u64.f32", {64, 32},
                 {{f(18446742974197923840.0f), f(2e20f)}}) ==
        Values{18446742974197923840u, UINT64_MAX});
  CHECK(evaluate("cvt.rzi.u8.f32", {16, 32}, {{f(255.9f), f(300)}}) ==
        Values{255, 255});
  CHECK(evaluate("cvt.rzi.s32.f16", {32, 16}, {{0xC100}}) ==
        Values{s(-2)}); // -2.5
}

TEST_CASE("integers become floats, rounded once") {
  CHECK(evaluate("cvt.rn.f32.s32", {32, 32}, {{16777217, uint32_t(-3)}}) ==
        Values{f(16777216), f(-3)});
  CHECK(evaluate("cvt.rn.f32.u64", {32, 64}, {{UINT64_MAX}}) ==
        Values{f(18446744073709551616.0f)});
  CHECK(evaluate("cvt.rz.f32.u64", {32, 64}, {{UINT64_MAX}}) ==
        Values{f(18446742974197923840.0f)});
  CHECK(evaluate("cvt.rn.f64.s64", {64, 64}, {{uint64_t(-5)}}) ==
        Values{d(-5)});
  CHECK(evaluate("cvt.rn.f64.u32", {64, 32}, {{0xFFFFFFFF}}) ==
        Values{d(4294967295.0)});
  CHECK(evaluate("cvt.rn.f16.u16", {16, 16}, {{65535, 2049}}) ==
        Values{0x7C00, 0x6800});
  // 2^62 + 2^54 + 1 is above the middle of two bfloat16s; as a double it is the
  // middle.
  CHECK(evaluate("cvt.rn.bf16.s64", {16, 64},
                 {{(uint64_t(1) << 62) + (uint64_t(1) << 54) + 1}}) ==
        Values{0x5E81});
}

TEST_CASE("floats become floats by the named rounding") {
  double third = 1.0 / 3;
  CHECK(evaluate("cvt.rn.f32.f64", {32, 64},
                 {{d(third), d(1e300), d(1e-46), d(-1e-45)}}) ==
        Values{f(float(third)), f(HUGE_VALF), 0, 0x80000001});
  CHECK(evaluate("cvt.rz.f32.f64", {32, 64}, {{d(third), d(1e300)}}) ==
        Values{f(std::nextafterf(float(third), 0)), 0x7F7FFFFF});
  CHECK(evaluate("cvt.rp.f32.f64", {32, 64}, {{d(third), d(-third)}}) ==
        Values{f(float(third)), f(-std::nextafterf(float(third), 0))});
  CHECK(evaluate("cvt.rm.f32.f64", {32, 64}, {{d(-third), d(-1e300)}}) ==
        Values{f(-float(third)), f(-HUGE_VALF)});
  CHECK(evaluate("cvt.f64.f32", {64, 32}, {{f(0.1f)}}) ==
        Values{d(double(0.1f))});
  CHECK(evaluate("cvt.rn.f16.f32", {16, 32},
                 {{f(65519), f(65520), f(5.9604645e-08f), f(2.9802322e-08f),
                   f(NAN)}}) == Values{0x7BFF, 0x7C00, 1, 0, 0x7FFF});
  CHECK(evaluate("cvt.rn.bf16.f32", {16, 32},
                 {{0x3F808000, 0x3F818000, 0x3F808001, 0x7F7FFFFF}}) ==
        Values{0x3F80, 0x3F82, 0x3F81, 0x7F80});
  CHECK(evaluate("cvt.rz.bf16.f32", {16, 32}, {{0x3F80FFFF, 0x7F7FFFFF}}) ==
        Values{0x3F80, 0x7F7F});
  CHECK(evaluate("cvt.f32.f16", {32, 16}, {{0x3555, 0x0001, 0xFC00, 0x8000}}) ==
        Values{f(0.333251953125f), f(5.9604645e-08f), f(-HUGE_VALF), f(-0.0f)});
  CHECK(evaluate("cvt.f32.bf16", {32, 16}, {{0x4049}}) == Values{0x40490000});
  CHECK(evaluate("cvt.rn.bf16x2.f32", {32, 32, 32}, {{f(1)}, {f(2)}}) ==
        Values{0x3F804000});
  CHECK(evaluate("cvt.rn.f16x2.f32", {32, 32, 32}, {{f(1)}, {f(2)}}) ==
        Values{0x3C004000});
  CHECK(evaluate("cvt.rna.tf32.f32", {32, 32}, {{0x3F801000, 0x3F800FFF}}) ==
        Values{0x3F802000, 0x3F800000});
  CHECK(evaluate("cvt.sat.f32.f32", {32, 32},
                 {{f(2), f(-1), f(0.25f), f(NAN)}}) ==
        Values{f(1), 0, f(0.25f), 0});
}

TEST_CASE("floats become whole floats") {
  Values values = {f(2.5f), f(-2.5f), f(-0.5f), f(HUGE_VALF), f(1e30f)};
  CHECK(evaluate("cvt.rni.f32.f32", {32, 32}, {values}) ==
        Values{f(2), f(-2), f(-0.0f), f(HUGE_VALF), f(1e30f)});
  CHECK(evaluate("cvt.rmi.f32.f32", {32, 32}, {values}) ==
        Values{f(2), f(-3), f(-1), f(HUGE_VALF), f(1e30f)});
  CHECK(evaluate("cvt.rpi.f32.f32", {32, 32}, {values}) ==
        Values{f(3), f(-2), f(-0.0f), f(HUGE_VALF), f(1e30f)});
  CHECK(evaluate("cvt.rzi.f64.f64", {64, 64}, {{d(-1.9)}}) == Values{d(-1)});
}

/// Checks a test's results for less, equal, greater, NaN.
static void checkTest(const std::string &test, Values wanted) {
  INFO(test);
  CHECK(evaluate("setp." + test + ".f32", {1, 32, 32},
                 {{f(1), f(1), f(2), f(NAN)}, {f(2), f(1), f(1), f(1)}}) ==
        wanted);
  CHECK(evaluate("setp." + test + ".f64", {1, 64, 64},
                 {{d(1), d(1), d(2), d(NAN)}, {d(2), d(1), d(1), d(1)}}) ==
        wanted);
  CHECK(evaluate("setp." + test + ".bf16", {1, 16, 16},
                 {{0x3F80, 0x3F80, 0x4000, 0x7FC0},
                  {0x4000, 0x3F80, 0x3F80, 0x3F80}}) == wanted);
}
TEST_CASE("comparisons of floats know NaN") {
  checkTest("eq", {0, 1, 0, 0});
  checkTest("ne", {1, 0, 1, 0});
  checkTest("lt", {1, 0, 0, 0});
  checkTest("le", {1, 1, 0, 0});
  checkTest("gt", {0, 0, 1, 0});
  checkTest("ge", {0, 1, 1, 0});
  checkTest("equ", {0, 1, 0, 1});
  checkTest("neu", {1, 0, 1, 1});
  checkTest("ltu", {1, 0, 0, 1});
  checkTest("leu", {1, 1, 0, 1});
  checkTest("gtu", {0, 0, 1, 1});
  checkTest("geu", {0, 1, 1, 1});
  checkTest("num", {1, 1, 1, 0});
  checkTest("nan", {0, 0, 0, 1});
  CHECK(evaluate("setp.eq.f32", {1, 32, 32}, {{f(0.0f)}, {f(-0.0f)}}) ==
        Values{1});
}

TEST_CASE("comparisons of integers know signs") {
  Values a = {0xFFFFFFFF, 1, 5}, b = {1, 0xFFFFFFFF, 5};
  CHECK(evaluate("setp.lt.s32", {1, 32, 32}, {a, b}) == Values{1, 0, 0});
  CHECK(evaluate("setp.lt.u32", {1, 32, 32}, {a, b}) == Values{0, 1, 0});
  CHECK(evaluate("setp.hs.u32", {1, 32, 32}, {a, b}) == Values{1, 0, 1});
  CHECK(evaluate("setp.ge.s64", {1, 64, 64}, {{uint64_t(-1)}, {0}}) ==
        Values{0});
  CHECK(evaluate("setp.ne.b16", {1, 16, 16}, {{3}, {3}}) == Values{0});
  CHECK(evaluate("setp.lt.and.s32", {1, 32, 32, 1}, {{1, 1}, {2, 2}, {0, 1}}) ==
        Values{0, 1});
  CHECK(evaluate("setp.lt.s32", {1, 32, 32}, {{1, 3}, {2, 2}},
                 "%p5|%t, %s0, %s1") == Values{0, 1});
}
