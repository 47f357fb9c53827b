// Compares logic, shifts, fields, permutations and counts with closed formulas.
#include "weft/test/cuda/PtxTest.h"

using namespace weft::ptx;
using Values = std::vector<uint64_t>;

TEST_CASE("logic of registers and predicates") {
  CHECK(evaluate("and.b64", {64, 64, 64},
                 {{0xFF00FF00FF00FF00}, {0x0FF00FF00FF00FF0}}) ==
        Values{0x0F000F000F000F00});
  CHECK(evaluate("or.b32", {32, 32, 32}, {{0xF0}, {0x3C}}) == Values{0xFC});
  CHECK(evaluate("xor.b16", {16, 16, 16}, {{0xF0}, {0x3C}}) == Values{0xCC});
  CHECK(evaluate("not.b16", {16, 16}, {{0xF0}}) == Values{0xFF0F});
  CHECK(evaluate("cnot.b32", {32, 32}, {{0, 5}}) == Values{1, 0});
  Values a = {0, 0, 1, 1}, b = {0, 1, 0, 1};
  CHECK(evaluate("and.pred", {1, 1, 1}, {a, b}) == Values{0, 0, 0, 1});
  CHECK(evaluate("or.pred", {1, 1, 1}, {a, b}) == Values{0, 1, 1, 1});
  CHECK(evaluate("xor.pred", {1, 1, 1}, {a, b}) == Values{0, 1, 1, 0});
  CHECK(evaluate("not.pred", {1, 1}, {a}) == Values{1, 1, 0, 0});
  CHECK(evaluate("mov.pred", {1, 32}, {a}, "%t, 1") == Values{1, 1, 1, 1});
}

TEST_CASE("lop3 looks its bits up") {
  // The truth tables: 0xE8 is the majority of three bits, 0x96 their sum.
  Values a = {0xFF00}, b = {0xF0F0}, c = {0xCCCC};
  CHECK(evaluate("lop3.b32", {32, 32, 32, 32}, {a, b, c},
                 "%t, %s0, %s1, %s2, 0xE8") ==
        Values{(0xFF00 & 0xF0F0) | (0xFF00 & 0xCCCC) | (0xF0F0 & 0xCCCC)});
  CHECK(evaluate("lop3.b32", {32, 32, 32, 32}, {a, b, c},
                 "%t, %s0, %s1, %s2, 0x96") ==
        Values{0xFF00 ^ 0xF0F0 ^ 0xCCCC});
}

TEST_CASE("shifts by more than the width clamp") {
  Values counts = {0, 1, 15, 16, 31, 32, 33, 63, 64, 0xFFFFFFFF};
  uint64_t value = 0x8123456789ABCDEF;
  for (unsigned bits : {16u, 32u, 64u}) {
    Values values(counts.size(), lowBits(value, bits));
    std::string width = std::to_string(bits);
    auto left = evaluate("shl.b" + width, {bits, bits, 32}, {values, counts});
    auto right = evaluate("shr.u" + width, {bits, bits, 32}, {values, counts});
    auto sign = evaluate("shr.s" + width, {bits, bits, 32}, {values, counts});
    for (size_t i = 0; i < counts.size(); ++i) {
      uint64_t n = counts[i], x = values[i];
      auto extended = int64_t(x << (64 - bits)) >> (64 - bits);
      CHECK(left[i] == (n < bits ? lowBits(x << n, bits) : 0));
      CHECK(right[i] == (n < bits ? x >> n : 0));
      CHECK(sign[i] ==
            lowBits(uint64_t(extended >> std::min<uint64_t>(n, 63)), bits));
    }
  }
}

TEST_CASE("funnel shifts take 32 of 64 bits") {
  Values low(4, 0x89ABCDEF), high(4, 0x01234567), counts = {0, 4, 32, 36};
  uint64_t both = 0x0123456789ABCDEF;
  auto of = [&](const char *op) {
    return evaluate(op, {32, 32, 32, 32}, {low, high, counts});
  };
  CHECK(of("shf.l.wrap.b32") == Values{both >> 32, lowBits(both << 4 >> 32, 32),
                                       both >> 32,
                                       lowBits(both << 4 >> 32, 32)});
  CHECK(of("shf.l.clamp.b32") == Values{both >> 32,
                                        lowBits(both << 4 >> 32, 32),
                                        lowBits(both, 32), lowBits(both, 32)});
  CHECK(of("shf.r.wrap.b32") ==
        Values{lowBits(both, 32), lowBits(both >> 4, 32), lowBits(both, 32),
               lowBits(both >> 4, 32)});
  CHECK(of("shf.r.clamp.b32") == Values{lowBits(both, 32),
                                        lowBits(both >> 4, 32), both >> 32,
                                        both >> 32});
}

TEST_CASE("fields reach to the end of the value and keep its sign") {
  Values x(6, 0x87654321), from = {4, 28, 28, 40, 0, 31},
                           bits = {8, 4, 9, 3, 0, 1};
  CHECK(evaluate("bfe.u32", {32, 32, 32, 32}, {x, from, bits}) ==
        Values{0x32, 8, 8, 0, 0, 1});
  CHECK(evaluate("bfe.s32", {32, 32, 32, 32}, {x, from, bits}) ==
        Values{0x32, 0xFFFFFFF8, 0xFFFFFFF8, 0xFFFFFFFF, 0, 0xFFFFFFFF});
  CHECK(evaluate("bfe.u64", {64, 64, 32, 32},
                 {{0x8765432100000000}, {32}, {16}}) == Values{0x4321});
  CHECK(evaluate(
            "bfi.b32", {32, 32, 32, 32, 32},
            {{0xAB, 0xAB, 0xAB}, {0, 0xFFFFFFFF, 7}, {8, 28, 32}, {8, 8, 8}}) ==
        Values{0xAB00, 0xBFFFFFFF, 7});
  CHECK(evaluate("bfi.b64", {64, 64, 64, 32, 32}, {{0xAB}, {0}, {56}, {64}}) ==
        Values{0xAB00000000000000});
}

TEST_CASE("bytes are permuted, bits counted") {
  Values a = {0x33221100}, b = {0x77E65544};
  auto of = [&](const char *selector) {
    return evaluate("prmt.b32", {32, 32, 32}, {a, b},
                    std::string("%t, %s0, %s1, ") + selector);
  };
  CHECK(of("0x0123U") == Values{0x00112233});
  CHECK(of("0x7531") == Values{0x77553311});
  CHECK(of("0xE6F8") == Values{0xFFE60000}); // 8 copies a byte's sign
  CHECK(evaluate("popc.b32", {32, 32}, {{0, 0xFFFFFFFF, 0x10010}}) ==
        Values{0, 32, 2});
  CHECK(evaluate("popc.b64", {32, 64}, {{~uint64_t(0)}}) == Values{64});
  CHECK(evaluate("clz.b32", {32, 32}, {{0, 1, 0x80000000}}) ==
        Values{32, 31, 0});
  CHECK(evaluate("clz.b64", {32, 64}, {{0, 1}}) == Values{64, 63});
  CHECK(evaluate("brev.b32", {32, 32}, {{1, 0x80000001}}) ==
        Values{0x80000000, 0x80000001});
  CHECK(evaluate("brev.b64", {64, 64}, {{2}}) == Values{uint64_t(1) << 62});
  CHECK(evaluate("bfind.u32", {32, 32}, {{0, 1, 0x80000000}}) ==
        Values{0xFFFFFFFF, 0, 31});
  CHECK(evaluate("bfind.s32", {32, 32}, {{0xFFFFFFFF, 0xFFFFFFFE, 5}}) ==
        Values{0xFFFFFFFF, 0, 2});
  CHECK(evaluate("bfind.shiftamt.u32", {32, 32}, {{1}}) == Values{31});
}

TEST_CASE("moves take registers apart and put them together") {
  CHECK(evaluate("mov.b64", {64, 32, 32}, {{1}, {2}}, "%t, {%s0, %s1}") ==
        Values{0x200000001});
  CHECK(evaluate("mov.b32", {32, 16, 16}, {{0xBEEF}, {0xDEAD}},
                 "%t, {%s0, %s1}") == Values{0xDEADBEEF});
  CHECK(evaluate("mov.b64 {_, %r9}, %d1; mov.b32", {32, 64},
                 {{0x1234567800000000}}, "%t, %r9") == Values{0x12345678});
  CHECK(evaluate("selp.b16", {16, 16, 16, 1}, {{1, 1}, {2, 2}, {0, 1}}) ==
        Values{2, 1});
}
