// Devices of one process store and compute once what a plan calls equal.
#include "weft/test/unit/runtime-plan.h"

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

using namespace weft::test;

namespace {
/// Builds programs on a mesh of 2 x 4 with buffers that are shared over axes.
struct SharedPlan : PlanBuilder {
  SharedPlan() : PlanBuilder({{"data", 2}, {"model", 4}}) {}

  int32_t sharing(Axes axes) {
    auto its = std::make_unique<SharingT>();
    its->axes = std::move(axes);
    program.sharings.push_back(std::move(its));
    return int32_t(program.sharings.size()) - 1;
  }
  uint32_t shared(uint32_t buffer, int32_t sharing) {
    program.buffers[buffer]->shared = sharing;
    program.buffers[buffer]->shared_offset = program.buffers[buffer]->offset;
    return buffer;
  }
  /// Adds a launch whose last buffer is its result.
  LaunchT &launch(const std::string &symbol, std::vector<uint32_t> buffers,
                  int32_t sharing) {
    HostKernelT code;
    code.symbol = symbol;
    kernel(std::move(code)).results = 1;
    LaunchT &op = launchLast(std::move(buffers));
    op.shared = sharing;
    return op;
  }
};
} // namespace

/// w += sum over data of x, counted by a state: w and the count are shared over
/// data, and so is the sum.
static std::vector<uint8_t> update() {
  SharedPlan p;
  Axes data = {fullAxis(0, 2)};
  int32_t over = p.sharing(data);
  uint32_t x = p.input("x", DType::f32, {2, 4, 1000},
                       {{fullAxis(0, 2)}, {fullAxis(1, 4)}, {}});
  uint32_t w = p.shared(
      p.state("w", DType::f32, {4, 1000}, {{fullAxis(1, 4)}, {}}), over);
  uint32_t count = p.shared(p.state("count", DType::i32, {}, {}), over);
  uint32_t g = p.arena(DType::f32, {1, 1, 1000});
  uint32_t sum = p.shared(p.arena(DType::f32, {1, 1, 1000}), over);
  uint32_t y = p.shared(p.arena(DType::f32, {1, 1000}), over);
  p.launch("mixed", {x, g}, -1);
  p.allReduce({g}, {sum}, data);
  p.launch("mixed", {sum, y}, over);
  CopyT copy;
  copy.source = y;
  copy.target = w;
  copy.shared = over;
  p.add(copy);
  p.launch("increment", {count}, over);
  return p.image();
}

static std::vector<float> samples() {
  std::vector<float> x = iota<float>(8000);
  for (float &value : x)
    value = value / 8000;
  return x;
}

/// The results of two runs.
static std::vector<float> runs(int workers, bool share, bool isolate) {
  std::vector<uint8_t> image = update();
  Loaded program(image, "cpu:8", workers);
  weft_runtime_share(program.runtime, share);
  REQUIRE(take(weft_runtime_isolate(program.runtime, isolate)) == "");
  program.write(0, samples());
  program.write(1, iota<float>(4000));
  program.write(2, std::vector<int32_t>{5});
  for (int run = 0; run < 2; ++run)
    REQUIRE(program.run() == "");
  CHECK(program.read<int32_t>(1, 1)[0] == 7); // once for each run
  for (int64_t position = 0; position < 8; ++position) {
    CHECK(program.local<int32_t>(1, position)[0] == 7);
    bool isSame = weft_buffer_local(program.outputs[0], position, nullptr) ==
                  weft_buffer_local(program.outputs[0], position % 4, nullptr);
    CHECK(isSame == (share || position < 4));
  }
  weft_sharing its = weft_runtime_sharing(program.runtime);
  CHECK(its.instructions == (share ? 3 : 0));
  CHECK(its.waits == (share ? 1 : 0));
  CHECK((its.bytes > 7 * 4000) == share);
  uint64_t occurrences = 0;
  CHECK(program.counted("all_reduce", &occurrences) == 4000);
  CHECK(occurrences == 1);
  return program.read<float>(0, 4000);
}

TEST_CASE("results have the same bits with shared memory and without") {
  std::vector<float> expected = runs(1, false, false);
  CHECK(runs(1, false, true) == expected);
  CHECK(runs(1, true, true) == expected);
  for (int workers : {1, 2, 5, 16})
    CHECK(runs(workers, true, false) == expected);
}

TEST_CASE("arrays are adapted to what a run shares") {
  std::vector<uint8_t> image = update();
  Loaded program(image, "cpu:8", 2);
  program.write(0, samples());
  program.write(1, iota<float>(4000));
  program.write(2, std::vector<int32_t>{0});
  std::vector<float> expected;
  for (int share : {0, 1, 1, 0, 0, 1}) {
    weft_runtime_share(program.runtime, share);
    REQUIRE(program.run() == "");
    std::vector<float> got = program.read<float>(0, 4000);
    expected = expected.empty() ? got : expected;
    CHECK(got == expected);
    auto at = [&](int64_t position) {
      return weft_buffer_local(program.outputs[0], position, nullptr);
    };
    CHECK((at(1) == at(5)) == bool(share));
  }
  CHECK(program.read<int32_t>(1, 1)[0] == 6);
}

TEST_CASE("memory of the caller is shared if all sharers give the same") {
  std::vector<uint8_t> image = update();
  Loaded program(image, "cpu:8", 2);
  for (size_t p = 0; p < 8; ++p)
    CHECK(weft_program_holder(program.program, 0, int64_t(p)) ==
          int64_t(p) % 4);
  struct alignas(64) Block {
    float values[1024];
  };
  std::vector<Block> x(8), w(8), count(8);
  std::vector<float> data = samples();
  for (size_t p = 0; p < 8; ++p)
    std::copy_n(data.data() + 1000 * p, 1000, x[p].values);
  auto run = [&](size_t stepsOfW) {
    std::vector<void *> inputs, outputs;
    for (Block &block : x)
      inputs.push_back(&block);
    for (size_t p = 0; p < 8; ++p)
      outputs.push_back(&w[p % stepsOfW]);
    for (size_t p = 0; p < 8; ++p)
      outputs.push_back(&count[p % 4]);
    inputs.insert(inputs.end(), outputs.begin(), outputs.end());
    return take(weft_execute_local(program.runtime, program.program,
                                   inputs.data(), outputs.data()));
  };
  REQUIRE(run(4) == "");
  for (size_t p = 0; p < 4; ++p)
    CHECK(reinterpret_cast<int32_t &>(count[p]) == 1);
  // The devices would count in one memory, each on its own.
  CHECK(run(8).starts_with("the memory for \"count\" at position "));
  weft_runtime_share(program.runtime, 0);
  CHECK(run(4).starts_with("the memory for \""));
}

static void reportFault(int) { _exit(42); }

TEST_CASE("shared memory is only readable for one of its devices") {
  for (bool writes : {false, true}) {
    pid_t child = fork();
    if (child == 0) {
      signal(SIGSEGV, reportFault);
      SharedPlan p;
      int32_t over = p.sharing({fullAxis(0, 2)});
      uint32_t w = p.shared(p.state("w", DType::f32, {}, {}), over);
      uint32_t own = p.arena(DType::f32, {});
      p.PlanBuilder::launch("leave", {w});
      if (writes) // a kernel that does not say what it writes
        p.PlanBuilder::launch("increment", {w});
      p.PlanBuilder::launch("reach_over", {own});
      Loaded program(p.image(), "cpu:8", 1, false);
      program.write(0, std::vector<float>{1});
      if (!take(weft_runtime_isolate(program.runtime, 1)).empty())
        ::_exit(1);
      // Devices of another `model` do not share with the first.
      std::string failed = program.run();
      ::_exit(failed.empty() ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WEXITSTATUS(status) == 42);
  }
}

TEST_CASE("plans that write shared buffers in another way are refused") {
  auto refused = [](auto change) {
    SharedPlan p;
    Axes data = {fullAxis(0, 2)}, model = {fullAxis(1, 4)};
    int32_t over = p.sharing(data);
    uint32_t w = p.shared(p.state("w", DType::f32, {}, {}), over);
    uint32_t own = p.arena(DType::f32, {});
    uint32_t sum = p.shared(p.arena(DType::f32, {}), over);
    p.allReduce({own}, {sum}, data);
    p.launch("increment", {w}, over);
    change(p);
    p.add(ReturnT());
    weft_program *program = nullptr;
    std::vector<uint8_t> image =
        weft::assembleProgramFile(kernelLibrary(), p.planBytes(), 0);
    std::string text =
        take(weft_program_load_memory(image.data(), image.size(), &program));
    weft_program_free(program);
    return text;
  };
  CHECK(refused([](auto &) {}) == "");
  CHECK(refused([](auto &p) {
          p.program.sharings[0]->axes[0] = {7, 1, 2};
        }).starts_with("bad plan: sharing 0: "));
  CHECK(refused([](auto &p) { p.program.buffers[0]->shared = 1; }) ==
        "bad plan: buffer 0 has the sharing 1 of 1");
  CHECK(refused([](auto &p) {
          p.program.instructions[2]->operation.AsLaunch()->shared = -1;
        }) == "bad plan: instruction 2 has the sharing -1 and writes buffer 0 "
              "of sharing 0");
  CHECK(refused([](auto &p) { p.copy(0, 0); }) ==
        "bad plan: instruction 3 has the sharing -1 and writes buffer 0 of "
        "sharing 0");
  CHECK(refused([](auto &p) {
          p.program.instructions[0]->operation.AsStart()->group = {
              fullAxis(1, 4)};
        }) ==
        "bad plan: instruction 0 (all_reduce of the test) writes buffer 2 "
        "of sharing 0 in other groups for positions 0 and 4");
  CHECK(refused([](auto &p) { p.program.buffers[2]->shared_offset = 2; }) ==
        "bad plan: buffer 2 is at 2 of shared memory, which is not aligned or "
        "too far");
  CHECK(refused([](auto &p) {
          p.shared(p.input("x", DType::f32, {2}, {{fullAxis(0, 2)}}), 0);
        }) == "bad plan: \"x\" has the sharing 0, in which positions 0 and 4 "
              "hold different shards");
}
