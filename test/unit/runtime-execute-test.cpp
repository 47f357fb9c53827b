// Copies, launches, loops, donation, and the one deadlock message.
#include "weft/test/unit/runtime-plan.h"

#include <sys/wait.h>
#include <unistd.h>

using namespace weft::test;

TEST_CASE("a kernel gets its device's part and coordinate") {
  PlanBuilder p({{"x", 2}});
  std::vector<Axes> split = {{fullAxis(0, 2)}};
  uint32_t in = p.input("in", DType::f32, {7}, split);
  uint32_t out = p.output("out", DType::f32, {7}, split);
  uint32_t t = p.arena(DType::f32, {4});
  p.copy(in, t);
  p.launch("twice_plus_device", {t, out});
  Loaded program(p.image(), "cpu:2");
  program.write(0, iota<float>(7));
  REQUIRE(program.run() == "");
  CHECK(program.read<float>(0, 7) == std::vector<float>{0, 2, 4, 6, 9, 11, 13});
  // The padding of device 1 was poisoned: 7 elements, 2 x 4 places.
  float padding = program.local<float>(0, 1)[3];
  CHECK(padding != padding);
}

/// Returns the program: counter += 1 while counter < limit, limit = 2 + 3 *
/// row; each iteration has an all-reduce of `v` within the row, during which
/// the counter is increased if `isApart`.
static std::vector<uint8_t> rowLoops(bool isApart) {
  PlanBuilder p({{"row", 2}, {"column", 2}});
  uint32_t v =
      p.state("v", DType::f32, {4}, {{fullAxis(0, 2), fullAxis(1, 2)}});
  uint32_t counter = p.state("counter", DType::i32, {1}, {{}});
  uint32_t limit = p.arena(DType::i32, {});
  uint32_t goOn = p.arena(DType::i1, {});
  p.launch("limit_by_row", {limit});
  uint32_t head = p.next();
  p.launch("less", {counter, limit, goOn});
  JumpUnlessT &leave = p.jumpUnless(goOn, 0);
  if (!isApart)
    p.launch("increment", {counter});
  uint32_t start = p.next();
  p.start("all_reduce", CombinationT(), {v}, {v}, {fullAxis(1, 2)});
  if (isApart)
    p.launch("increment", {counter});
  p.wait(start);
  p.jump(head);
  leave.target = p.next();
  return p.image();
}

TEST_CASE("groups run different numbers of iterations") {
  for (int workers : {-4, -2, 1, 2, 4}) {
    Loaded program(rowLoops(workers < 0), "cpu:4", std::abs(workers));
    program.write(0, std::vector<float>{1, 2, 3, 4});
    program.write(1, std::vector<int32_t>{0});
    REQUIRE(program.run() == "");
    // Row 0 iterates twice: (1+2)*2; row 1 five times: (3+4)*2^4.
    CHECK(program.read<float>(0, 4) == std::vector<float>{6, 6, 112, 112});
    CHECK(program.local<int32_t>(1, 0)[0] == 2);
    CHECK(program.local<int32_t>(1, 3)[0] == 5);
    uint64_t count = 0;
    // The devices of row 1 take part in most all-reduces, and send 4 bytes
    // five times.
    CHECK(program.counted("all_reduce", &count) == 20);
    CHECK(count == 5);
  }
}

TEST_CASE("a donated input is updated in place, run after run") {
  PlanBuilder p({{"x", 2}});
  uint32_t counter = p.state("steps", DType::i32, {1}, {{}});
  p.launch("increment", {counter});
  Loaded program(p.image(), "cpu:2");
  program.write(0, std::vector<int32_t>{40});
  REQUIRE(program.run() == "");
  REQUIRE(program.run() == "");
  CHECK(program.read<int32_t>(0, 1)[0] == 42);

  weft_buffer *other = nullptr;
  REQUIRE(take(weft_output_create(program.runtime, program.program, 0,
                                  &other)) == "");
  CHECK(take(weft_execute(program.runtime, program.program,
                          program.inputs.data(), &other)) ==
        "output \"steps\" reuses a donated input and needs its buffer");
  weft_buffer_free(other);
}

TEST_CASE("a deadlock names the waiting devices and their instructions") {
  PlanBuilder p = deadlock();
  std::vector<uint8_t> image = p.image();
  for (int workers : {1, 2}) {
    Loaded program(image, "cpu:2", workers);
    program.write(0, std::vector<float>{1, 2});
    weft_status status;
    CHECK(take(weft_execute(program.runtime, program.program,
                            program.inputs.data(), program.outputs.data()),
               &status) ==
          "deadlock in \"test\": no group is complete; device 0 waits at "
          "instruction 2 (all_reduce of the test) for device 1 (returned)");
    CHECK(status == WEFT_DEADLOCK);
    // The runtime can be used again, and reports the deadlock again.
    CHECK(program.run() != "");
  }
}

TEST_CASE("devices in two places of one group wait for each other") {
  PlanBuilder p = deadlock();
  p.allReduce({0}, {0}, {fullAxis(0, 2)});
  Loaded program(p.image(), "cpu:2");
  CHECK(
      program.run() ==
      "deadlock in \"test\": no group is complete; device 0 waits at "
      "instruction 2 (all_reduce of the test) for device 1; device 1 waits at "
      "instruction 4 (all_reduce of the test) for device 0");
}

TEST_CASE("devices and buffers that do not fit a run are errors") {
  PlanBuilder p({{"x", 4}});
  uint32_t in = p.input("in", DType::f32, {8}, {{fullAxis(0, 4)}});
  uint32_t out = p.output("out", DType::f32, {8}, {{fullAxis(0, 4)}});
  p.copy(in, out);
  std::vector<uint8_t> image = p.image();
  Loaded program(image, "cpu:4");
  weft_buffer *none = nullptr;
  weft_runtime *runtime = nullptr;
  const std::string tooFew = "program \"test\" needs device 2, the runtime has "
                             "2; create it with more devices";
  REQUIRE(take(weft_runtime_create("cpu:2", 0, &runtime)) == "");
  CHECK(take(weft_input_create(runtime, program.program, 0, &none)) == tooFew);
  CHECK(take(weft_execute(runtime, program.program, program.inputs.data(),
                          program.outputs.data())) == tooFew);
  weft_runtime_free(runtime);
  float data[8] = {};
  CHECK(take(weft_buffer_write(program.inputs[0], data, 28)) ==
        "\"in\" has 32 bytes, not 28");
  CHECK(take(weft_input_create(program.runtime, program.program, 1, &none)) ==
        "program \"test\" has 1 inputs, there is no number 1");
  REQUIRE(take(weft_runtime_create("cpu:5", 0, &runtime)) == "");
  CHECK(weft_runtime_device_count(runtime) == 5);
  weft_runtime_free(runtime);
  CHECK(take(weft_runtime_create("cpu:0", 0, &runtime)) ==
        "'cpu:0' is no list of devices; write cpu:N or cuda:N with N from 1 to "
        "65536");
  CHECK(take(weft_runtime_create("gpu:1", 0, &runtime)) ==
        "'gpu:1' asks for gpu devices, there are cpu and cuda devices only; "
        "write cpu:N or cuda:N with N from 1 to 65536");

  Loaded fits(image, "cpu:4");
  weft_buffer *twice[] = {fits.inputs[0]};
  CHECK(take(weft_execute(fits.runtime, fits.program, fits.inputs.data(),
                          twice)) ==
        "the buffer for \"out\" is already bound to another port of this run");
}

TEST_CASE("memory of the caller that is written belongs to one port") {
  PlanBuilder p({{"x", 1}});
  uint32_t a = p.input("a", DType::f32, {32}, {{}});
  uint32_t b = p.input("b", DType::f32, {32}, {{}});
  p.state("v", DType::f32, {32}, {{}});
  uint32_t x = p.output("x", DType::f32, {32}, {{}});
  uint32_t y = p.output("y", DType::f32, {32}, {{}});
  p.copy(a, x);
  p.copy(b, y);
  Loaded program(p.image(), "cpu:1");
  alignas(64) float m[6][32] = {};
  auto run = [&](std::vector<void *> in, std::vector<void *> out) {
    return take(weft_execute_local(program.runtime, program.program, in.data(),
                                   out.data()));
  };
  auto overlaps = [](const std::string &one, const std::string &other) {
    return "the memory for \"" + one + "\" at position 0 overlaps that for \"" +
           other +
           "\" at position 0, and the program writes to one of them; give "
           "each port memory of its own";
  };
  CHECK(run({m[0], m[1], m[2]}, {m[2], m[3], m[4]}) == "");
  CHECK(run({m[0], m[0], m[2]}, {m[2], m[3], m[4]}) == ""); // only read
  CHECK(run({m[0], m[1], m[2]}, {m[2], m[1], m[4]}) == overlaps("x", "b"));
  CHECK(run({m[0], m[1], m[2]}, {m[2], m[3], m[3]}) == overlaps("y", "x"));
  CHECK(run({m[0], m[1], m[2]}, {m[2], m[3], m[0] + 16}) == overlaps("y", "a"));
  CHECK(run({m[2], m[1], m[2]}, {m[2], m[3], m[4]}) == overlaps("v", "a"));
}

TEST_CASE("a forked process has none of the runtime's threads") {
  PlanBuilder p({{"x", 2}});
  uint32_t in = p.input("in", DType::f32, {8}, {{fullAxis(0, 2)}});
  uint32_t out = p.output("out", DType::f32, {8}, {{fullAxis(0, 2)}});
  p.copy(in, out);
  Loaded program(p.image(), "cpu:2");
  REQUIRE(program.run() == "");
  std::string parent = std::to_string(::getpid());
  pid_t child = ::fork();
  if (child == 0) {
    std::string wanted = "the runtime was created in process " + parent +
                         ", from which this one (" +
                         std::to_string(::getpid()) +
                         ") was forked without its threads; create a runtime "
                         "after the fork, or start processes with spawn";
    float data[8] = {};
    bool isRefused =
        program.run() == wanted &&
        take(weft_buffer_read(program.inputs[0], data, 32)) == wanted;
    weft_runtime_free(program.runtime); // does not wait either
    ::_exit(isRefused ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(program.run() == "");
}

namespace {
/// A buffer on the host like another one.
struct HostCopy {
  explicit HostCopy(const weft_buffer *like) {
    REQUIRE(take(weft_buffer_create_on_host(like, &buffer)) == "");
  }
  ~HostCopy() { weft_buffer_free(buffer); }
  weft_buffer *buffer = nullptr;
};
} // namespace

TEST_CASE("an array on the host has one copy of each shard") {
  struct Case {
    std::vector<Axes> layout;
    int64_t shards;
  };
  for (const Case &c : {Case{{{fullAxis(0, 3)}, {fullAxis(1, 2)}}, 6},
                        Case{{{fullAxis(0, 3)}, {}}, 3}, Case{{{}, {}}, 1}}) {
    PlanBuilder p({{"x", 3}, {"y", 2}});
    p.state("v", DType::i32, {7, 5}, c.layout);
    Loaded program(p.image(), "cpu:6");
    program.write(0, iota<int32_t>(35));
    uint64_t peak = weft_runtime_peak_memory(program.runtime);
    HostCopy first(program.inputs[0]), second(first.buffer);
    int64_t copies = 0;
    for (int64_t p = 0; p < 6; ++p)
      copies += weft_buffer_local(first.buffer, p, nullptr) != nullptr;
    CHECK(copies == c.shards);
    CHECK(weft_runtime_peak_memory(program.runtime) == peak);
    CHECK(take(weft_buffer_assign(first.buffer, program.inputs[0])) == "");
    program.write(0, std::vector<int32_t>(35, -1));
    std::vector<int32_t> all(35);
    CHECK(take(weft_buffer_read(first.buffer, all.data(), 140)) == "");
    CHECK(all == iota<int32_t>(35));
    // Elements 2 to 4 of the last row, changed in the copy of the copy.
    int64_t starts[] = {6, 2}, sizes[] = {1, 3};
    std::vector<int32_t> part = {70, 71, 72};
    CHECK(take(weft_buffer_assign(second.buffer, first.buffer)) == "");
    CHECK(take(weft_buffer_write_block(second.buffer, starts, sizes,
                                       part.data(), 12)) == "");
    CHECK(take(weft_buffer_assign(program.inputs[0], second.buffer)) == "");
    std::copy(part.begin(), part.end(), all.begin() + 32);
    CHECK(program.read<int32_t>(0, 35) == all);
    for (int64_t p = 0; p < 6; ++p) // the copies of a shard are equal
      CHECK(program.local<int32_t>(0, p) ==
            program.local<int32_t>(0, c.shards == 6   ? p
                                      : c.shards == 3 ? p / 2 * 2
                                                      : 0));
  }
}

TEST_CASE("arrays on the host are refused where they cannot be used") {
  PlanBuilder p({{"x", 2}});
  p.state("v", DType::i32, {4}, {{fullAxis(0, 2)}});
  p.state("w", DType::i32, {4}, {{}});
  Loaded program(p.image(), "cpu:2");
  HostCopy host(program.inputs[0]);
  CHECK(take(weft_buffer_assign(host.buffer, program.inputs[1])) ==
        "\"v\" is assigned \"w\", which has another dtype, shape, layout or "
        "runtime");
  std::vector<weft_buffer *> inputs = {host.buffer, program.inputs[1]};
  CHECK(take(weft_execute(program.runtime, program.program, inputs.data(),
                          inputs.data())) ==
        "the buffer for \"v\" is on the host; copy it to the devices with "
        "weft_buffer_assign");
}

TEST_CASE("a global array is written and read in blocks") {
  // The shards are uneven: 7 rows over 3 or 6 devices, 5 columns over 2.
  for (std::vector<Axes> layout :
       std::vector<std::vector<Axes>>{{{fullAxis(0, 3)}, {fullAxis(1, 2)}},
                                      {{fullAxis(1, 2), fullAxis(0, 3)}, {}},
                                      {{}, {}}}) {
    PlanBuilder p({{"x", 3}, {"y", 2}});
    p.state("v", DType::i32, {7, 5}, layout);
    Loaded program(p.image(), "cpu:6");
    for (int64_t row = 0; row < 7; row += 3)
      for (int64_t column = 0; column < 5; column += 2) {
        std::vector<int64_t> sizes = {std::min<int64_t>(3, 7 - row),
                                      std::min<int64_t>(2, 5 - column)};
        std::vector<int32_t> block;
        for (int64_t i = 0; i < sizes[0]; ++i)
          for (int64_t j = 0; j < sizes[1]; ++j)
            block.push_back(int32_t((row + i) * 5 + column + j));
        CHECK(program.writeBlock(0, {row, column}, sizes, block) == "");
        CHECK(program.readBlock<int32_t>(0, {row, column}, sizes) == block);
      }
    CHECK(program.read<int32_t>(0, 35) == iota<int32_t>(35));
    CHECK(program.readBlock<int32_t>(0, {5, 1}, {2, 3}) ==
          std::vector<int32_t>{26, 27, 28, 31, 32, 33});
    CHECK(program.readBlock<int32_t>(0, {7, 0}, {0, 5}).empty());
    CHECK(program.writeBlock(0, {6, 0}, {2, 5}, iota<int32_t>(10)) ==
          "\"v\" has 7 elements in dimension 0, not the 2 from 6 on");
    CHECK(program.writeBlock(0, {0, 0}, {1, 5}, iota<int32_t>(4)) ==
          "\"v\" has 20 bytes, not 16");
  }
}
