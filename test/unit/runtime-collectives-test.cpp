// Every collective is compared with its definition in plan.fbs, for several
// workers. The test is built for CPUs, and in test/cuda for GPUs.
#include "weft/test/unit/runtime-plan.h"

#include <complex>
#include <cstring>
#include <random>

using namespace weft::test;

#ifndef WEFT_TEST_DEVICES
#define WEFT_TEST_DEVICES "cpu:"
#endif

static std::string devices(int64_t count) {
  return WEFT_TEST_DEVICES + std::to_string(count);
}

TEST_CASE("an all-reduce gives the same bits for any number of workers") {
  // The instruction has two operands of odd sizes; the expected sums add device
  // by device.
  constexpr int64_t n = 33333, m = 5;
  const std::vector<Axes> splitX8 = {{fullAxis(0, 8)}};
  PlanBuilder p({{"x", 8}});
  uint32_t a = p.state("a", DType::f32, {8 * n}, splitX8);
  uint32_t b = p.state("b", DType::f64, {8 * m}, splitX8);
  p.allReduce({a, b}, {a, b}, {fullAxis(0, 8)});
  std::vector<uint8_t> image = p.image();
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> x(8 * n);
  std::vector<double> y(8 * m);
  for (float &v : x)
    v = normal(random);
  for (double &v : y)
    v = normal(random);
  std::vector<float> sum(n);
  std::vector<double> sumB(m);
  for (int64_t d = 0; d < 8; ++d) {
    for (int64_t i = 0; i < n; ++i)
      sum[i] = d ? sum[i] + x[d * n + i] : x[i];
    for (int64_t i = 0; i < m; ++i)
      sumB[i] = d ? sumB[i] + y[d * m + i] : y[i];
  }
  for (int workers : {1, 2, 4}) {
    Loaded program(image, devices(8), workers);
    program.write(0, x);
    program.write(1, y);
    REQUIRE(program.run() == "");
    for (int64_t d = 0; d < 8; ++d) {
      CHECK(program.local<float>(0, d) == sum);
      CHECK(program.local<double>(1, d) == sumB);
    }
    CHECK(program.counted("all_reduce") == 2 * 7 * (n * 4 + m * 8) / 8);
  }
}

template <typename T>
static std::vector<T> reduced(DType dtype, ReduceKind kind,
                              const std::vector<T> &data, int64_t devices) {
  int64_t n = int64_t(data.size()) / devices;
  PlanBuilder p({{"x", devices}});
  uint32_t in = p.input("in", dtype, {devices * n}, {{fullAxis(0, devices)}});
  uint32_t out =
      p.output("out", dtype, {devices * n}, {{fullAxis(0, devices)}});
  p.allReduce({in}, {out}, {fullAxis(0, devices)}, kind);
  Loaded program(p.image(), ::devices(devices));
  program.write(0, data);
  REQUIRE(program.run() == "");
  return program.local<T>(0, devices - 1);
}

TEST_CASE("reductions of every kind") {
  CHECK(reduced<float>(DType::f32, ReduceKind::max, {1, 5, -2, 3, 4, -7}, 3) ==
        std::vector<float>{4, 5}); // 1 5 | -2 3 | 4 -7
  CHECK(reduced<float>(DType::f32, ReduceKind::min, {1, 5, -2, 3, 4, -7}, 3) ==
        std::vector<float>{-2, -7});
  CHECK(reduced<double>(DType::f64, ReduceKind::prod, {2, 3, 4, 5}, 2) ==
        std::vector<double>{8, 15});
  CHECK(reduced<int8_t>(DType::i8, ReduceKind::sum, {100, 1, 100, 2}, 2) ==
        std::vector<int8_t>{-56, 3});
  CHECK(reduced<int16_t>(DType::i16, ReduceKind::prod, {-300, 7, 300, -2}, 2) ==
        std::vector<int16_t>{int16_t(-90000), -14});
  CHECK(reduced<int32_t>(DType::i32, ReduceKind::max, {-1, 0, 3, -8}, 2) ==
        std::vector<int32_t>{3, 0});
  CHECK(reduced<uint32_t>(DType::ui32, ReduceKind::max, {~0u, 0, 3, 8}, 2) ==
        std::vector<uint32_t>{~0u, 8});
  CHECK(reduced<int64_t>(DType::i64, ReduceKind::and_, {12, 3, 10, 1}, 2) ==
        std::vector<int64_t>{8, 1});
  CHECK(reduced<uint8_t>(DType::i1, ReduceKind::sum, {0, 1, 0, 1}, 2) ==
        std::vector<uint8_t>{0, 1});
  CHECK(reduced<uint8_t>(DType::i1, ReduceKind::prod, {0, 1, 1, 1}, 2) ==
        std::vector<uint8_t>{0, 1});
  // The bf16 sum 1 + 2^-8 + 2^-8 is computed in f32 and rounded once: 1 + 2^-7.
  CHECK(reduced<uint16_t>(DType::bf16, ReduceKind::sum,
                          {0x3f80, 0x3b80, 0x3b80},
                          3) == std::vector<uint16_t>{0x3f81});
  CHECK(reduced<uint16_t>(DType::f16, ReduceKind::sum, {0x3c00, 0x4000}, 2) ==
        std::vector<uint16_t>{0x4200});
  // Complex numbers by their parts: (1+2i) + (3-5i); (1+2i)(3-5i).
  using Complex = std::complex<float>;
  CHECK(reduced<Complex>(DType::c64, ReduceKind::sum, {{1, 2}, {3, -5}}, 2) ==
        std::vector<Complex>{{4, -3}});
  CHECK(reduced<Complex>(DType::c64, ReduceKind::prod, {{1, 2}, {3, -5}}, 2) ==
        std::vector<Complex>{{13, 1}});
  // e4m3fn: 1 + 448; 448 + 448 is too large. e5m2: 1.25 + 1.25.
  CHECK(reduced<uint8_t>(DType::f8E4M3FN, ReduceKind::sum,
                         {0x38, 0x7e, 0x7e, 0x7e},
                         2) == std::vector<uint8_t>{0x7e, 0x7f});
  CHECK(reduced<uint8_t>(DType::f8E5M2, ReduceKind::sum, {0x3d, 0x3d}, 2) ==
        std::vector<uint8_t>{0x41});
  float nan = std::numeric_limits<float>::quiet_NaN();
  for (ReduceKind kind : {ReduceKind::max, ReduceKind::min}) {
    std::vector<float> r =
        reduced<float>(DType::f32, kind, {nan, 1, 1, nan}, 2);
    CHECK((r[0] != r[0] && r[1] != r[1]));
  }
}

TEST_CASE("maxima of zeros are 0 and minima -0, in any order of devices") {
  const std::pair<DType, int> signs[] = {
      {DType::f32, 31},   {DType::f64, 63},     {DType::f16, 15},
      {DType::bf16, 15},  {DType::f8E4M3FN, 7}, {DType::f8E5M2, 7},
      {DType::f8E4M3, 7}, {DType::f8E3M4, 7},   {DType::f4E2M1FN, 3}};
  for (auto [dtype, sign] : signs)
    for (int64_t devices : {2, 3, 4, 8}) { // in registers, and in blocks
      INFO(EnumNameDType(dtype) << " on " << devices);
      size_t bytes = size_t(bytesOf(dtype)), n = 67;
      for (int64_t odd = 0; odd < devices; ++odd)
        for (bool isNegative : {false, true}) {
          // All devices but one have the same zero.
          std::vector<uint8_t> data(size_t(devices) * n * bytes);
          for (size_t i = 0; i < size_t(devices) * n; ++i)
            if ((int64_t(i / n) == odd) == isNegative)
              data[(i + 1) * bytes - 1] = uint8_t(1 << sign % 8);
          std::vector<uint8_t> positive(n * bytes), negative(n * bytes);
          for (size_t i = 0; i < n; ++i)
            negative[(i + 1) * bytes - 1] = uint8_t(1 << sign % 8);
          for (ReduceKind kind : {ReduceKind::max, ReduceKind::min}) {
            PlanBuilder p({{"x", devices}});
            Shape shape = {devices * int64_t(n)};
            Axes axes = {fullAxis(0, devices)};
            uint32_t in = p.input("in", dtype, shape, {axes});
            uint32_t out = p.output("out", dtype, shape, {axes});
            p.allReduce({in}, {out}, axes, kind);
            Loaded program(p.image(), ::devices(devices));
            program.write(0, data);
            REQUIRE(program.run() == "");
            CHECK(program.local<uint8_t>(0, devices - 1) ==
                  (kind == ReduceKind::max ? positive : negative));
          }
        }
    }
}

TEST_CASE("an uneven all-gather cuts the last block") {
  // The devices have 2, 2, 2 and 1 of the 7 columns; the padding is poisoned
  // and must not arrive.
  PlanBuilder p({{"x", 4}});
  uint32_t in = p.input("in", DType::f32, {3, 7}, {{}, {fullAxis(0, 4)}});
  uint32_t out = p.output("out", DType::f32, {3, 7}, {{}, {}});
  p.allGather(in, out, {fullAxis(0, 4)}, 1);
  Loaded program(p.image(), devices(4));
  program.write(0, iota<float>(21));
  REQUIRE(program.run() == "");
  for (int64_t d = 0; d < 4; ++d)
    CHECK(program.local<float>(0, d) == iota<float>(21));
  CHECK(program.counted("all_gather") == 3 * 3 * 2 * 4); // three shards
}

TEST_CASE("an uneven reduce-scatter keeps each device's block") {
  // Each device holds 3x5; the sum is 4 times that, split in blocks of 2 rows
  // or columns.
  for (uint32_t to : {0u, 1u}) {
    PlanBuilder p({{"x", 4}});
    uint32_t in = p.input("in", DType::i32, {3, 5}, {{}, {}});
    std::vector<Axes> split(2);
    split[to] = {fullAxis(0, 4)};
    uint32_t out = p.output("out", DType::i32, {3, 5}, split);
    p.reduceScatter(in, out, {fullAxis(0, 4)}, to);
    Loaded program(p.image(), devices(4));
    program.write(0, iota<int32_t>(15));
    REQUIRE(program.run() == "");
    std::vector<int32_t> want = iota<int32_t>(15);
    for (int32_t &v : want)
      v *= 4;
    CHECK(program.read<int32_t>(0, 15) == want);
    int64_t shard = to == 0 ? 1 * 5 : 3 * 2;
    CHECK(program.counted("reduce_scatter") == uint64_t(3 * shard * 4));
  }
}

TEST_CASE("an all-to-all moves the split from one dimension to another") {
  PlanBuilder p({{"x", 3}});
  uint32_t in = p.input("in", DType::i16, {7, 4}, {{fullAxis(0, 3)}, {}});
  uint32_t out = p.output("out", DType::i16, {7, 4}, {{}, {fullAxis(0, 3)}});
  p.allToAll(in, out, {fullAxis(0, 3)}, 1, 0);
  Loaded program(p.image(), devices(3));
  program.write(0, iota<int16_t>(28));
  REQUIRE(program.run() == "");
  CHECK(program.read<int16_t>(0, 28) == iota<int16_t>(28));
  // The ring formula counts the larger of 3x4 before and 7x2 after.
  CHECK(program.counted("all_to_all") == (2 * 14 * 2 + 2) / 3);
}

TEST_CASE("the exchange of the design moves 1,792 bytes a device") {
  // The array moves from P('y', _, 'x') to P(_, ('x', 'y'), _): 16x16x16 f32 on
  // x=4, y=2.
  PlanBuilder p({{"x", 4}, {"y", 2}});
  std::vector<Axes> from = {{fullAxis(1, 2)}, {}, {fullAxis(0, 4)}};
  std::vector<Axes> to = {{}, {fullAxis(0, 4), fullAxis(1, 2)}, {}};
  uint32_t in = p.input("in", DType::f32, {16, 16, 16}, from);
  uint32_t out = p.output("out", DType::f32, {16, 16, 16}, to);
  p.exchange(in, out, {16, 16, 16}, from, to);
  Loaded program(p.image(), devices(8));
  program.write(0, iota<float>(4096));
  REQUIRE(program.run() == "");
  CHECK(program.read<float>(0, 4096) == iota<float>(4096));
  CHECK(program.counted("exchange") == 1792);
}

TEST_CASE("exchanges between random layouts, uneven and with copies") {
  std::mt19937 random(7);
  auto pick = [&](int n) { return int(random() % unsigned(n)); };
  for (int round = 0; round < 150; ++round) {
    int64_t x = 1 + pick(4), y = 1 + pick(3);
    PlanBuilder p({{"x", x}, {"y", y}});
    Shape shape = {1 + pick(9), 1 + pick(9)};
    auto layout = [&] {
      std::vector<Axes> dims(2);
      if (pick(3))
        dims[size_t(pick(2))].push_back(fullAxis(0, x));
      if (pick(3)) {
        Axes &axes = dims[size_t(pick(2))];
        axes.insert(pick(2) ? axes.begin() : axes.end(), fullAxis(1, y));
      }
      return dims;
    };
    std::vector<Axes> from = layout(), to = layout();
    uint32_t in = p.input("in", DType::i32, shape, from);
    uint32_t out = p.output("out", DType::i32, shape, to);
    p.exchange(in, out, shape, from, to);
    Loaded program(p.image(), devices(x * y), 1 + pick(3));
    size_t count = size_t(shape[0] * shape[1]);
    program.write(0, iota<int32_t>(count, 1));
    REQUIRE(program.run() == "");
    REQUIRE(program.read<int32_t>(0, count) == iota<int32_t>(count, 1));
  }
}

TEST_CASE("boxes move, repeat and turn elements, and count their bytes") {
  // The 7 elements lie on 3 devices, 0 1 2 | 3 4 5 | 6, and the 8 of the result
  // too: the last one twice, then all but the first in opposite order. Device 0
  // reads element 6 three times and receives it once; it sends 1 and 2.
  auto moved = [](std::vector<int64_t> boxes, size_t device) {
    PlanBuilder p({{"x", 3}});
    Axes axes = {fullAxis(0, 3)};
    uint32_t in = p.input("in", DType::i32, {7}, {axes});
    uint32_t out = p.output("out", DType::i32, {8}, {axes});
    p.move(in, out, axes, {7}, {axes}, {8}, {axes}, std::move(boxes));
    Loaded program(p.image(), devices(3), 2);
    program.write(0, iota<int32_t>(7));
    REQUIRE(program.run() == "");
    std::vector<int32_t> local = program.local<int32_t>(0, device);
    local.push_back(int32_t(program.counted("move")));
    return local;
  };
  // operand, ranks, start, count, step, dim, offset, stride
  std::vector<int64_t> boxes = {0, 1, 1, 0, 2, 1, 0, 6, 0,
                                0, 1, 1, 2, 6, 1, 0, 6, -1};
  CHECK(moved(boxes, 0) == std::vector<int32_t>{6, 6, 6, 8});
  CHECK(moved(boxes, 1) == std::vector<int32_t>{5, 4, 3, 8});
  CHECK(moved(boxes, 2)[0] == 2);
  CHECK(moved(boxes, 2)[1] == 1);
  // What is no list of boxes, or not in the arrays, is refused.
  auto refused = [](std::vector<int64_t> boxes) {
    PlanBuilder p({{"x", 3}});
    Axes axes = {fullAxis(0, 3)};
    uint32_t in = p.input("in", DType::i32, {7}, {axes});
    uint32_t out = p.output("out", DType::i32, {8}, {axes});
    p.move(in, out, axes, {7}, {axes}, {8}, {axes}, std::move(boxes));
    std::vector<uint8_t> image = p.image();
    weft_program *program = nullptr;
    std::string text =
        take(weft_program_load_memory(image.data(), image.size(), &program));
    weft_program_free(program);
    return text;
  };
  CHECK_THAT(refused({0, 1, 1, 0, 8, 1, 0, 0, 1}),
             Catch::Contains("box 0 reads [0, 8) of dim 0 of size 7"));
  CHECK(refused({0, 1}) != "");
}

TEST_CASE("boxes of two arrays move at once") {
  // Device k has rows 2k and 2k + 1 of x and element k of y. The result is y, of
  // which all devices have a copy, and x in opposite order.
  auto planned = [](const Shape &ofSecond) {
    PlanBuilder p({{"x", 3}});
    Axes axes = {fullAxis(0, 3)};
    uint32_t x = p.input("x", DType::i32, {6}, {axes});
    uint32_t y = p.input("y", DType::i32, {3}, {axes});
    uint32_t out = p.output("out", DType::i32, {9}, {{}});
    StartT &start =
        p.move(x, out, axes, {6}, {axes}, {9}, {{}},
               {1, 1, 1, 0, 3, 1, 0, 0, 1, 0, 1, 1, 3, 6, 1, 0, 5, -1});
    PlanBuilder::addSource(start, y, ofSecond, {axes});
    return p.image();
  };
  Loaded program(planned({3}), devices(3), 2);
  program.write(0, iota<int32_t>(6));
  program.write(1, iota<int32_t>(3, 10));
  REQUIRE(program.run() == "");
  for (size_t device = 0; device < 3; ++device)
    CHECK(program.local<int32_t>(0, device) ==
          std::vector<int32_t>{10, 11, 12, 5, 4, 3, 2, 1, 0});
  // Each device sends its three elements to both others.
  CHECK(program.counted("move") == 24);
  std::vector<uint8_t> image = planned({6});
  weft_program *refused = nullptr;
  CHECK_THAT(
      take(weft_program_load_memory(image.data(), image.size(), &refused)),
      Catch::Contains("moves [2], [1] to [9], its layouts [2], [2] to [9]"));
  weft_program_free(refused);
}

TEST_CASE("a fetch moves halos, strides and turns, and counts its bytes") {
  // The 7 elements lie on 3 devices: 0 1 2 | 3 4 5 | 6.
  auto fetched = [](std::array<int64_t, 6> positions, int64_t count,
                    size_t device) {
    PlanBuilder p({{"x", 3}});
    uint32_t in = p.input("in", DType::i32, {7}, {{fullAxis(0, 3)}});
    uint32_t out = p.output("out", DType::i32, {3 * count}, {{fullAxis(0, 3)}});
    p.fetch(in, out, {fullAxis(0, 3)}, 0, positions);
    Loaded program(p.image(), devices(3), 2);
    program.write(0, iota<int32_t>(7));
    REQUIRE(program.run() == "");
    std::vector<int32_t> local = program.local<int32_t>(0, device);
    local.push_back(int32_t(program.counted("fetch")));
    return local;
  };
  // The halo is one element on either side: the middle device sends both its
  // ends.
  CHECK(fetched({7, 3, 1, -1, 1, 0}, 5, 1) ==
        std::vector<int32_t>{2, 3, 4, 5, 6, 8});
  // The positions are reversed, and rotated by 2.
  CHECK(fetched({7, -3, -1, 6, 1, 0}, 3, 0)[0] == 6);
  CHECK(fetched({7, 3, 1, -2, 1, 7}, 3, 0)[0] == 5);
  CHECK(fetched({7, 3, 1, -2, 1, 7}, 3, 0)[2] == 0);
  // The positions are those of every second element.
  CHECK(fetched({7, 4, 2, 1, 1, 0}, 2, 0)[1] == 3);
}

TEST_CASE("a collective permute sends whole values, and counts them") {
  PlanBuilder p({{"x", 3}});
  uint32_t in = p.input("in", DType::i32, {6}, {{fullAxis(0, 3)}});
  uint32_t out = p.output("out", DType::i32, {6}, {{fullAxis(0, 3)}});
  p.collectivePermute(in, out, {fullAxis(0, 3)}, {2, 1, 2});
  Loaded program(p.image(), devices(3), 2);
  program.write(0, iota<int32_t>(6));
  REQUIRE(program.run() == "");
  CHECK(program.read<int32_t>(0, 6) == std::vector<int32_t>{4, 5, 2, 3, 4, 5});
  CHECK(program.counted("collective_permute") == 8); // one value of two
}

TEST_CASE("a pick takes the elements at its positions") {
  // The elements are 0 1 2 3 | 4 5 6 7 | 8 9 - - in columns of 2; positions are
  // clamped.
  PlanBuilder p({{"x", 3}});
  uint32_t in = p.input("in", DType::i32, {5, 2}, {{fullAxis(0, 3)}, {}});
  uint32_t at = p.input("at", DType::i64, {9, 2}, {{fullAxis(0, 3)}, {}});
  uint32_t out = p.output("out", DType::i32, {9, 2}, {{fullAxis(0, 3)}, {}});
  p.pick(in, at, out, {fullAxis(0, 3)}, 0);
  Loaded program(p.image(), devices(3), 2);
  program.write(0, iota<int32_t>(10));
  program.write(1, std::vector<int64_t>{4, 0, 3, 1, 2, 2, 0, 0, 0, 1, 0, 2, -7,
                                        4, 1, 1, 3, 3});
  REQUIRE(program.run() == "");
  CHECK(program.read<int32_t>(0, 18) == std::vector<int32_t>{8, 1, 6, 3, 4, 5,
                                                             0, 1, 0, 3, 0, 5,
                                                             0, 9, 2, 3, 6, 7});
  CHECK(program.counted("pick") ==
        24); // any element may come from another device
}

TEST_CASE("a pick takes all bytes of an element of any type") {
  // The elements 0 1 2 | 3 4 5 are picked at positions 5 4 3 | 2 1 0; byte b of
  // element i is 16i + b.
  for (DType dtype : EnumValuesDType()) {
    INFO(EnumNameDType(dtype));
    size_t bytes = size_t(bytesOf(dtype));
    PlanBuilder p({{"x", 2}});
    uint32_t in = p.input("in", dtype, {6}, {{fullAxis(0, 2)}});
    uint32_t at = p.input("at", DType::i64, {6}, {{fullAxis(0, 2)}});
    uint32_t out = p.output("out", dtype, {6}, {{fullAxis(0, 2)}});
    p.pick(in, at, out, {fullAxis(0, 2)}, 0);
    std::vector<uint8_t> elements, reversed;
    for (size_t i = 0; i < 6; ++i)
      for (size_t b = 0; b < bytes; ++b) {
        elements.push_back(uint8_t(16 * i + b));
        reversed.push_back(uint8_t(16 * (5 - i) + b));
      }
    Loaded program(p.image(), devices(2));
    program.write(0, elements);
    program.write(1, std::vector<int64_t>{5, 4, 3, 2, 1, 0});
    REQUIRE(program.run() == "");
    CHECK(program.read<uint8_t>(0, 6 * bytes) == reversed);
  }
}

TEST_CASE("sub-axes make groups of a part of an axis") {
  // The axis "x":(1)2 of 4 has the groups of devices 0,2 and 1,3.
  PlanBuilder p({{"x", 4}});
  uint32_t v = p.state("v", DType::f32, {4}, {{fullAxis(0, 4)}});
  p.allReduce({v}, {v}, {SubAxis(0, 1, 2)});
  Loaded program(p.image(), devices(4));
  program.write(0, std::vector<float>{1, 2, 4, 8});
  REQUIRE(program.run() == "");
  CHECK(program.read<float>(0, 4) == std::vector<float>{5, 10, 5, 10});
}

TEST_CASE("devices go on between a start and its wait") {
  // Two reductions are under way while other buffers are copied; the second
  // has ended first for the devices. Sums of 1 to 4, and of their doubles.
  const Axes x = {fullAxis(0, 4)};
  PlanBuilder p({{"x", 4}});
  uint32_t a = p.input("a", DType::f32, {4 * 999}, {x}),
           b = p.input("b", DType::f32, {4}, {x}),
           sumA = p.arena(DType::f32, {999}), sumB = p.arena(DType::f32, {1}),
           other = p.arena(DType::f32, {1}),
           outA = p.output("outA", DType::f32, {4 * 999}, {x}),
           outB = p.output("outB", DType::f32, {4}, {x}),
           kept = p.output("kept", DType::f32, {4}, {x});
  p.start("all_reduce", CombinationT(), {a}, {sumA}, x);
  p.copy(b, other);
  p.start("all_reduce", CombinationT(), {b}, {sumB}, x);
  p.copy(other, kept);
  p.wait(2);
  p.copy(sumB, outB);
  p.wait(0);
  p.copy(sumA, outA);
  std::vector<uint8_t> image = p.image();
  std::vector<float> values(4 * 999);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(1 + i / 999);
  for (int workers : {1, 2, 4}) {
    Loaded program(image, devices(4), workers);
    program.write(0, values);
    program.write(1, std::vector<float>{2, 4, 6, 8});
    for (int run = 0; run < 20; ++run) {
      REQUIRE(program.run() == "");
      REQUIRE(program.read<float>(0, 4 * 999) ==
              std::vector<float>(4 * 999, 10));
      REQUIRE(program.read<float>(1, 4) == std::vector<float>(4, 20));
      REQUIRE(program.read<float>(2, 4) == std::vector<float>{2, 4, 6, 8});
    }
    uint64_t count = 0;
    program.counted("all_reduce", &count);
    CHECK(count == 2);
  }
}
