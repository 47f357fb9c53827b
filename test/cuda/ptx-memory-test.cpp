// Tests loads and stores of every space and width.
#include "weft/test/cuda/PtxTest.h"

#include <numeric>

using namespace weft::ptx;
using Words = std::vector<uint32_t>;

static const std::string kLane =
    "mov.u32 %r1, %tid.x; cvt.u64.u32 %d1, %r1; ld.param.b64 %d2, [k0]; "
    "ld.param.b64 %d3, [k1];\n";

TEST_CASE("vectors of registers are read and written at once") {
  Bench bench;
  Words x(128);
  std::iota(x.begin(), x.end(), 7);
  uint64_t from = bench.array("x", x), to = bench.array("y", Words(128));
  bench.run(
      kernelOf(
          kLane +
              "mad.lo.s64 %d2, %d1, 16, %d2; mad.lo.s64 %d3, %d1, 16, %d3;\n"
              "ld.global.nc.v4.b32 {%r2, %r3, %r4, %r5}, [%d2];\n"
              "st.global.v2.b32 [%d3], {%r5, %r4}; st.global.v2.b32 [%d3+8], "
              "{%r3, %r2};",
          "", 2),
      "k", {from, to});
  CHECK(bench.texts() == "");
  Words found = bench.read<uint32_t>("y");
  for (unsigned i = 0; i < 128; ++i)
    CHECK(found[i] == x[i / 4 * 4 + 3 - i % 4]);
  CHECK(bench.outcome.footprint.reads == std::vector<Range>{{from, 512}});
  CHECK(bench.outcome.footprint.writes == std::vector<Range>{{to, 512}});
}

TEST_CASE("narrow elements are extended and cut") {
  Bench bench;
  uint64_t x = bench.array("x", std::vector<uint8_t>{0x80, 0x7F, 0xFE, 0xFF}),
           y = bench.array("y", Words(6));
  bench.run(kernelOf("ld.param.b64 %d2, [k0]; ld.param.b64 %d3, [k1];\n"
                     "ld.global.s8 %r1, [%d2]; st.global.b32 [%d3], %r1; "
                     "ld.global.u8 %r2, [%d2]; st.global.b32 [%d3+4], %r2;\n"
                     "ld.global.s16 %d4, [%d2+2]; st.global.b64 [%d3+8], %d4; "
                     "ld.global.b16 %h1, [%d2]; st.global.b16 [%d3+16], %h1;\n"
                     "st.global.b8 [%d3+18], %d4; st.global.b8 [%d3+19], 5; "
                     "ld.global.v4.b8 {%h2, _, %h3, _}, [%d2]; "
                     "st.global.v2.b16 [%d3+20], {%h2, %h3};",
                     "", 2),
            "k", {x, y}, {.block = {1, 1, 1}});
  CHECK(bench.texts() == "");
  CHECK(bench.read<uint32_t>("y") == Words{0xFFFFFF80, 0x80, 0xFFFFFFFE,
                                           0xFFFFFFFF, 0x05FE7F80, 0x00FE0080});
}

TEST_CASE("shared memory carries values over a barrier, static and dynamic") {
  for (uint64_t seed : {0, 1, 2, 3}) {
    Bench bench;
    Words x(256);
    std::iota(x.begin(), x.end(), 1);
    uint64_t from = bench.array("x", x), to = bench.array("y", Words(256));
    bench.run(
        kernelOf(kLane + "mad.lo.s64 %d2, %d1, 4, %d2; mad.lo.s64 %d3, %d1, 4, "
                         "%d3; ld.global.b32 %r2, [%d2];\n"
                         "mov.b64 %d4, buffer; mad.lo.s64 %d5, %d1, 4, %d4; "
                         "st.shared.b32 [%d5], %r2;\n"
                         "mov.b64 %d8, open; mad.lo.s64 %d9, %d1, 4, %d8; "
                         "st.shared.b32 [%d9], %r2; bar.sync 0;\n"
                         "sub.s32 %r3, 255, %r1; mul.wide.u32 %d6, %r3, 4; "
                         "add.s64 %d7, %d4, %d6; ld.shared.b32 %r4, [%d7];\n"
                         "cvta.shared.u64 %d10, %d8; add.s64 %d10, %d10, %d6; "
                         "ld.b32 %r5, [%d10]; mad.lo.s32 %r4, %r5, 1000, %r4;\n"
                         "st.global.b32 [%d3], %r4;",
                 ".shared .align 4 .b8 buffer[1024];\n.extern .shared .align "
                 "16 .b8 open[];\n.shared .b8 unused[99999];",
                 2),
        "k", {from, to}, {{}, {256, 1, 1}, 1024, seed});
    CHECK(bench.texts() == "");
    Words found = bench.read<uint32_t>("y");
    for (unsigned i = 0; i < 256; ++i)
      CHECK(found[i] == (256 - i) * 1001);
  }
}

TEST_CASE("threads have local memory, data has its bytes") {
  Bench bench;
  uint64_t y = bench.array("y", Words(32));
  bench.run(
      kernelOf(
          ".local .align 8 .b8 depot[16];\n" + kLane +
              "mad.lo.s64 %d3, %d1, 4, %d2;\n"
              "mov.b64 %d4, depot; cvta.local.u64 %d5, %d4; add.s64 %d6, %d4, "
              "8;\n"
              "st.local.b32 [%d6], %r1; ld.b32 %r2, [%d5+8];\n"
              "mov.b64 %d7, table; and.b64 %d8, %d1, 3; mad.lo.s64 %d7, %d8, "
              "4, %d7; ld.const.b32 %r3, [%d7]; ld.global.b32 %r4, [more+4];\n"
              "mad.lo.s32 %r5, %r2, 100, %r3; add.s32 %r5, %r5, %r4; "
              "st.global.b32 [%d3], %r5;",
          ".const .align 4 .u32 table[4] = {1, 2, 3};\n.global .align 8 .b8 "
          "more[8] = {0, 0, 0, 0, 0, 0, 1};",
          2),
      "k", {y, 0});
  CHECK(bench.texts() == "");
  Words found = bench.read<uint32_t>("y");
  for (unsigned i = 0; i < 32; ++i)
    CHECK(found[i] == i * 100 + (i % 4 < 3 ? i % 4 + 1 : 0) + 0x10000);
}

TEST_CASE("parameters lie where their types put them") {
  Module module;
  std::string text =
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param "
      ".u8 a, .param .u64 .ptr .global .align 16 b, "
      ".param .f32 c, .param .align 16 .b8 d[24])\n.maxntid 256, 1, "
      "1\n.reqntid 32\n{ ret; }";
  REQUIRE(parseModule(text, module) == "");
  const Kernel &kernel = module.kernels[0];
  CHECK(kernel.parameterBytes == 56);
  std::vector<uint32_t> offsets;
  for (const Parameter &parameter : kernel.parameters)
    offsets.push_back(parameter.offset);
  CHECK(offsets == std::vector<uint32_t>{0, 8, 16, 32});
  CHECK(kernel.maxThreads[0] == 256);
  CHECK(kernel.requiredThreads[0] == 32);
  CHECK(module.target == "sm_80");
  CHECK(module.version == 80);
}

TEST_CASE("text that is no PTX is an error with its line") {
  auto errorOf = [](const std::string &text) {
    Module module;
    return parseModule(text, module);
  };
  CHECK(errorOf(kernelOf("\n\nadd.s32 %r1, %r2;")) ==
        "line 13: instruction 'add.s32' has 2 operands != 3");
  CHECK(errorOf(kernelOf("add.s32 %r1, %r2, %x;")) ==
        "line 11: '%x' is not declared");
  CHECK(errorOf(kernelOf("add.s32 %r1, %r2, %d1;")) ==
        "line 11: instruction 'add.s32' reads 32 bits from %d1, which has 64");
  CHECK(errorOf(kernelOf("add.s32 %d1, %r2, %r2;")) ==
        "line 11: instruction 'add.s32' writes 32 bits to %d1, which has 64");
  CHECK(errorOf(kernelOf("atom.global.add.f32 %r1, [%d1], %r2;")) ==
        "line 11: instruction 'atom.global.add.f32' is not known to this "
        "machine");
  CHECK(errorOf(kernelOf("bra NOWHERE;")) ==
        "line 11: label 'NOWHERE' is not in kernel 'k'");
  CHECK(errorOf(kernelOf("@%r1 bra END; END:")) ==
        "line 11: guard '%r1' is no predicate");
  CHECK(errorOf(kernelOf("call.uni f, ();"))
            .find("calls of functions are not known") != std::string::npos);
  CHECK(errorOf(".entry k() {").find("has no end") != std::string::npos);
  CHECK(errorOf("~") == "line 1: character '~' has no place in PTX");
  CHECK(errorOf(kernelOf("ld.acquire.gpu.global.b32 %r1, [%d1];"))
            .find("'.acquire' is not known") != std::string::npos);
}
