// Runs of several devices on GPUs: loops, deadlocks, changed buffers, failures.
#include "weft/runtime/abi/gpus.h"
#include "weft/test/cuda/CudaDriver.h"
#include "weft/test/cuda/EqualRuns.h"

using namespace weft::test;

/// A plan in which each device repeats a loop as often as its own `rounds` has
/// ones, with a sum in each iteration.
static PlanBuilder loop(int64_t devices) {
  PlanBuilder p({{"x", devices}});
  Axes axes = {fullAxis(0, devices)};
  uint32_t v = p.state("v", DType::f32, {devices * 40}, {axes});
  std::vector<uint32_t> rounds;
  for (const char *name : {"first", "second", "third"})
    rounds.push_back(p.input(name, DType::i1, {devices}, {axes}));
  std::vector<JumpUnlessT *> ends;
  for (uint32_t more : rounds) {
    ends.push_back(&p.jumpUnless(more, 0));
    p.allReduce({v}, {v}, {fullAxis(0, devices)});
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
    // The next run is right again.
    for (size_t i : {1, 2, 3})
      program.write(i, std::vector<uint8_t>{1, 1, 1});
    CHECK(program.run() == "");
  }
  CHECK(messages[0].starts_with("deadlock in \"test\": no group is complete; "
                                "device 0 waits at instruction 4"));
  CHECK(messages[1] == messages[0]);
}

TEST_CASE("a program runs with other buffers than before") {
  PlanBuilder p({{"x", 2}});
  Axes axes = {fullAxis(0, 2)};
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
  // Requires FAKE_CUDA_FAIL=kernel:2.
  PlanBuilder p({{"x", 2}});
  Axes axes = {fullAxis(0, 2)};
  uint32_t v = p.state("v", DType::f32, {8}, {axes});
  p.allReduce({v}, {v}, axes);
  Loaded program(p.image(), "cuda:2");
  CHECK(program.run() == "");
  std::string first = program.run();
  CHECK(first.starts_with("cuStreamSynchronize failed with CUDA_ERROR_"));
  CHECK(first.ends_with("while \"test\" ran on device 0"));
  CHECK(program.run().starts_with(
      "the GPU runs nothing more in this process, which must be started again, "
      "since cuStreamSynchronize failed with "));
}

TEST_CASE("each run that is enqueued ahead has its own error", "[.ahead]") {
  // Requires FAKE_CUDA_FAIL=kernel:2.
  PlanBuilder p({{"x", 2}});
  Axes axes = {fullAxis(0, 2)};
  uint32_t v = p.state("v", DType::f32, {8}, {axes});
  p.allReduce({v}, {v}, axes);
  Loaded program(p.image(), "cuda:2", 0, false);
  program.write(0, std::vector<float>(8, 1));
  std::vector<float> values(8);
  weft_result result = {0, values.data(), 32};
  weft_ticket *runs[3] = {};
  for (weft_ticket *&run : runs)
    REQUIRE(take(weft_execute_with_results(
                program.runtime, program.program, program.inputs.data(),
                program.outputs.data(), &result, 1, &run)) == "");
  CHECK(take(weft_ticket_wait(runs[0])) == "");
  CHECK(values == std::vector<float>(8, 2));
  std::string second = take(weft_ticket_wait(runs[1]));
  CHECK(second.find("failed with CUDA_ERROR_") != std::string::npos);
  CHECK(take(weft_ticket_wait(runs[2])).find("CUDA_ERROR_") !=
        std::string::npos);
  CHECK(values == std::vector<float>(8, 2)); // of the run that was right
  for (weft_ticket *run : runs)
    weft_ticket_free(run);
}

TEST_CASE("calls leave the caller's context current") {
  const weft::cuda::Cuda &cuda = weft::cuda::loadedCuda();
  int gpus = 0;
  REQUIRE(cuda.cuInit(0) == weft::cuda::Result::Success);
  REQUIRE(cuda.cuDeviceGetCount(&gpus) == weft::cuda::Result::Success);
  // Another library of the process uses the last GPU, or none.
  weft::cuda::Context own = nullptr, current = nullptr;
  if (gpus > 1)
    REQUIRE(cuda.cuDevicePrimaryCtxRetain(&own, gpus - 1) ==
            weft::cuda::Result::Success);
  REQUIRE(cuda.cuCtxSetCurrent(own) == weft::cuda::Result::Success);
  auto isKept = [&] {
    cuda.cuCtxGetCurrent(&current);
    bool isOwn = current == own;
    cuda.cuCtxSetCurrent(own);
    return isOwn;
  };
  {
    PlanBuilder p({{"x", 2}});
    Axes axes = {fullAxis(0, 2)};
    uint32_t in = p.input("in", DType::f32, {8}, {axes});
    uint32_t out = p.output("out", DType::f32, {8}, {axes});
    p.allReduce({in}, {out}, axes);
    Loaded program(p.image(), "cuda:2");
    CHECK(isKept());
    program.write(0, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
    CHECK(isKept());
    REQUIRE(program.run() == "");
    CHECK(isKept());
    CHECK(program.read<float>(0, 8) ==
          std::vector<float>{6, 8, 10, 12, 6, 8, 10, 12});
    CHECK(isKept());
  }
  CHECK(isKept());
  const weft_gpu_library *libraries = nullptr;
  size_t count = 0;
  weft_error_free(weft_gpu_libraries(&libraries, &count));
  CHECK(isKept());
  if (own)
    cuda.cuDevicePrimaryCtxRelease(gpus - 1);
  cuda.cuCtxSetCurrent(nullptr);
}
