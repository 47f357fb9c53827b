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
  PlanBuilder p({{"x", 2}});
  Axes axes = {fullAxis(0, 2)};
  uint32_t in = p.input("in", DType::f32, {6, 8}, {{}, axes});
  uint32_t out = p.output("out", DType::f32, {6, 8}, {{}, axes});
  p.allReduce({in}, {out}, axes);
  Loaded program(p.image(), "cuda:2", 0, false);
  std::vector<float> values = iota<float>(48);
  program.write(0, values);
  REQUIRE(program.run() == "");
  std::vector<float> wanted;
  for (size_t i = 0; i < 48; ++i)
    wanted.push_back(values[i / 8 * 8 + i % 4] + values[i / 8 * 8 + 4 + i % 4]);
  CHECK(program.read<float>(0, 48) == wanted);
}
