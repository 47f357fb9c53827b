// Arrays that reach GPUs through pinned memory while programs run there: all
// readers see them, in whatever order streams run (the driver is the fake).
// Runtimes do not poison here, as that would wait before each write.
#include "weft/runtime/abi/weft.h"
#include "weft/test/unit/runtime-plan.h"

using namespace weft::test;

/// A plan that computes out = the sum of both devices' shares of in.
static PlanBuilder sums(int64_t elements) {
  PlanBuilder p({{"x", 2}});
  Axes axes = {fullAxis(0, 2)};
  uint32_t in = p.input("in", DType::f32, {elements}, {axes});
  uint32_t out = p.output("out", DType::f32, {elements}, {axes});
  p.allReduce({in}, {out}, axes);
  return p;
}

static std::vector<float> sumOf(const std::vector<float> &in) {
  size_t half = in.size() / 2;
  std::vector<float> out(in.size());
  for (size_t i = 0; i < in.size(); ++i)
    out[i] = in[i % half] + in[half + i % half];
  return out;
}

/// Columns of a 6 x 8 array on two devices, of which each has the sum.
static PlanBuilder columns() {
  PlanBuilder p({{"x", 2}});
  Axes axes = {fullAxis(0, 2)};
  uint32_t in = p.input("in", DType::f32, {6, 8}, {{}, axes});
  uint32_t out = p.output("out", DType::f32, {6, 8}, {{}, axes});
  p.allReduce({in}, {out}, axes);
  return p;
}

static std::vector<float> sumOfColumns(const std::vector<float> &in) {
  std::vector<float> out;
  for (size_t i = 0; i < 48; ++i)
    out.push_back(in[i / 8 * 8 + i % 4] + in[i / 8 * 8 + 4 + i % 4]);
  return out;
}

TEST_CASE("the next batch is written while a step runs") {
  constexpr size_t elements = 1000;
  Loaded program(sums(elements).image(), "cuda:2", 0, false);
  weft_buffer *sets[2] = {program.inputs[0], nullptr};
  REQUIRE(take(weft_input_create(program.runtime, program.program, 0,
                                 &sets[1])) == "");
  std::vector<float> batch = iota<float>(elements);
  auto write = [&](weft_buffer *to) {
    REQUIRE(take(weft_buffer_write(to, batch.data(), elements * 4)) == "");
  };
  write(sets[0]);
  for (int step = 0; step < 7; ++step) {
    std::vector<float> wanted = sumOf(batch);
    weft_ticket *running = nullptr;
    REQUIRE(take(weft_execute_async(program.runtime, program.program,
                                    &sets[step % 2], program.outputs.data(),
                                    &running)) == "");
    // The array is the caller's again when a write returns.
    for (float &value : batch)
      value = value * 3 + 1;
    write(sets[(step + 1) % 2]);
    REQUIRE(take(weft_ticket_wait(running)) == "");
    weft_ticket_free(running);
    CHECK(program.read<float>(0, elements) == wanted);
  }
  weft_buffer_free(sets[1]);
}

TEST_CASE("an array that is written is read, copied and freed right away") {
  Loaded program(sums(64).image(), "cuda:2", 0, false);
  for (float first : {1.0f, 100.0f, 1000.0f}) {
    std::vector<float> values = iota<float>(64, first);
    program.write(0, values);
    std::vector<float> back(64);
    REQUIRE(take(weft_buffer_read(program.inputs[0], back.data(), 256)) == "");
    CHECK(back == values);
    // The array is read by a stream of another device of the GPU.
    size_t bytes = 0;
    void *memory = weft_buffer_local(program.inputs[0], 1, &bytes);
    weft_ticket *copied = nullptr;
    REQUIRE(take(weft_device_copy(program.runtime, -1, back.data(), 1, memory,
                                  bytes, &copied)) == "");
    REQUIRE(take(weft_ticket_wait(copied)) == "");
    weft_ticket_free(copied);
    CHECK(std::vector<float>(back.begin(), back.begin() + 32) ==
          std::vector<float>(values.begin() + 32, values.end()));
  }
  weft_buffer *freed = nullptr;
  REQUIRE(take(weft_input_create(program.runtime, program.program, 0,
                                 &freed)) == "");
  std::vector<float> values(64, 5);
  REQUIRE(take(weft_buffer_write(freed, values.data(), 256)) == "");
  weft_buffer_free(freed);
}

/// Copies and waits; device -1 is the host.
static void copyNow(Loaded &program, int64_t toDevice, void *to,
                    int64_t fromDevice, const void *from, uint64_t bytes) {
  weft_ticket *copied = nullptr;
  REQUIRE(take(weft_device_copy(program.runtime, toDevice, to, fromDevice, from,
                                bytes, &copied)) == "");
  REQUIRE(take(weft_ticket_wait(copied)) == "");
  weft_ticket_free(copied);
}

// Copies must wait for the array: the host does not wait in between, and the
// copies are of another stream.
TEST_CASE("copies wait for an array that is on its way") {
  Loaded program(sums(64).image(), "cuda:2", 0, false);
  size_t bytes = 0;
  auto *first =
      static_cast<char *>(weft_buffer_local(program.inputs[0], 0, &bytes));
  auto *second =
      static_cast<char *>(weft_buffer_local(program.inputs[0], 1, &bytes));
  REQUIRE(bytes == 128);
  for (float start : {1.0f, 100.0f, 1000.0f}) {
    std::vector<float> values = iota<float>(64, start), back(32);
    program.write(0, values);
    copyNow(program, -1, back.data(), 1, second, bytes);
    CHECK(back == std::vector<float>(values.begin() + 32, values.end()));
    // Later writes must not arrive before.
    program.write(0, values);
    std::vector<float> others = iota<float>(32, -start);
    copyNow(program, 1, second, -1, others.data(), bytes);
    copyNow(program, -1, back.data(), 1, second, bytes);
    CHECK(back == others);
    // The target is on the other device.
    program.write(0, values);
    copyNow(program, 1, second, 0, first, bytes);
    copyNow(program, -1, back.data(), 1, second, bytes);
    CHECK(back == std::vector<float>(values.begin(), values.begin() + 32));
    program.write(0, values);
    copyNow(program, 0, first, 1, second, bytes);
    copyNow(program, -1, back.data(), 0, first, bytes);
    CHECK(back == std::vector<float>(values.begin() + 32, values.end()));
  }
}

TEST_CASE("longer arrays than a slot, and columns, arrive whole") {
  // Arrays of 40 MiB on each of two devices.
  constexpr size_t elements = size_t(20) << 20;
  {
    Loaded program(sums(elements).image(), "cuda:2", 0, false);
    std::vector<float> values(elements);
    for (size_t i = 0; i < elements; ++i)
      values[i] = float(i % 65521);
    program.write(0, values);
    std::vector<float> back(elements);
    REQUIRE(take(weft_buffer_read(program.inputs[0], back.data(),
                                  elements * 4)) == "");
    bool isEqual = back == values; // not printed
    CHECK(isEqual);
  }
  Loaded program(columns().image(), "cuda:2", 0, false);
  std::vector<float> values = iota<float>(48);
  program.write(0, values);
  REQUIRE(program.run() == "");
  CHECK(program.read<float>(0, 48) == sumOfColumns(values));
}

/// Writes one array again and again and runs, without waiting for any run.
static void runAhead(PlanBuilder plan, size_t elements,
                     std::vector<float> (*wanted)(const std::vector<float> &)) {
  Loaded program(plan.image(), "cuda:2", 0, false);
  constexpr size_t steps = 14;
  std::vector<std::vector<float>> batches, results(steps);
  std::vector<weft_ticket *> tickets(steps);
  for (size_t step = 0; step < steps; ++step) {
    batches.push_back(iota<float>(elements, float(100 * step)));
    program.write(0, batches.back());
    results[step].resize(elements);
    weft_result result = {0, results[step].data(), elements * 4};
    REQUIRE(take(weft_execute_with_results(
                program.runtime, program.program, program.inputs.data(),
                program.outputs.data(), &result, 1, &tickets[step])) == "");
  }
  for (size_t step = 0; step < steps; ++step) {
    REQUIRE(take(weft_ticket_wait(tickets[step])) == "");
    weft_ticket_free(tickets[step]);
    CHECK(results[step] == wanted(batches[step]));
  }
}

TEST_CASE("each of many runs has the batch and the results of its own") {
  runAhead(sums(1000), 1000, sumOf);
  runAhead(columns(), 48, sumOfColumns);
  // Too large to wait for a run.
  runAhead(sums(300000), 300000, sumOf);
}

// An array that is written for the third time waits on the host for a run.
TEST_CASE("an array that waits for a run is the one that was written last") {
  constexpr size_t elements = 64;
  Loaded program(sums(elements).image(), "cuda:2", 0, false);
  size_t bytes = 0;
  auto *second =
      static_cast<char *>(weft_buffer_local(program.inputs[0], 1, &bytes));
  std::vector<float> back(32);
  for (int round = 0; round < 8; ++round) {
    std::vector<float> values = iota<float>(elements, float(10 * round));
    program.write(0, values);
    if (round % 2) { // replaced before any run
      values[7] = -1;
      program.write(0, values);
    }
    std::vector<float> all(elements);
    REQUIRE(take(weft_buffer_read(program.inputs[0], all.data(),
                                  elements * 4)) == "");
    CHECK(all == values);
    if (round % 3 == 1) {
      copyNow(program, -1, back.data(), 1, second, bytes);
      CHECK(back == std::vector<float>(values.begin() + 32, values.end()));
    }
    if (round % 3 == 2) {
      values[40] = 1e6f;
      CHECK(program.writeBlock<float>(0, {40}, {1}, {1e6f}) == "");
    }
    REQUIRE(program.run() == "");
    CHECK(program.read<float>(0, elements) == sumOf(values));
  }
}

TEST_CASE("an array may be freed while it waits and while it is copied") {
  Loaded program(sums(64).image(), "cuda:2", 0, false);
  std::vector<float> values = iota<float>(64);
  for (bool runs : {false, true}) {
    weft_buffer *freed = nullptr;
    REQUIRE(take(weft_input_create(program.runtime, program.program, 0,
                                   &freed)) == "");
    for (int round = 0; round < 4; ++round)
      REQUIRE(take(weft_buffer_write(freed, values.data(), 256)) == "");
    weft_ticket *running = nullptr;
    if (runs) // another array's run, which copies this one too
      REQUIRE(take(weft_execute_async(program.runtime, program.program,
                                      program.inputs.data(),
                                      program.outputs.data(), &running)) == "");
    weft_buffer_free(freed);
    REQUIRE(take(weft_ticket_wait(running)) == "");
    weft_ticket_free(running);
  }
}

TEST_CASE("results that a program lacks are errors") {
  Loaded program(sums(64).image(), "cuda:2", 0, false);
  std::vector<float> values(64);
  auto run = [&](size_t output, size_t bytes) {
    weft_result result = {output, values.data(), bytes};
    return take(weft_execute_with_results(
        program.runtime, program.program, program.inputs.data(),
        program.outputs.data(), &result, 1, nullptr));
  };
  CHECK(run(3, 256).find("has 1 outputs, there is no number 3") !=
        std::string::npos);
  CHECK(run(0, 255) == "\"out\" has 256 bytes, not 255");
  program.write(0, iota<float>(64));
  CHECK(run(0, 256) == "");
  CHECK(values == sumOf(iota<float>(64)));
}
