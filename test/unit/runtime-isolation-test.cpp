// A device runs while the memory of all other devices is inaccessible.
#include "weft/test/unit/runtime-plan.h"

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

using namespace weft::test;

static void reportFault(int) { _exit(42); }

/// Returns the exit status of a process that runs the body; 42 for a memory
/// fault.
template <typename Body> static int statusOf(Body &&body) {
  pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, reportFault);
    body();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Returns a program in which every device reads memory of device 0, in its
/// port or in its arena.
static std::vector<uint8_t> reaching(bool intoPort) {
  PlanBuilder p({{"x", 2}});
  uint32_t v = p.state("v", DType::f32, {2}, {{fullAxis(0, 2)}});
  uint32_t t = p.arena(DType::f32, {1});
  uint32_t own = p.arena(DType::f32, {1});
  p.copy(v, t);
  p.launch("leave", {intoPort ? v : t});
  p.launch("reach_over", {own});
  return p.image();
}

TEST_CASE("a kernel that reaches into another device's memory is caught") {
  for (bool intoPort : {false, true})
    for (int isolate : {0, 1}) {
      // A runtime works only in the process that created it.
      auto run = [&] {
        Loaded program(reaching(intoPort), "cpu:3", 1, false);
        program.write(0, std::vector<float>{1, 2});
        if (!take(weft_runtime_isolate(program.runtime, isolate)).empty() ||
            !program.run().empty())
          ::_exit(1);
      };
      CHECK(statusOf(run) == (isolate ? 42 : 0));
    }
}

TEST_CASE("collectives open the memory of their group") {
  PlanBuilder p({{"row", 2}, {"column", 3}});
  uint32_t v =
      p.state("v", DType::f32, {2, 3}, {{fullAxis(0, 2)}, {fullAxis(1, 3)}});
  uint32_t t = p.arena(DType::f32, {1, 1});
  p.copy(v, t);
  p.allReduce({t}, {t}, {fullAxis(1, 3)});
  p.allReduce({t}, {v}, {fullAxis(0, 2)});
  std::vector<uint8_t> image = p.image();
  Loaded program(image, "cpu:6", 1);
  REQUIRE(take(weft_runtime_isolate(program.runtime, 1)) == "");
  for (int run = 0; run < 2; ++run) { // between runs all memory is accessible
    program.write(0, iota<float>(6));
    REQUIRE(program.run() == "");
    CHECK(program.read<float>(0, 6) == std::vector<float>(6, 15));
  }
  uint64_t count = 0;
  program.counted("all_reduce", &count);
  CHECK(count == 2);
}

TEST_CASE("devices are kept apart by one worker only") {
  weft_runtime *runtime = nullptr;
  REQUIRE(take(weft_runtime_create("cpu:2", 3, &runtime)) == "");
  CHECK(take(weft_runtime_isolate(runtime, 1)) ==
        "devices are kept apart by one worker, the runtime has 3; create it "
        "with 1");
  CHECK(take(weft_runtime_isolate(runtime, 0)) == "");
  weft_runtime_free(runtime);
  CHECK(take(weft_runtime_isolate(nullptr, 1)) == "null argument");
}
