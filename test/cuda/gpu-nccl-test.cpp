// Collectives that NCCL's own calls compute, with --collectives nccl: sums are
// within rounding of those of the CPU and equal on all devices, and what only
// moves has the same bytes. Run on one GPU, and with several and
// WEFT_TEST_COLLECTIVES=nccl.
#include "weft/test/cuda/EqualRuns.h"

using namespace weft::test;

static std::vector<float> numbers(size_t count) {
  std::mt19937 random(7);
  std::vector<float> out(count);
  for (float &number : out)
    number = std::uniform_real_distribution<float>(-1, 1)(random);
  return out;
}

TEST_CASE(
    "sums are equal on all devices, and those of the CPU but for rounding") {
  constexpr int64_t devices = 8, n = 1001;
  PlanBuilder p({{"x", devices}});
  Axes axes = {fullAxis(0, devices)};
  uint32_t a = p.state("a", DType::f32, {devices * n}, {axes});
  uint32_t b = p.state("b", DType::f32, {devices * 3}, {axes});
  p.allReduce({a, b}, {a, b}, axes);
  Loaded program(p.image(), "cuda:8");
  std::vector<float> as = numbers(devices * n), bs = numbers(devices * 3);
  program.write(0, as);
  program.write(1, bs);
  REQUIRE(program.run() == "");
  std::vector<float> first = program.local<float>(0, 0);
  for (int64_t d = 1; d < devices; ++d) {
    CHECK(program.local<float>(0, d) == first);
    CHECK(program.local<float>(1, d) == program.local<float>(1, 0));
  }
  bool isOtherOrder = false;
  for (size_t i = 0; i < n; ++i) {
    double sum = 0;
    float inOrder = 0;
    for (size_t d = 0; d < devices; ++d) {
      sum += double(as[d * n + i]);
      inOrder += as[d * n + i];
    }
    REQUIRE(std::abs(double(first[i]) - sum) < 8 * 8 * 0x1p-24);
    isOtherOrder |= first[i] != inOrder;
  }
  // The sums are those of the library, which one GPU does not use.
  CHECK(isOtherOrder == (std::getenv("WEFT_TEST_COLLECTIVES") != nullptr));
}

TEST_CASE("sums of a part of the mesh, some within a GPU") {
  PlanBuilder p({{"x", 4}, {"y", 2}});
  std::vector<Axes> all = {{fullAxis(0, 4), fullAxis(1, 2)}};
  uint32_t v = p.state("v", DType::i32, {8 * 300}, all);
  uint32_t other = p.arena(DType::i32, {300});
  p.allReduce({v}, {v}, {fullAxis(1, 2)});
  p.allReduce({v}, {other}, {fullAxis(0, 4)});
  p.allReduce({other}, {v}, {SubAxis(0, 1, 2)}, ReduceKind::max);
  p.allReduce({v}, {v}, {SubAxis(0, 2, 2), fullAxis(1, 2)});
  checkEqual({p.image(),
              "all_reduce",
              DType::i32,
              {randomBytes(DType::i32, 8 * 300, 1)},
              8,
              1,
              1});
}

TEST_CASE("sums of integers, and blocks of them, have the bits of the CPU") {
  for (DType dtype :
       {DType::i8, DType::i32, DType::ui32, DType::i64, DType::ui64})
    for (ReduceKind kind : {ReduceKind::sum, ReduceKind::prod, ReduceKind::max,
                            ReduceKind::min}) {
      PlanBuilder p({{"x", 8}});
      Axes axes = {fullAxis(0, 8)};
      uint32_t v = p.state("v", dtype, {8 * 123}, {axes});
      p.allReduce({v}, {v}, axes, kind);
      checkEqual({p.image(),
                  "all_reduce",
                  dtype,
                  {randomBytes(dtype, 8 * 123, 1)},
                  8});
    }
  PlanBuilder p({{"x", 8}});
  Axes axes = {fullAxis(0, 8)};
  uint32_t own = p.input("own", DType::i32, {24 * 8, 5}, {axes, {}});
  uint32_t part = p.output("part", DType::i32, {24, 5}, {axes, {}});
  p.reduceScatter(own, part, axes, 0);
  checkEqual({p.image(),
              "reduce_scatter",
              DType::i32,
              {randomBytes(DType::i32, 24 * 8 * 5, 2)},
              8});
}

TEST_CASE("even blocks are gathered, and one device's array is sent to all") {
  for (DType dtype : {DType::i1, DType::bf16, DType::c128}) {
    Axes axes = {fullAxis(0, 8)};
    PlanBuilder p({{"x", 8}});
    uint32_t in = p.input("in", dtype, {16, 3}, {axes, {}});
    uint32_t all = p.output("all", dtype, {16, 3}, {{}, {}});
    p.allGather(in, all, axes, 0);
    checkEqual(
        {p.image(), "all_gather", dtype, {randomBytes(dtype, 48, 1)}, 8});
    PlanBuilder q({{"x", 8}});
    in = q.input("in", dtype, {16, 3}, {axes, {}});
    uint32_t out = q.output("out", dtype, {16, 3}, {axes, {}});
    q.collectivePermute(in, out, axes, Shape(8, 5));
    checkEqual({q.image(),
                "collective_permute",
                dtype,
                {randomBytes(dtype, 48, 1)},
                8});
  }
}

TEST_CASE("gathers whose digits are not in the order of the group") {
  // Blocks of [{"y", "x"}] are not in the order of the devices.
  PlanBuilder p({{"x", 4}, {"y", 2}});
  Axes turned = {fullAxis(1, 2), fullAxis(0, 4)};
  uint32_t in = p.input("in", DType::f32, {16, 3}, {turned, {}});
  uint32_t all = p.output("all", DType::f32, {16, 3}, {{}, {}});
  p.allGather(in, all, turned, 0);
  checkEqual({p.image(),
              "all_gather",
              DType::f32,
              {randomBytes(DType::f32, 48, 1)},
              8});
}

TEST_CASE("a GPU that fails ends those that wait for it", "[.failing]") {
  // Requires FAKE_CUDA_GPUS=2 FAKE_CUDA_FAIL=kernel:2: the second of the kernels
  // that sum on a GPU fails, and the other GPU waits in the call of NCCL.
  PlanBuilder p({{"x", 4}});
  Axes axes = {fullAxis(0, 4)};
  uint32_t v = p.state("v", DType::f32, {16}, {axes});
  p.allReduce({v}, {v}, axes);
  Loaded program(p.image(), "cuda:4");
  std::string first = program.run();
  CHECK(first.starts_with("cuStreamSynchronize failed with CUDA_ERROR_"));
  CHECK(first.find("while \"test\" ran on device") != std::string::npos);
  CHECK(program.run() != "");
}

TEST_CASE("a GPU that fails ends a loop of the others", "[.loop]") {
  // Requires FAKE_CUDA_GPUS=2 FAKE_CUDA_FAIL=kernel:1: the condition that is read
  // first is that of the GPU that waits.
  PlanBuilder p({{"x", 4}});
  Axes axes = {fullAxis(0, 4)};
  uint32_t v = p.state("v", DType::f32, {16}, {axes});
  uint32_t on = p.state("on", DType::i1, {4}, {axes});
  p.allReduce({v}, {v}, axes);
  JumpUnlessT &end = p.jumpUnless(on, 0);
  p.jump(0);
  end.target = p.next();
  Loaded program(p.image(), "cuda:4");
  program.write(1, std::vector<uint8_t>(4, 1));
  CHECK(program.run().find("failed with CUDA_ERROR_") != std::string::npos);
}

TEST_CASE("a call that fails ends the communicators", "[.call]") {
  // Requires FAKE_CUDA_GPUS=2 FAKE_CUDA_FAIL=ncclAllReduce:2.
  PlanBuilder p({{"x", 2}});
  Axes axes = {fullAxis(0, 2)};
  uint32_t v = p.state("v", DType::f32, {16}, {axes});
  p.allReduce({v}, {v}, axes);
  Loaded program(p.image(), "cuda:2");
  CHECK(program.run().find("ncclAllReduce failed with unhandled cuda error") !=
        std::string::npos);
  std::string again = program.run();
  CAPTURE(again);
  CHECK(again.ends_with("NCCL's communicators were ended by an earlier "
                        "error; create the runtime again"));
}
