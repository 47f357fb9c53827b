// Kernels with one fault each: the machine must report it, and nothing if the
// fault is fixed.
#include "weft/test/cuda/PtxTest.h"

using namespace weft::ptx;
using Catch::Matchers::Contains;
using Words = std::vector<uint32_t>;

/// The beginning of every body: %r1 is the thread in the block, %d1 in the
/// grid; %d2 and %d3 are k0 and k1, each + 4 * %d1.
static const std::string kStart =
    "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; "
    "mad.lo.s32 %r4, %r2, %r3, %r1;\n"
    "cvt.u64.u32 %d1, %r4; ld.param.b64 %d2, [k0]; mad.lo.s64 %d2, %d1, 4, "
    "%d2; ld.param.b64 %d3, [k1]; mad.lo.s64 %d3, %d1, 4, %d3;\n";

namespace {
/// Arrays x and y of `count` words each and one launch.
struct Trial {
  Bench bench;
  explicit Trial(const std::string &body, const Shape &shape = {},
                 size_t count = 64, bool isWritten = true,
                 const std::string &globals = "") {
    uint64_t x = bench.array("x", Words(count, 5), isWritten),
             y = bench.array("y", Words(count));
    bench.run(kernelOf(kStart + body, globals, 2), "k", {x, y}, shape);
  }
  std::string texts() const { return bench.texts(); }
  Fault fault() const { return bench.outcome.fault; }
};
} // namespace

TEST_CASE("an access beyond an allocation ends the launch") {
  Trial whole("ld.global.b32 %r5, [%d2]; st.global.b32 [%d3], %r5;",
              {{2, 1, 1}});
  CHECK(whole.texts() == "");
  CHECK(whole.fault() == Fault::None);
  Trial beyond("ld.global.b32 %r5, [%d2+4]; st.global.b32 [%d3], %r5;",
               {{2, 1, 1}});
  CHECK(beyond.fault() == Fault::Address);
  CHECK_THAT(
      beyond.texts(),
      Contains("kernel 'k', line 13 'ld.global.b32 %r5, [%d2+4]") &&
          Contains("block (1, 0, 0), thread (31, 0, 0)") &&
          Contains("reads 4 bytes at 0x700000000100, which no allocation has; "
                   "'x' before it has 256 bytes from 0x700000000000"));
  CHECK(Trial("st.global.b32 [%d3-4], %r1;").fault() == Fault::Address);
  CHECK(Trial("mov.b64 %d4, 0; ld.global.b32 %r5, [%d4];").fault() ==
        Fault::Address);
  Trial across("ld.global.b64 %d5, [%d2+252];", {.block = {1, 1, 1}});
  CHECK_THAT(
      across.texts(),
      Contains("reads 8 bytes at 0x7000000000fc, which no allocation has"));
}

TEST_CASE("data may be loaded up to their alignment and no further") {
  auto fault = [](const std::string &load, const std::string &data) {
    Trial trial("mov.b64 %d4, c; " + load + " st.global.b32 [%d3], %r5;",
                {.block = {1, 1, 1}}, 64, true, ".global " + data);
    return trial.fault();
  };
  std::string four = "ld.global.v4.b32 {%r5, %r6, %r7, %r8}, [%d4+16];";
  CHECK(fault(four, ".align 16 .b8 c[20] = {1};") == Fault::None);
  CHECK(fault(four, ".align 64 .b8 c[32] = {1};") == Fault::None);
  CHECK(fault(four, ".align 8 .b8 c[20] = {1};") == Fault::Address);
  CHECK(fault(four, ".align 64 .b8 c[16] = {1};") == Fault::Address);
  CHECK(fault("ld.global.b32 %r5, [%d4+20];", ".align 4 .b8 c[18] = {1};") ==
        Fault::Address);
}

TEST_CASE("a misaligned access ends the launch") {
  Trial trial("ld.global.v2.b32 {%r5, %r6}, [%d2];");
  CHECK(trial.fault() == Fault::Misaligned);
  CHECK_THAT(trial.texts(), Contains("thread (1, 0, 0): reads 8 bytes at "
                                     "0x700000000004, no multiple of 8"));
}

TEST_CASE("constants are not written") {
  Trial trial("mov.b64 %d4, c; st.global.b32 [%d4], %r1;", {.block = {1, 1, 1}},
              64, true, ".global .align 4 .b8 c[4] = {1};");
  CHECK(trial.texts() == ""); // .global data may be written
}

TEST_CASE("values that nobody wrote are named") {
  CHECK_THAT(Trial("add.s32 %r5, %r6, 1;").texts(),
             Contains("reads %r6, which was never written"));
  CHECK_THAT(Trial("@%p5 mov.b32 %r5, 1;").texts(),
             Contains("the guard %p5 was never written"));
  // The value was written by half of the lanes.
  CHECK_THAT(
      Trial(
          "setp.lt.u32 %p1, %r1, 16; @%p1 mov.b32 %r6, 1; add.s32 %r5, %r6, 1;")
          .texts(),
      Contains("thread (16, 0, 0): reads %r6"));
  CHECK_THAT(Trial("ld.global.b32 %r5, [%d2];", {}, 64, false).texts(),
             Contains("of 'x', which were never written"));
  CHECK(Trial("st.global.b32 [%d2], %r1; ld.global.b32 %r5, [%d2];", {}, 64,
              false)
            .texts() == "");
  CHECK_THAT(Trial(".local .align 4 .b8 depot[8]; mov.b64 %d4, depot; "
                   "ld.local.b32 %r5, [%d4];")
                 .texts(),
             Contains("local 0x0, which were never written"));
  CHECK_THAT(
      Trial(".shared .align 4 .b8 s[8]; ld.shared.b32 %r5, [s];").texts(),
      Contains("shared 0x0, which no thread of the block wrote"));
}

TEST_CASE("masks must name the lanes that come") {
  CHECK_THAT(
      Trial("setp.lt.u32 %p1, %r1, 16; @%p1 bra END;\nshfl.sync.bfly.b32 %r5, "
            "%r1, 1, 31, -1;\nEND: bar.warp.sync -1;")
          .texts(),
      Contains("wait for lanes that never come"));
  CHECK_THAT(Trial("shfl.sync.bfly.b32 %r5, %r1, 1, 31, 0xFFFF;").texts(),
             Contains("thread (16, 0, 0): takes part although the mask names "
                      "only lanes 0x0000ffff"));
  CHECK_THAT(Trial("setp.lt.u32 %p1, %r1, 16; selp.b32 %r6, 0xFFFF, -1, %p1; "
                   "shfl.sync.bfly.b32 %r5, %r1, 1, 31, %r6;")
                 .texts(),
             Contains("names lanes 0xffffffff but lane 0 names 0x0000ffff"));
  CHECK_THAT(Trial("setp.lt.u32 %p1, %r1, 16; @%p1 shfl.sync.bfly.b32 %r5, "
                   "%r1, 1, 31, -1;")
                 .texts(),
             Contains("its guard keeps it away"));
  CHECK_THAT(Trial("setp.ge.u32 %p1, %r1, 16; @%p1 ret;\nshfl.sync.idx.b32 "
                   "%r5, %r1, 20, 31, 0xFFFF;")
                 .texts(),
             Contains("reads from lane 20, which does not take part"));
}

TEST_CASE("barriers are for all threads of a block") {
  Shape two{{}, {64, 1, 1}};
  CHECK(Trial("bar.sync 0;", two).texts() == "");
  Trial lanes("setp.lt.u32 %p1, %r1, 3; @%p1 bra END;\nbar.sync 0;\nEND:", two);
  CHECK_THAT(lanes.texts(),
             Contains("waits at a barrier while lanes 0x00000007 have exited"));
  Trial warps("setp.lt.u32 %p1, %r1, 32; @%p1 bra END;\nbar.sync 0;\nEND:",
              two);
  CHECK_THAT(warps.texts(),
             Contains("waits at a barrier while warp 0 has exited"));
  CHECK(warps.fault() == Fault::Launch);
  CHECK_THAT(Trial("setp.lt.u32 %p1, %r1, 32; @%p1 bra A;\nbar.sync 1; bra "
                   "END;\nA: bar.sync 0;\nEND:",
                   two)
                 .texts(),
             Contains("waits at barrier 1 while warp 0 waits at barrier 0"));
  CHECK_THAT(Trial("setp.lt.u32 %p1, %r1, 3; @%p1 bar.sync 0;", two).texts(),
             Contains("its guard keeps it from a barrier"));
  CHECK_THAT(Trial("setp.lt.u32 %p1, %r1, 3; @%p1 bra A;\nbar.sync 0; bra "
                   "END;\nA: bar.sync 0;\nEND:",
                   two)
                 .texts(),
             Contains("wait for lanes that never come"));
}

/// A body that writes shared memory, then `between`, then reads the word that
/// another lane wrote.
static std::string exchange(const std::string &between, unsigned distance) {
  return ".shared .align 4 .b8 s[512]; mov.b64 %d4, s; cvt.u64.u32 %d6, %r1; "
         "mad.lo.s64 %d5, %d6, 4, %d4; st.shared.b32 [%d5], %r1;\n" +
         between + "\nxor.b32 %r5, %r1, " + std::to_string(distance) +
         "; mul.wide.u32 %d7, %r5, 4; add.s64 %d7, %d4, %d7; ld.shared.b32 "
         "%r6, [%d7]; st.global.b32 [%d3], %r6;";
}
TEST_CASE("shared memory without a barrier is a race") {
  Shape two{{}, {64, 1, 1}};
  CHECK(Trial(exchange("bar.sync 0;", 32), two).texts() == "");
  CHECK(Trial(exchange("bar.warp.sync -1;", 1), two).texts() == "");
  CHECK_THAT(Trial(exchange("bar.warp.sync -1;", 32), two).texts(),
             Contains("a race"));
  CHECK_THAT(Trial(exchange("", 1), two).texts(),
             Contains("reads 4 bytes at shared 0x4, which thread 1 of the "
                      "block wrote with no barrier in between: a race"));
  for (uint64_t seed : {1, 2, 3}) // in any order of the warps
    CHECK_THAT(Trial(exchange("", 32), {{}, {64, 1, 1}, 0, seed}).texts(),
               Contains("a race") || Contains("no thread of the block wrote"));
  // In this body each thread reads a word of another, then writes its own.
  std::string body = exchange("bar.sync 0;", 32);
  CHECK_THAT(Trial(body + "st.shared.b32 [%d5], 7;", two).texts(),
             Contains("read with no barrier in between: a race"));
  CHECK(Trial(body + "bar.sync 0; st.shared.b32 [%d5], 7;", two).texts() == "");
  // All lanes write one address: the same value is no race, another is.
  CHECK(
      Trial(".shared .align 4 .b8 s[4]; st.shared.b32 [s], 7;", two).texts() ==
      "");
  CHECK_THAT(
      Trial(".shared .align 4 .b8 s[4]; st.shared.b32 [s], %r1;", two).texts(),
      Contains("wrote with no barrier in between: a race"));
  CHECK_THAT(Trial(".shared .align 4 .b8 s[4]; add.s32 %r5, %r1, 1; "
                   "mul.wide.u32 %d4, %r5, 4; st.shared.b32 [%d4], 1;")
                 .texts(),
             Contains("but there are"));
}

TEST_CASE("blocks of a launch do not touch bytes that others write") {
  Shape two{{2, 1, 1}};
  CHECK_THAT(
      Trial("ld.param.b64 %d4, [k1]; st.global.b32 [%d4], %r2;", two).texts(),
      Contains(
          "where block (0, 0, 0) of this launch wrote another value: a race"));
  CHECK(Trial("ld.param.b64 %d4, [k1]; st.global.b32 [%d4], 7;", two).texts() ==
        "");
  // An index is off by one: the last thread reads the next block's first
  // element.
  std::string shifted = "setp.eq.u32 %p1, %r4, 63; @!%p1 ld.global.b32 %r5, "
                        "[%d2+4]; st.global.b32 [%d2], 1;";
  CHECK_THAT(Trial(shifted, two).texts(),
             Contains("writes 4 bytes at 0x700000000080 of 'x', which block "
                      "(0, 0, 0) of this launch read: a race"));
  CHECK_THAT(Trial("st.global.b32 [%d2], 1; xor.b32 %r5, %r4, 32; ld.param.b64 "
                   "%d4, [k0]; mul.wide.u32 %d5, %r5, 4; add.s64 %d4, %d4, "
                   "%d5; ld.global.b32 %r6, [%d4];",
                   two)
                 .texts(),
             Contains("which block (0, 0, 0) of this launch wrote: a race"));
  // Blocks may write different bytes of one word.
  std::string bytes =
      "ld.param.b64 %d4, [k1]; add.s64 %d4, %d4, %d1; st.global.b8 [%d4], %r4;";
  CHECK(Trial(bytes, {{8, 1, 1}, {2, 1, 1}}).texts() == "");
  CHECK_THAT(
      Trial("ld.global.nc.b32 %r5, [%d2]; st.global.b32 [%d2], %r1;").texts(),
      Contains("which this launch reads by ld.global.nc"));
  CHECK_THAT(
      Trial("st.global.b32 [%d2], %r1; ld.global.nc.b32 %r5, [%d2];").texts(),
      Contains("by ld.global.nc, which block (0, 0, 0) of this launch wrote"));
  // The next launch may read it.
  Bench bench;
  uint64_t x = bench.array("x", Words(32));
  for (uint32_t value : {1, 2})
    bench.run(kernelOf("ld.param.b64 %d2, [k0]; st.global.b32 [%d2], " +
                           std::to_string(value) + ";",
                       "", 1),
              "k", {x});
  CHECK(bench.texts() == "");
}

TEST_CASE("a loop without an end, a trap and a wrong launch are named") {
  Trial loop("LOOP: bra LOOP;");
  CHECK(loop.fault() == Fault::Endless);
  CHECK_THAT(loop.texts(), Contains("an endless loop?"));
  CHECK(Trial("trap;").fault() == Fault::Trap);
  CHECK_THAT(Trial("", {{}, {1025, 1, 1}}).texts(),
             Contains("threads of a block 1025 > 1024"));
  CHECK_THAT(Trial("", {{1, 65536, 1}}).texts(),
             Contains("blocks in y or z 65536 > 65535"));
  CHECK_THAT(Trial("", {{0, 1, 1}}).texts(),
             Contains("a grid or block of no threads"));
  CHECK_THAT(
      Trial("TARGETS: .branchtargets A;\nbrx.idx %r1, TARGETS;\nA:").texts(),
      Contains("jumps to target 1 of 1"));
}
