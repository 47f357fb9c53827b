// Tests operations of several lanes: shuffles, votes, branches that diverge.
#include "weft/test/cuda/PtxTest.h"

#include <algorithm>
#include <bit>

using namespace weft::ptx;
using Words = std::vector<uint32_t>;

/// Runs a body that leaves its result in %r0, given the lane in %r1 and x[lane]
/// in %r2.
static Words answers(const std::string &body, const Words &x,
                     const Shape &shape = {}) {
  Bench bench;
  uint64_t from = bench.array("x", x), to = bench.array("y", Words(x.size()));
  bench.run(kernelOf("mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4;\n"
                     "ld.param.b64 %d2, [k0]; add.s64 %d2, %d2, %d1; "
                     "ld.global.b32 %r2, [%d2];\n" +
                         body +
                         "\nld.param.b64 %d3, [k1]; add.s64 %d3, %d3, %d1; "
                         "st.global.b32 [%d3], %r0;",
                     "", 2),
            "k", {from, to}, shape);
  CHECK(bench.texts() == "");
  return bench.read<uint32_t>("y");
}

static Words numbers() {
  Words x(32);
  for (unsigned i = 0; i < 32; ++i)
    x[i] = 100 + i * i;
  return x;
}

/// Checks the body's result in each lane: formula(lane, values of all lanes).
template <class Formula>
static void check(const std::string &body, Formula formula) {
  Words x = numbers(), found = answers(body, x);
  for (unsigned lane = 0; lane < 32; ++lane) {
    INFO(body << " lane " << lane);
    CHECK(found[lane] == uint32_t(formula(lane, x)));
  }
}

TEST_CASE("shuffles take a lane by every rule") {
  for (unsigned n : {0u, 1u, 5u, 31u}) {
    std::string by = ", %r2, " + std::to_string(n) + ", ";
    check("shfl.sync.bfly.b32 %r0" + by + "31, -1;",
          [&](unsigned l, const Words &x) { return x[l ^ n]; });
    check("shfl.sync.idx.b32 %r0" + by + "31, -1;",
          [&](unsigned, const Words &x) { return x[n]; });
    check("shfl.sync.up.b32 %r0" + by + "0, -1;",
          [&](unsigned l, const Words &x) { return l >= n ? x[l - n] : x[l]; });
    check("shfl.sync.down.b32 %r0" + by + "31, -1;",
          [&](unsigned l, const Words &x) {
            return l + n < 32 ? x[l + n] : x[l];
          });
    // Groups of 8 lanes: 0x1800 | 7 to the upper end, 0x1800 to the lower.
    check("shfl.sync.down.b32 %r0" + by + "6151, -1;",
          [&](unsigned l, const Words &x) {
            return l % 8 + n < 8 ? x[l + n] : x[l];
          });
    check("shfl.sync.idx.b32 %r0" + by + "6151, -1;",
          [&](unsigned l, const Words &x) { return x[l / 8 * 8 + n % 8]; });
    check("shfl.sync.up.b32 %r0|%p1" + by +
              "6144, -1; selp.b32 %r0, 1, 0, %p1;",
          [&](unsigned l, const Words &) { return uint32_t(l % 8 >= n); });
  }
}

TEST_CASE("votes, matches and reductions see the lanes of the mask") {
  check("setp.gt.u32 %p1, %r2, 200; vote.sync.ballot.b32 %r0, %p1, -1;",
        [](unsigned, const Words &) { return 0xFFFFF800; });
  check("setp.gt.u32 %p1, %r2, 200; vote.sync.any.pred %p2, %p1, -1; selp.b32 "
        "%r0, 1, 0, %p2;",
        [](unsigned, const Words &) { return 1; });
  check("setp.gt.u32 %p1, %r2, 200; vote.sync.all.pred %p2, %p1, -1; selp.b32 "
        "%r0, 1, 0, %p2;",
        [](unsigned, const Words &) { return 0; });
  check("setp.gt.u32 %p1, %r2, 9; vote.sync.all.pred %p2, !%p1, -1; selp.b32 "
        "%r0, 1, 0, %p2;",
        [](unsigned, const Words &) { return 0; });
  check("setp.gt.u32 %p1, %r2, 9; vote.sync.uni.pred %p2, %p1, -1; selp.b32 "
        "%r0, 1, 0, %p2;",
        [](unsigned, const Words &) { return 1; });
  check("and.b32 %r3, %r1, 3; match.any.sync.b32 %r0, %r3, -1;",
        [](unsigned l, const Words &) { return 0x11111111u << l % 4; });
  check("mov.b32 %r3, 7; match.all.sync.b32 %r0|%p1, %r3, -1;",
        [](unsigned, const Words &) { return ~0u; });
  check("redux.sync.add.u32 %r0, %r1, -1;",
        [](unsigned, const Words &) { return 496; });
  check("sub.s32 %r3, 5, %r1; redux.sync.min.s32 %r0, %r3, -1;",
        [](unsigned, const Words &) { return uint32_t(-26); });
  check("redux.sync.max.u32 %r0, %r1, -1;",
        [](unsigned, const Words &) { return 31; });
  check("redux.sync.xor.b32 %r0, %r2, -1;", [](unsigned, const Words &x) {
    uint32_t all = 0;
    for (uint32_t value : x)
      all ^= value;
    return all;
  });
  check("elect.sync _|%p1, -1; selp.b32 %r0, 1, 0, %p1;",
        [](unsigned l, const Words &) { return uint32_t(l == 0); });
  check("setp.lt.u32 %p1, %r1, 8; mov.b32 %r0, 0; @%p1 activemask.b32 %r0;",
        [](unsigned l, const Words &) { return l < 8 ? 0xFFu : 0u; });
}

TEST_CASE("a half warp may shuffle by itself") {
  check("setp.lt.u32 %p1, %r1, 16; @%p1 bra LOW;\n"
        "shfl.sync.bfly.b32 %r0, %r2, 1, 31, 0xFFFF0000; bra END;\n"
        "LOW: shfl.sync.bfly.b32 %r0, %r2, 2, 31, 0xFFFF;\nEND:",
        [](unsigned l, const Words &x) { return x[l < 16 ? l ^ 2 : l ^ 1]; });
}

TEST_CASE("lanes that part meet again, also where the code goes back") {
  // Each lane sums the odd steps of 3n + 1, so loop counts differ.
  check("add.s32 %r3, %r1, 1; mov.b32 %r0, 0;\n"
        "LOOP: setp.eq.s32 %p1, %r3, 1; @%p1 bra END;\n"
        "and.b32 %r4, %r3, 1; setp.eq.s32 %p2, %r4, 1; @%p2 bra ODD;\n"
        "shr.u32 %r3, %r3, 1; bra LOOP;\n"
        "ODD: mad.lo.s32 %r3, %r3, 3, 1; add.s32 %r0, %r0, 1; bra LOOP;\nEND:\n"
        "shfl.sync.bfly.b32 %r0, %r0, 0, 31, -1;",
        [](unsigned l, const Words &) {
          uint32_t odd = 0;
          for (unsigned n = l + 1; n != 1;
               n = n % 2 ? ++odd, 3 * n + 1 : n / 2) {
          }
          return odd;
        });
}

TEST_CASE("a shuffle waits for lanes that come from behind it") {
  // The shuffle is before the code that some lanes run first, as LLVM places
  // blocks.
  check("setp.lt.u32 %p1, %r1, 8; mov.b32 %r3, %r2; bra START;\n"
        "MEET: shfl.sync.bfly.b32 %r0, %r3, 31, 31, -1; bra END;\n"
        "START: @%p1 bra MEET;\nadd.s32 %r3, %r3, 1000; bra MEET;\nEND:",
        [](unsigned l, const Words &x) {
          return x[31 - l] + (31 - l < 8 ? 0 : 1000);
        });
}

TEST_CASE("an indexed branch takes each lane to its target") {
  check("and.b32 %r3, %r1, 3;\nTARGETS: .branchtargets A, B, A, C;\nbrx.idx "
        "%r3, TARGETS;\n"
        "A: mov.b32 %r0, 10; bra END;\nB: mov.b32 %r0, 20; bra END;\nC: "
        "mov.b32 %r0, 30;\nEND:",
        [](unsigned l, const Words &) { return Words{10, 20, 10, 30}[l % 4]; });
}

TEST_CASE("guards keep lanes from an instruction, ends too") {
  check("mov.b32 %r0, 1; setp.gt.u32 %p1, %r1, 5; @%p1 mov.b32 %r0, 2; @!%p1 "
        "add.s32 %r0, %r0, 5;",
        [](unsigned l, const Words &) { return l > 5 ? 2 : 6; });
  Bench bench;
  uint64_t y = bench.array("y", Words(32));
  bench.run(
      kernelOf("mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; ld.param.b64 "
               "%d2, [k0]; add.s64 %d2, %d2, %d1;\n"
               "setp.ge.u32 %p1, %r1, 20; @%p1 ret;\nst.global.b32 [%d2], 1;",
               "", 1),
      "k", {y});
  Words found = bench.read<uint32_t>("y");
  CHECK(std::count(found.begin(), found.end(), 1) == 20);
  CHECK(bench.outcome.footprint.writes == std::vector<Range>{{y, 80}});
}

TEST_CASE("threads know where they are") {
  Bench bench;
  uint64_t y = bench.array("y", Words(2 * 3 * 2 * 4 * 3 * 2));
  // The result has all coordinates as digits of one number, at the thread's
  // position in the grid.
  bench.run(
      kernelOf(
          "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z;\n"
          "mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ctaid.y; mov.u32 %r6, "
          "%ctaid.z;\n"
          "mov.u32 %r7, %nctaid.x; mov.u32 %r8, %nctaid.y; mov.u32 %r9, "
          "%ntid.x; mov.u32 %r10, %ntid.y; mov.u32 %r14, %ntid.z;\n"
          "mad.lo.s32 %r11, %r6, %r8, %r5; mad.lo.s32 %r11, %r11, %r7, "
          "%r4;\n" // block
          "mad.lo.s32 %r11, %r11, %r14, %r3; mad.lo.s32 %r11, %r11, %r10, "
          "%r2; mad.lo.s32 %r11, %r11, %r9, %r1;\n"
          "mad.lo.s32 %r12, %r6, 10, %r5; mad.lo.s32 %r12, %r12, 10, %r4; "
          "mad.lo.s32 %r12, %r12, 10, %r3;\n"
          "mad.lo.s32 %r12, %r12, 10, %r2; mad.lo.s32 %r12, %r12, 10, "
          "%r1;\n"
          "mul.wide.u32 %d1, %r11, 4; ld.param.b64 %d2, [k0]; add.s64 %d2, "
          "%d2, %d1; st.global.b32 [%d2], %r12;",
          "", 1),
      "k", {y}, {{2, 3, 2}, {4, 3, 2}, 0, 5});
  CHECK(bench.texts() == "");
  Words found = bench.read<uint32_t>("y"), wanted;
  for (unsigned cz = 0; cz < 2; ++cz)
    for (unsigned cy = 0; cy < 3; ++cy)
      for (unsigned cx = 0; cx < 2; ++cx)
        for (unsigned z = 0; z < 2; ++z)
          for (unsigned yy = 0; yy < 3; ++yy)
            for (unsigned x = 0; x < 4; ++x)
              wanted.push_back(
                  ((((cz * 10 + cy) * 10 + cx) * 10 + z) * 10 + yy) * 10 + x);
  CHECK(found == wanted);
}
