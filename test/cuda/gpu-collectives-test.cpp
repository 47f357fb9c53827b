// Compares collectives on GPUs with those on CPUs: equal bits and equal
// counters, for every element type, on 2, 3 and 8 devices, with uneven shards
// and part groups.
#include "weft/test/cuda/EqualRuns.h"

using namespace weft::test;

namespace {

constexpr int64_t kDevices[] = {2, 3, 8};

/// All types; between GPUs that exchange data one of each size and kind, as the
/// kernels are the same.
std::vector<DType> testedTypes() {
  if (std::getenv("WEFT_TEST_COLLECTIVES"))
    return {DType::i1, DType::bf16, DType::f32, DType::i64, DType::c128};
  return {std::begin(EnumValuesDType()), std::end(EnumValuesDType())};
}
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
  for (DType dtype : testedTypes())
    for (ReduceKind kind : EnumValuesReduceKind())
      for (int64_t devices : kDevices) {
        if (!hasReduction(dtype, kind))
          continue;
        PlanBuilder p({{"x", devices}});
        Axes axes = {fullAxis(0, devices)};
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
  Axes axes = {fullAxis(0, 4)};
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

TEST_CASE("every device waits for the end of a collective") {
  PlanBuilder p({{"x", 8}});
  Axes axes = {fullAxis(0, 8)};
  uint32_t v = p.state("v", DType::f32, {8 * 500}, {axes});
  uint32_t w = p.state("w", DType::f32, {8 * 500}, {axes});
  uint32_t moved = p.arena(DType::f32, {500});
  p.allReduce({v}, {v}, axes);
  p.copy(v, moved);
  p.collectivePermute(moved, w, axes, {1, 2, 3, 4, 5, 6, 7, 0});
  p.copy(w, v);
  checkEqual({p.image(),
              "all_reduce",
              DType::f32,
              {randomBytes(DType::f32, 8 * 500, 1),
               randomBytes(DType::f32, 8 * 500, 2)},
              8,
              2});
}

TEST_CASE("uneven reduce-scatters have the bits of the CPU") {
  for (DType dtype : testedTypes())
    for (int64_t devices : kDevices)
      for (uint32_t dim : {0u, 1u}) {
        PlanBuilder p({{"x", devices}});
        Axes axes = {fullAxis(0, devices)};
        std::vector<Axes> split(2);
        split[dim] = axes;
        uint32_t in = p.input("in", dtype, {37, 29}, {{}, {}});
        uint32_t out = p.output("out", dtype, {37, 29}, split);
        // A replicated input is equal on all devices; this one differs, so that
        // sums round.
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
  for (DType dtype : testedTypes())
    for (int64_t devices : kDevices) {
      Axes axes = {fullAxis(0, devices)};
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
  for (DType dtype : testedTypes())
    for (int64_t devices : kDevices) {
      Axes axes = {fullAxis(0, devices)};
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
      check("move", [&](PlanBuilder &p, uint32_t in, auto &) {
        // Rows turned around after a border that repeats the last one, with
        // columns in the opposite order.
        Shape to = {devices * 5 + devices, 7};
        uint32_t out = p.output("out", dtype, to, {axes, {}});
        int64_t n = devices * 5;
        p.move(
            in, out, axes, shape, {axes, {}}, to, {axes, {}},
            {0, 2, 2, 0,       0, devices, 7, 1, 1, 0, 1, n - 1, 6, 0,  -1, //
             0, 2, 2, devices, 0, n,       7, 1, 1, 0, 1, n - 1, 0, -1, 1});
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
  std::vector<Axes> all = {{fullAxis(0, 4), fullAxis(1, 2)}};
  uint32_t v = p.state("v", DType::bf16, {8 * 300}, all);
  uint32_t other = p.arena(DType::bf16, {300});
  p.allReduce({v}, {v}, {fullAxis(1, 2)});
  p.allReduce({v}, {other}, {fullAxis(0, 4)});
  p.allReduce({other}, {v}, {SubAxis(0, 1, 2)}, ReduceKind::max);
  p.allReduce({v}, {v}, {SubAxis(0, 2, 2), fullAxis(1, 2)});
  checkEqual({p.image(),
              "all_reduce",
              DType::bf16,
              {randomBytes(DType::bf16, 8 * 300, 1)},
              8});
}

TEST_CASE("GPUs that cannot address each other: their groups run, others are "
          "refused",
          "[.apart]") {
  // Requires FAKE_CUDA_GPUS=2 FAKE_CUDA_PEERS=none WEFT_CUDA_LIBRARIES=none.
  PlanBuilder p({{"x", 2}, {"y", 2}});
  std::vector<Axes> all = {{fullAxis(0, 2), fullAxis(1, 2)}};
  uint32_t v = p.state("v", DType::f32, {4 * 30}, all);
  p.allReduce({v}, {v}, {fullAxis(1, 2)});
  checkEqual({p.image(),
              "all_reduce",
              DType::f32,
              {randomBytes(DType::f32, 4 * 30, 1)},
              4});
  PlanBuilder q({{"x", 2}, {"y", 2}});
  v = q.state("v", DType::f32, {4 * 30}, all);
  q.allReduce({v}, {v}, {fullAxis(0, 2)});
  Loaded program(q.image(), "cuda:4");
  CHECK(program.run() ==
        "instruction 0 (all_reduce of the test) of program \"test\": GPUs 0 "
        "and 1 cannot address each other's memory (nvidia-smi topo -p2p r), "
        "and NCCL is not used: WEFT_CUDA_LIBRARIES names no folder; install "
        "NCCL 2.18 or later, or run it on one GPU (CUDA_VISIBLE_DEVICES=0) or "
        "on cpu:N");
}

TEST_CASE("a copy of many pieces") {
  // A device has 18,000 words of rows, or 14,000 of columns; pieces have 4,096.
  for (uint32_t dim : {0u, 1u}) {
    PlanBuilder p({{"x", 2}});
    std::vector<Axes> split(2);
    split[dim] = {fullAxis(0, 2)};
    Shape shape = dim ? Shape{70, 401} : Shape{180, 201};
    uint32_t in = p.input("in", DType::f32, shape, split);
    uint32_t out = p.output("out", DType::f32, shape, {{}, {}});
    p.allGather(in, out, {fullAxis(0, 2)}, dim);
    checkEqual({p.image(),
                "all_gather",
                DType::f32,
                {randomBytes(DType::f32, size_t(shape[0] * shape[1]), 1)},
                2});
  }
}

TEST_CASE(
    "a pick along an inner dimension, of fewer elements than a block has") {
  PlanBuilder p({{"x", 3}});
  uint32_t in =
      p.input("in", DType::i16, {4, 15, 2}, {{}, {fullAxis(0, 3)}, {}});
  uint32_t at =
      p.input("at", DType::i64, {4, 6, 2}, {{}, {fullAxis(0, 3)}, {}});
  uint32_t out =
      p.output("out", DType::i16, {4, 6, 2}, {{}, {fullAxis(0, 3)}, {}});
  p.pick(in, at, out, {fullAxis(0, 3)}, 1);
  std::vector<uint8_t> positions(4 * 6 * 2 * 8);
  for (size_t i = 0; i < 48; ++i)
    positions[i * 8] = uint8_t(i * 11 % 15);
  checkEqual({p.image(),
              "pick",
              DType::i16,
              {randomBytes(DType::i16, 4 * 15 * 2, 1), positions},
              3});
}

TEST_CASE("devices meet at the same instruction in each round of a loop") {
  PlanBuilder p({{"x", 3}});
  Axes axes = {fullAxis(0, 3)};
  uint32_t v = p.state("v", DType::f32, {3 * 40}, {axes});
  std::vector<uint32_t> more;
  for (const char *name : {"first", "second", "third", "fourth"})
    more.push_back(p.state(name, DType::i1, {3}, {axes}));
  JumpUnlessT &end = p.jumpUnless(more[0], 0);
  p.allReduce({v}, {v}, axes);
  for (size_t i = 0; i + 1 < more.size(); ++i)
    p.copy(more[i + 1], more[i]);
  p.jump(0);
  end.target = p.next();
  std::vector<uint8_t> all = {1, 1, 1}, none = {0, 0, 0};
  checkEqual({p.image(),
              "all_reduce",
              DType::f32,
              {randomBytes(DType::f32, 120, 1), all, all, all, none},
              3,
              1,
              1});
}

TEST_CASE("functions of the host are refused") {
  PlanBuilder p({{"x", 2}});
  uint32_t v = p.state("v", DType::f32, {4}, {{fullAxis(0, 2)}});
  uint32_t w = p.output("w", DType::f32, {4}, {{fullAxis(0, 2)}});
  p.hostCall(7, {v}, {w}, {fullAxis(0, 2)});
  Loaded program(p.image(), "cuda:2");
  CHECK(
      program.run() ==
      "instruction 0 (host_call of the test) of program \"test\": GPUs do not "
      "call functions of the host; run it on cpu:N");
}

TEST_CASE("groups that reshard in different ways") {
  // Two rows in one group, one in the other; y goes from columns to the third
  // dimension.
  for (DType dtype : {DType::f32, DType::i8})
    for (Shape shape : {Shape{3, 5, 6}, Shape{3, 8, 4}}) {
      PlanBuilder p({{"x", 2}, {"y", 4}});
      std::vector<Axes> from = {{fullAxis(0, 2)}, {fullAxis(1, 4)}, {}};
      std::vector<Axes> to = {{fullAxis(0, 2)}, {}, {fullAxis(1, 4)}};
      uint32_t in = p.input("in", dtype, shape, from);
      uint32_t out = p.output("out", dtype, shape, to);
      p.collective("exchange", PlanBuilder::movement(shape, from, to), {in},
                   {out}, {fullAxis(1, 4)});
      checkEqual(
          {p.image(),
           "exchange",
           dtype,
           {randomBytes(dtype, size_t(shape[0] * shape[1] * shape[2]), 1)},
           8});
    }
}
