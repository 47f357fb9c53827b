// Collectives on GPUs against the same on CPUs: equal bits and equal counters, for
// every element type, on 2, 3 and 8 devices, with uneven shards and part groups.
#include "weft/runtime/program/SmallFloats.h"
#include "weft/test/unit/runtime-plan.h"

#include <cmath>
#include <cstring>
#include <random>

using namespace weft::test;

namespace {

template <typename T> T valueOf(const uint8_t *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

std::optional<weft::SmallFloat> formatOf(DType dtype) {
  switch (dtype) {
  case DType::f8E4M3FN:
    return weft::e4m3fn;
  case DType::f8E5M2:
    return weft::e5m2;
  case DType::f8E4M3:
    return weft::e4m3;
  case DType::f8E3M4:
    return weft::e3m4;
  case DType::f8E4M3FNUZ:
    return weft::e4m3fnuz;
  case DType::f8E5M2FNUZ:
    return weft::e5m2fnuz;
  case DType::f8E4M3B11FNUZ:
    return weft::e4m3b11fnuz;
  case DType::f8E8M0FNU:
    return weft::e8m0fnu;
  case DType::f4E2M1FN:
    return weft::e2m1fn;
  default:
    return std::nullopt;
  }
}

/// How many bytes of a type are one number, which may be NaN.
size_t bytesOfNumber(DType dtype) {
  return size_t(bytesOf(dtype)) /
         (dtype == DType::c64 || dtype == DType::c128 ? 2 : 1);
}

bool isNaN(DType dtype, const uint8_t *number) {
  if (std::optional<weft::SmallFloat> format = formatOf(dtype))
    return std::isnan(weft::smallToFloat(*number, *format));
  switch (dtype) {
  case DType::f16:
    return (valueOf<uint16_t>(number) & 0x7fff) > 0x7c00;
  case DType::bf16:
    return (valueOf<uint16_t>(number) & 0x7fff) > 0x7f80;
  case DType::f32:
  case DType::c64:
    return std::isnan(valueOf<float>(number));
  case DType::f64:
  case DType::c128:
    return std::isnan(valueOf<double>(number));
  default:
    return false;
  }
}

/// Any NaN as 0xFF bytes: which one comes of a sum is the processor's choice.
std::vector<uint8_t> withoutNaNs(DType dtype, std::vector<uint8_t> bytes) {
  size_t step = bytesOfNumber(dtype);
  for (size_t i = 0; i + step <= bytes.size(); i += step)
    if (isNaN(dtype, &bytes[i]))
      std::memset(&bytes[i], 0xFF, step);
  return bytes;
}

/// Random bits; below eight bits those above are 0.
std::vector<uint8_t> randomBytes(DType dtype, size_t elements, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> out(elements * size_t(bytesOf(dtype)));
  int mask =
      dtype == DType::i1                          ? 1
      : dtype == DType::i2 || dtype == DType::ui2 ? 3
      : dtype == DType::i4 || dtype == DType::ui4 || dtype == DType::f4E2M1FN
          ? 15
          : 255;
  for (uint8_t &byte : out)
    byte = uint8_t(random() & unsigned(mask));
  // Most sums of random bits of a wide float are its larger term: exponents near
  // each other, which round.
  size_t step = bytesOfNumber(dtype);
  bool isWide = dtype == DType::f32 || dtype == DType::c64 ||
                dtype == DType::f64 || dtype == DType::c128 ||
                dtype == DType::f16 || dtype == DType::bf16;
  for (size_t i = 0; isWide && i + step <= out.size(); i += step)
    if (random() % 8)
      out[i + step - 1] = uint8_t((out[i + step - 1] & 0x81) | 0x3c);
  return out;
}

struct Case {
  std::vector<uint8_t> image;
  std::string kind;
  DType dtype;
  std::vector<std::vector<uint8_t>> inputs;
  int64_t devices, outputs = 1;
};

void checkEqual(const Case &one) {
  INFO(one.kind << " of " << EnumNameDType(one.dtype) << " on " << one.devices);
  std::string count = std::to_string(one.devices);
  Loaded cpu(one.image, "cpu:" + count, 1), gpu(one.image, "cuda:" + count);
  for (Loaded *side : {&cpu, &gpu})
    for (size_t i = 0; i < one.inputs.size(); ++i)
      side->write(i, one.inputs[i]);
  for (int round = 0; round < 2; ++round) {
    REQUIRE(cpu.run() == "");
    REQUIRE(gpu.run() == "");
  }
  for (size_t o = 0; o < size_t(one.outputs); ++o)
    for (int64_t d = 0; d < one.devices; ++d)
      CHECK(withoutNaNs(one.dtype, gpu.local<uint8_t>(o, d)) ==
            withoutNaNs(one.dtype, cpu.local<uint8_t>(o, d)));
  uint64_t occurrences[2] = {};
  CHECK(gpu.counted(one.kind, &occurrences[0]) ==
        cpu.counted(one.kind, &occurrences[1]));
  CHECK(occurrences[0] == occurrences[1]);
  CHECK(occurrences[0] > 0);
}

constexpr int64_t kDevices[] = {2, 3, 8};

bool isComplex(DType dtype) {
  return dtype == DType::c64 || dtype == DType::c128;
}
bool hasReduction(DType dtype, ReduceKind kind) {
  bool isFloat = bytesOfNumber(dtype) != size_t(bytesOf(dtype)) ||
                 formatOf(dtype) || dtype <= DType::bf16;
  bool isBitwise = kind == ReduceKind::and_ || kind == ReduceKind::or_;
  bool isOrdered = kind == ReduceKind::max || kind == ReduceKind::min;
  return !(isFloat && isBitwise) && !(isComplex(dtype) && isOrdered);
}

} // namespace

TEST_CASE("all-reduces of every type and kind have the bits of the CPU") {
  constexpr int64_t n = 1237;
  for (DType dtype : EnumValuesDType())
    for (ReduceKind kind : EnumValuesReduceKind())
      for (int64_t devices : kDevices) {
        if (!hasReduction(dtype, kind))
          continue;
        PlanBuilder p({{"x", devices}});
        Axes axes = {whole(0, devices)};
        uint32_t v = p.state("v", dtype, {devices * n}, {axes});
        uint32_t in = p.input("in", dtype, {devices * 5}, {axes});
        uint32_t out = p.output("out", dtype, {devices * 5}, {axes});
        p.allReduce({v, in}, {v, out}, axes, kind);
        checkEqual({p.image(),
                    "all_reduce",
                    dtype,
                    {randomBytes(dtype, size_t(devices * n), 1),
                     randomBytes(dtype, size_t(devices * 5), 2)},
                    devices,
                    2});
      }
}

TEST_CASE("an all-reduce of several types at once") {
  PlanBuilder p({{"x", 4}});
  Axes axes = {whole(0, 4)};
  uint32_t a = p.state("a", DType::f32, {4 * 33333}, {axes});
  uint32_t b = p.state("b", DType::f32, {4 * 7}, {axes});
  uint32_t c = p.state("c", DType::f32, {4 * 100}, {axes});
  uint32_t d = p.arena(DType::i32, {100});
  p.copy(c, d);
  p.allReduce({a, d, b}, {a, d, b}, axes);
  p.copy(d, c);
  checkEqual(
      {p.image(),
       "all_reduce",
       DType::f32,
       {randomBytes(DType::f32, 4 * 33333, 1),
        randomBytes(DType::f32, 4 * 7, 2), randomBytes(DType::f32, 4 * 100, 3)},
       4,
       3});
}

TEST_CASE("uneven reduce-scatters have the bits of the CPU") {
  for (DType dtype : EnumValuesDType())
    for (int64_t devices : kDevices)
      for (uint32_t dim : {0u, 1u}) {
        PlanBuilder p({{"x", devices}});
        Axes axes = {whole(0, devices)};
        std::vector<Axes> split(2);
        split[dim] = axes;
        uint32_t in = p.input("in", dtype, {37, 29}, {{}, {}});
        uint32_t out = p.output("out", dtype, {37, 29}, split);
        // What is replicated would be the same on all: sums of other bits.
        uint32_t own = p.input("own", dtype, {37 * devices, 29}, {axes, {}});
        uint32_t part = p.output("part", dtype, {37, 29}, split);
        p.reduceScatter(in, out, axes, dim);
        p.reduceScatter(own, part, axes, dim);
        checkEqual({p.image(),
                    "reduce_scatter",
                    dtype,
                    {randomBytes(dtype, 37 * 29, 1),
                     randomBytes(dtype, size_t(37 * 29 * devices), 2)},
                    devices,
                    2});
      }
}

TEST_CASE("uneven all-gathers and all-to-alls move every byte") {
  for (DType dtype : EnumValuesDType())
    for (int64_t devices : kDevices) {
      Axes axes = {whole(0, devices)};
      for (uint32_t dim : {0u, 1u}) {
        PlanBuilder p({{"x", devices}});
        std::vector<Axes> split(2);
        split[dim] = axes;
        uint32_t in = p.input("in", dtype, {19, 23}, split);
        uint32_t out = p.output("out", dtype, {19, 23}, {{}, {}});
        p.allGather(in, out, axes, dim);
        checkEqual({p.image(),
                    "all_gather",
                    dtype,
                    {randomBytes(dtype, 19 * 23, 1)},
                    devices});
      }
      PlanBuilder p({{"x", devices}});
      uint32_t in = p.input("in", dtype, {19, 23}, {axes, {}});
      uint32_t out = p.output("out", dtype, {19, 23}, {{}, axes});
      p.allToAll(in, out, axes, 1, 0);
      checkEqual({p.image(),
                  "all_to_all",
                  dtype,
                  {randomBytes(dtype, 19 * 23, 1)},
                  devices});
    }
}

TEST_CASE("exchanges, fetches, permutes and picks move every byte") {
  for (DType dtype : EnumValuesDType())
    for (int64_t devices : kDevices) {
      Axes axes = {whole(0, devices)};
      Shape shape = {devices * 5, 7};
      size_t elements = size_t(devices * 35);
      auto check = [&](const std::string &kind, auto add) {
        PlanBuilder p({{"x", devices}});
        uint32_t in = p.input("in", dtype, shape, {axes, {}});
        std::vector<std::vector<uint8_t>> inputs = {
            randomBytes(dtype, elements, 1)};
        add(p, in, inputs);
        checkEqual({p.image(), kind, dtype, inputs, devices});
      };
      check("exchange", [&](PlanBuilder &p, uint32_t in, auto &) {
        uint32_t out = p.output("out", dtype, shape, {{}, axes});
        p.exchange(in, out, shape, {axes, {}}, {{}, axes});
      });
      check("fetch", [&](PlanBuilder &p, uint32_t in, auto &) {
        uint32_t out = p.output("out", dtype, {devices * 7, 7}, {axes, {}});
        p.fetch(in, out, axes, 0, {devices * 5, 5, 1, -1, 1, 0});
      });
      check("collective_permute", [&](PlanBuilder &p, uint32_t in, auto &) {
        uint32_t out = p.output("out", dtype, shape, {axes, {}});
        Shape senders;
        for (int64_t k = 0; k < devices; ++k)
          senders.push_back((k * 3 + 1) % devices);
        senders[0] = -1;
        p.collectivePermute(in, out, axes, senders);
      });
      check("pick", [&](PlanBuilder &p, uint32_t in, auto &inputs) {
        uint32_t at = p.input("at", DType::i64, shape, {axes, {}});
        uint32_t out = p.output("out", dtype, shape, {axes, {}});
        std::vector<uint8_t> positions(elements * 8);
        for (size_t i = 0; i < elements; ++i) {
          int64_t position = int64_t(i * 7919) % (devices * 5 + 4) - 2;
          std::memcpy(&positions[i * 8], &position, 8);
        }
        inputs.push_back(positions);
        p.pick(in, at, out, axes, 0);
      });
    }
}

TEST_CASE("groups of a part of the mesh, one behind the other") {
  // Rows, columns and halves of 4x2: each group is complete at its own time.
  PlanBuilder p({{"x", 4}, {"y", 2}});
  std::vector<Axes> all = {{whole(0, 4), whole(1, 2)}};
  uint32_t v = p.state("v", DType::bf16, {8 * 300}, all);
  uint32_t other = p.arena(DType::bf16, {300});
  p.allReduce({v}, {v}, {whole(1, 2)});
  p.allReduce({v}, {other}, {whole(0, 4)});
  p.allReduce({other}, {v}, {SubAxis(0, 1, 2)}, ReduceKind::max);
  p.allReduce({v}, {v}, {SubAxis(0, 2, 2), whole(1, 2)});
  checkEqual({p.image(),
              "all_reduce",
              DType::bf16,
              {randomBytes(DType::bf16, 8 * 300, 1)},
              8});
}

TEST_CASE(
    "devices of several GPUs: groups on one GPU run, others are refused") {
  PlanBuilder p({{"x", 2}, {"y", 2}});
  std::vector<Axes> all = {{whole(0, 2), whole(1, 2)}};
  uint32_t v = p.state("v", DType::f32, {4 * 30}, all);
  p.allReduce({v}, {v}, {whole(1, 2)});
  checkEqual({p.image(),
              "all_reduce",
              DType::f32,
              {randomBytes(DType::f32, 4 * 30, 1)},
              4});
  PlanBuilder q({{"x", 2}, {"y", 2}});
  v = q.state("v", DType::f32, {4 * 30}, all);
  q.allReduce({v}, {v}, {whole(0, 2)});
  Loaded program(q.image(), "cuda:4");
  std::string message = program.run();
  if (std::getenv("FAKE_CUDA_GPUS"))
    CHECK(message ==
          "instruction 0 (all_reduce of the test) of program \"test\": "
          "devices 0 and 2 are on GPUs 0 and 1, and collectives "
          "between GPUs are not there yet; run it on one GPU "
          "(CUDA_VISIBLE_DEVICES=0), or on cpu:N");
  else
    CHECK(message == "");
}

TEST_CASE("functions of the host are refused") {
  PlanBuilder p({{"x", 2}});
  uint32_t v = p.state("v", DType::f32, {4}, {{whole(0, 2)}});
  uint32_t w = p.output("w", DType::f32, {4}, {{whole(0, 2)}});
  p.hostCall(7, {v}, {w}, {whole(0, 2)});
  Loaded program(p.image(), "cuda:2");
  CHECK(
      program.run() ==
      "instruction 0 (host_call of the test) of program \"test\": GPUs do not "
      "call functions of the host; run it on cpu:N");
}

/// Devices that go round a loop as often as their own `rounds` has ones, with a sum
/// in each round.
static PlanBuilder loop(int64_t devices) {
  PlanBuilder p({{"x", devices}});
  Axes axes = {whole(0, devices)};
  uint32_t v = p.state("v", DType::f32, {devices * 40}, {axes});
  std::vector<uint32_t> rounds;
  for (const char *name : {"first", "second", "third"})
    rounds.push_back(p.input(name, DType::i1, {devices}, {axes}));
  std::vector<JumpUnlessT *> ends;
  for (uint32_t more : rounds) {
    ends.push_back(&p.jumpUnless(more, 0));
    p.allReduce({v}, {v}, {whole(0, devices)});
  }
  for (JumpUnlessT *end : ends)
    end->target = p.next();
  return p;
}

TEST_CASE("devices decide for themselves how often they meet") {
  std::vector<uint8_t> all = {1, 1}, none = {0, 0};
  checkEqual({loop(2).image(),
              "all_reduce",
              DType::f32,
              {randomBytes(DType::f32, 80, 1), all, all, none},
              2});
}

TEST_CASE("a deadlock ends the run, with the message of CPUs") {
  std::vector<uint8_t> image = loop(3).image();
  std::string messages[2];
  for (int gpu : {0, 1}) {
    Loaded program(image, gpu ? "cuda:3" : "cpu:3", 1);
    for (size_t i : {1, 2, 3})
      program.write(i, std::vector<uint8_t>{1, uint8_t(i != 2), 1});
    messages[gpu] = program.run();
    // And the next run is right again.
    for (size_t i : {1, 2, 3})
      program.write(i, std::vector<uint8_t>{1, 1, 1});
    CHECK(program.run() == "");
  }
  CHECK(messages[0].starts_with("deadlock in \"test\": no group is complete; "
                                "device 0 waits at instruction 3"));
  CHECK(messages[1] == messages[0]);
}

TEST_CASE("groups that reshard in different ways") {
  // Two rows in one group, one in the other; y goes from columns to the third
  // dimension.
  for (DType dtype : {DType::f32, DType::i8})
    for (Shape shape : {Shape{3, 5, 6}, Shape{3, 8, 4}}) {
      PlanBuilder p({{"x", 2}, {"y", 4}});
      std::vector<Axes> from = {{whole(0, 2)}, {whole(1, 4)}, {}};
      std::vector<Axes> to = {{whole(0, 2)}, {}, {whole(1, 4)}};
      uint32_t in = p.input("in", dtype, shape, from);
      uint32_t out = p.output("out", dtype, shape, to);
      ExchangeT own;
      own.shape = shape;
      own.from = PlanBuilder::layout(from);
      own.to = PlanBuilder::layout(to);
      p.collective(std::move(own), {in}, {out}, {whole(1, 4)});
      checkEqual(
          {p.image(),
           "exchange",
           dtype,
           {randomBytes(dtype, size_t(shape[0] * shape[1] * shape[2]), 1)},
           8});
    }
}

TEST_CASE("a program runs with other buffers than before") {
  PlanBuilder p({{"x", 2}});
  Axes axes = {whole(0, 2)};
  uint32_t in = p.input("in", DType::f32, {8}, {axes});
  uint32_t out = p.output("out", DType::f32, {8}, {axes});
  p.allReduce({in}, {out}, axes);
  Loaded program(p.image(), "cuda:2");
  program.write(0, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
  REQUIRE(program.run() == "");
  weft_buffer *other = nullptr;
  REQUIRE(take(weft_input_create(program.runtime, program.program, 0,
                                 &other)) == "");
  std::swap(program.inputs[0], other);
  program.write(0, std::vector<float>{10, 20, 30, 40, 50, 60, 70, 80});
  REQUIRE(program.run() == "");
  CHECK(program.read<float>(0, 8) ==
        std::vector<float>{60, 80, 100, 120, 60, 80, 100, 120});
  std::swap(program.inputs[0], other);
  REQUIRE(program.run() == "");
  CHECK(program.read<float>(0, 8) ==
        std::vector<float>{6, 8, 10, 12, 6, 8, 10, 12});
  weft_buffer_free(other);
}

TEST_CASE("a kernel that fails ends the GPU's runs", "[.failing]") {
  // Run with FAKE_CUDA_FAIL=kernel:2.
  PlanBuilder p({{"x", 2}});
  Axes axes = {whole(0, 2)};
  uint32_t v = p.state("v", DType::f32, {8}, {axes});
  p.allReduce({v}, {v}, axes);
  Loaded program(p.image(), "cuda:2");
  CHECK(program.run() == "");
  std::string first = program.run();
  CHECK(first.starts_with("cuStreamSynchronize failed with CUDA_ERROR_"));
  CHECK(first.ends_with("while \"test\" ran on device 0"));
  CHECK(program.run().starts_with("the GPU runs nothing more in this process "
                                  "since cuStreamSynchronize failed with "));
}
