// Compares asynchronous copies and matrix instructions with plain loops.
#include "weft/test/cuda/PtxTest.h"

#include <cmath>
#include <numeric>

using namespace weft::ptx;
using Catch::Matchers::Contains;
using Words = std::vector<uint32_t>;
using Shorts = std::vector<uint16_t>;

static const std::string kShared = ".shared .align 16 .b8 s[2048];";
/// The beginning of bodies: %d1 is the lane; %d2 and %d3 are k0 and k1 with 16
/// bytes a lane; %d4 is shared memory, %d5 with 16 bytes a lane.
static const std::string kLaneStart =
    "mov.u32 %r1, %tid.x; cvt.u64.u32 %d1, %r1; ld.param.b64 %d2, [k0]; "
    "mad.lo.s64 %d2, %d1, 16, %d2;\n"
    "ld.param.b64 %d3, [k1]; mad.lo.s64 %d3, %d1, 16, %d3; mov.b64 %d4, s; "
    "mad.lo.s64 %d5, %d1, 16, %d4;\n";
static const std::string kEnd =
    "ld.shared.v4.b32 {%r2, %r3, %r4, %r5}, [%d5]; st.global.v4.b32 [%d3], "
    "{%r2, %r3, %r4, %r5};\n";

static Words copied(const std::string &body, std::string &texts,
                    unsigned threads = 32) {
  Bench bench;
  Words x(4 * threads);
  std::iota(x.begin(), x.end(), 1);
  uint64_t from = bench.array("x", x), to = bench.array("y", Words(x.size()));
  bench.run(kernelOf(kLaneStart + body, kShared, 2), "k", {from, to},
            {{}, {threads, 1, 1}});
  texts = bench.texts();
  return bench.read<uint32_t>("y");
}

TEST_CASE("a copy is over when its thread waited for its group") {
  std::string texts, copy = "cp.async.cg.shared.global [%d5], [%d2], 16;\n";
  Words found = copied(
      copy + "cp.async.commit_group; cp.async.wait_group 0;\n" + kEnd, texts);
  CHECK(texts == "");
  for (unsigned i = 0; i < found.size(); ++i)
    CHECK(found[i] == i + 1);
  CHECK(copied(copy + "cp.async.wait_all;\n" + kEnd, texts) == found);
  CHECK(texts == "");
  copied(copy + kEnd, texts);
  CHECK_THAT(texts,
             Contains("which cp.async writes before somebody waits for it"));
  copied(copy + "cp.async.wait_group 0;\n" + kEnd, texts); // in no group yet
  CHECK_THAT(texts,
             Contains("which cp.async writes before somebody waits for it"));
  copied(copy + "cp.async.commit_group; cp.async.wait_group 1;\n" + kEnd,
         texts);
  CHECK_THAT(texts,
             Contains("which cp.async writes before somebody waits for it"));
}

TEST_CASE("groups end in order, missing bytes become zero") {
  std::string texts;
  Words found = copied(
      "cp.async.ca.shared.global [%d5], [%d2], 8; cp.async.commit_group;\n"
      "cp.async.ca.shared.global [%d5+8], [%d2+8], 4; "
      "cp.async.ca.shared.global [%d5+12], [%d2], 4, 0; "
      "cp.async.commit_group;\n"
      "cp.async.wait_group 1; ld.shared.b32 %r6, [%d5]; cp.async.wait_group "
      "0;\n" +
          kEnd,
      texts);
  CHECK(texts == "");
  for (unsigned i = 0; i < found.size(); ++i)
    CHECK(found[i] == (i % 4 == 3 ? 0 : i + 1));
}

TEST_CASE("other warps need a barrier behind the wait") {
  std::string texts,
      copy = "cp.async.cg.shared.global [%d5], [%d2], 16; cp.async.wait_all;\n",
      other = "xor.b64 %d6, %d1, 32; mad.lo.s64 %d5, %d6, 16, %d4;\n";
  Words found = copied(copy + "bar.sync 0;\n" + other + kEnd, texts, 64);
  CHECK(texts == "");
  CHECK(found[0] == 129);
  copied(copy + other + kEnd, texts, 64);
  CHECK_THAT(texts,
             Contains("a race") || Contains("no thread of the block wrote"));
  // A buffer that others still read must not be filled.
  copied(copy + "bar.sync 0;\n" + other + kEnd +
             "mad.lo.s64 %d7, %d1, 16, %d4; cp.async.cg.shared.global [%d7], "
             "[%d2], 16;",
         texts, 64);
  CHECK_THAT(texts, Contains("read with no barrier in between: a race"));
  copied("cp.async.cg.shared.global [%d5], [%d2+1], 16;", texts);
  CHECK_THAT(texts, Contains("no multiple of 16"));
}

/// Stores %r10 to %r13 of each lane.
static const std::string kStoreFour =
    "st.global.v4.b32 [%d3], {%r10, %r11, %r12, %r13};\n";
/// Copies 512 bytes of x to shared memory.
static const std::string kFill =
    "ld.global.v4.b32 {%r2, %r3, %r4, %r5}, [%d2]; st.shared.v4.b32 [%d5], "
    "{%r2, %r3, %r4, %r5}; bar.sync 0;\n";

TEST_CASE("ldmatrix spreads rows of eight elements over lanes") {
  // Four matrices, one below the other: element = 100 * row + column.
  Shorts x(256);
  for (unsigned i = 0; i < 256; ++i)
    x[i] = uint16_t(i / 8 * 100 + i % 8);
  for (bool isTransposed : {false, true}) {
    Bench bench;
    uint64_t from = bench.array("x", x), to = bench.array("y", Words(128));
    bench.run(kernelOf(kLaneStart + kFill + "ldmatrix.sync.aligned.m8n8.x4" +
                           (isTransposed ? ".trans" : "") +
                           ".shared.b16 {%r10, %r11, %r12, %r13}, [%d5];\n" +
                           kStoreFour,
                       kShared, 2),
              "k", {from, to});
    CHECK(bench.texts() == "");
    Words found = bench.read<uint32_t>("y");
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned k = 0; k < 4; ++k) {
        unsigned row = lane / 4, column = lane % 4 * 2;
        uint32_t low = isTransposed ? (k * 8 + column) * 100 + row
                                    : (k * 8 + row) * 100 + column;
        uint32_t high = isTransposed ? low + 100 : low + 1;
        CHECK(found[lane * 4 + k] == (high << 16 | low));
      }
  }
}

static uint16_t brain(float value) {
  return uint16_t(std::bit_cast<uint32_t>(value) >> 16);
}
/// Integers from -8 to 8, which are exact in every type.
static float number(unsigned i) { return float(int(i * 7919 % 17) - 8); }

/// Checks a product with A (16x16, rows) and B (16x8) loaded by ldmatrix, as in
/// a GEMM.
static void checkProduct(const std::string &type, uint16_t (*encode)(float)) {
  Shorts x(256 +
           128); // A as four 8x8 matrices in the order of registers, then B
  float a[16][16], b[16][8];
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned column = 0; column < 16; ++column) {
      a[row][column] = number(row * 16 + column);
      x[(row / 8 + column / 8 * 2) * 64 + row % 8 * 8 + column % 8] =
          encode(a[row][column]);
    }
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned column = 0; column < 8; ++column) {
      b[row][column] = number(1000 + row * 8 + column);
      x[256 + row * 8 + column] = encode(b[row][column]);
    }
  x.resize(512);
  Bench bench;
  uint64_t from = bench.array("x", x), to = bench.array("y", Words(128));
  bench.run(
      kernelOf(
          kLaneStart +
              "ld.global.v4.b32 {%r2, %r3, %r4, %r5}, [%d2]; st.shared.v4.b32 "
              "[%d5], {%r2, %r3, %r4, %r5};\n"
              "ld.global.v4.b32 {%r2, %r3, %r4, %r5}, [%d2+512]; "
              "st.shared.v4.b32 [%d5+512], {%r2, %r3, %r4, %r5}; bar.sync 0;\n"
              "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r20, %r21, %r22, "
              "%r23}, [%d5];\n"
              "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r24, %r25}, "
              "[%d5+512];\n"
              "mov.b32 %r26, 0f3F800000; mov.b32 %r27, 0f40000000;\n"
              "mma.sync.aligned.m16n8k16.row.col.f32." +
              type + "." + type +
              ".f32 {%r10, %r11, %r12, %r13}, {%r20, %r21, %r22, %r23}, {%r24, "
              "%r25}, {%r26, %r27, %r26, %r27};\n" +
              kStoreFour,
          kShared, 2),
      "k", {from, to});
  CHECK(bench.texts() == "");
  std::vector<float> found = bench.read<float>("y");
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned k = 0; k < 4; ++k) {
      unsigned row = lane / 4 + k / 2 * 8, column = lane % 4 * 2 + k % 2;
      float sum = k % 2 ? 2 : 1;
      for (unsigned n = 0; n < 16; ++n)
        sum += a[row][n] * b[n][column];
      CHECK(found[lane * 4 + k] == sum);
    }
}
TEST_CASE("mma of bf16 and f16 is a product of matrices") {
  checkProduct("bf16", brain);
  checkProduct("f16", [](float value) { // whole numbers up to 8
    if (value == 0)
      return uint16_t(0);
    int exponent = std::ilogb(value);
    return uint16_t(
        (value < 0 ? 0x8000 : 0) | (exponent + 15) << 10 |
        (unsigned(std::ldexp(std::fabs(value), 10 - exponent)) & 1023));
  });
}

TEST_CASE("mma of tf32 is a product of matrices of depth 8") {
  float a[16][8], b[8][8];
  std::vector<float> x(128 + 64);
  for (unsigned i = 0; i < 128; ++i)
    x[i] = a[i / 8][i % 8] = number(i);
  for (unsigned i = 0; i < 64; ++i)
    x[128 + i] = b[i / 8][i % 8] = number(500 + i);
  Bench bench;
  uint64_t from = bench.array("x", x), to = bench.array("y", Words(128));
  // The fragments: row g = lane / 4 and column t = lane % 4 of A, then g + 8,
  // then t + 4; rows t and t + 4 of column g of B.
  bench.run(
      kernelOf(
          "mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 2; and.b32 %r3, %r1, 3; "
          "ld.param.b64 %d2, [k0]; ld.param.b64 %d3, [k1];\n"
          "mad.wide.u32 %d3, %r1, 16, %d3; mad.wide.u32 %d4, %r2, 32, %d2; "
          "mad.wide.u32 %d4, %r3, 4, %d4;\n"
          "ld.global.b32 %r20, [%d4]; ld.global.b32 %r21, [%d4+256]; "
          "ld.global.b32 %r22, [%d4+16]; ld.global.b32 %r23, [%d4+272];\n"
          "mad.wide.u32 %d5, %r3, 32, %d2; mad.wide.u32 %d5, %r2, 4, %d5; "
          "ld.global.b32 %r24, [%d5+512]; ld.global.b32 %r25, [%d5+640];\n"
          "or.b32 %r24, %r24, 0x1FFF; mov.b32 %r26, 0f00000000;\n" // bits that do not count
          "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%r10, %r11, "
          "%r12, %r13}, {%r20, %r21, %r22, %r23}, {%r24, %r25}, {%r26, %r26, "
          "%r26, %r26};\n" +
              kStoreFour,
          "", 2),
      "k", {from, to});
  CHECK(bench.texts() == "");
  std::vector<float> found = bench.read<float>("y");
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned k = 0; k < 4; ++k) {
      unsigned row = lane / 4 + k / 2 * 8, column = lane % 4 * 2 + k % 2;
      float sum = 0;
      for (unsigned n = 0; n < 8; ++n)
        sum += a[row][n] * b[n][column];
      CHECK(found[lane * 4 + k] == sum);
    }
}

TEST_CASE("matrix instructions need all lanes, their rows 16 bytes") {
  auto textsOf = [](const std::string &body) {
    Bench bench;
    uint64_t x = bench.array("x", Words(128)), y = bench.array("y", Words(128));
    bench.run(kernelOf(kLaneStart + kFill + body, kShared, 2), "k", {x, y});
    return bench.texts();
  };
  CHECK_THAT(textsOf("setp.lt.u32 %p1, %r1, 8; @%p1 "
                     "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%d5];"),
             Contains("its guard keeps it away"));
  CHECK_THAT(
      textsOf("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%d5+4];"),
      Contains("no multiple of 16"));
  CHECK_THAT(
      textsOf("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%d5+1024];"),
      Contains("which no thread of the block wrote"));
}
