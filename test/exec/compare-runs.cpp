// compare-runs PROGRAM.weft [WORKERS...]: runs a program with one worker, where
// each device has memory of its own; where devices share memory, also with other
// numbers of workers, with memory full of NaN, and with the memory of all other
// devices unreadable; the results must be bit-identical. Inputs are small
// numbers drawn from a fixed sequence.
#include "weft/runtime/abi/plan_generated.h"
#include "weft/runtime/abi/weft.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

using Bytes = std::vector<char>;

static void check(weft_error *error) {
  if (!error)
    return;
  fprintf(stderr, "compare-runs: %s\n", weft_error_message(error));
  exit(1);
}

template <typename T>
static Bytes numbers(size_t count, uint32_t seed, bool isFraction) {
  std::vector<T> values(count);
  uint32_t state = seed;
  for (T &value : values) {
    state = state * 1664525u + 1013904223u;
    value =
        isFraction ? T(double(state >> 8) / (1 << 24)) : T((state >> 16) % 7);
  }
  Bytes out(count * sizeof(T));
  memcpy(out.data(), values.data(), out.size());
  return out;
}

static Bytes inputOf(const weft::plan::Port &port, uint32_t seed) {
  size_t count = 1;
  for (int64_t n : *port.shape())
    count *= size_t(n);
  switch (port.dtype()) {
  case weft::plan::DType::f32:
    return numbers<float>(count, seed, true);
  case weft::plan::DType::f64:
    return numbers<double>(count, seed, true);
  case weft::plan::DType::i64:
  case weft::plan::DType::ui64:
    return numbers<int64_t>(count, seed, false);
  case weft::plan::DType::i32:
  case weft::plan::DType::ui32:
    return numbers<int32_t>(count, seed, false);
  case weft::plan::DType::i8:
  case weft::plan::DType::ui8:
    return numbers<int8_t>(count, seed, false);
  default:
    fprintf(stderr, "compare-runs: no inputs of type %s\n",
            EnumNameDType(port.dtype()));
    exit(2);
  }
}

namespace {
struct Mode {
  int workers;
  bool poison, isolate, share = true;
};
} // namespace

static size_t bytesOf(const weft::plan::Program &plan,
                      const weft::plan::Port &port) {
  size_t local = plan.buffers()->Get(port.buffer())->bytes();
  size_t count = local;
  for (int64_t n : *plan.buffers()->Get(port.buffer())->shape())
    count /= size_t(n ? n : 1);
  for (int64_t n : *port.shape())
    count *= size_t(n);
  return count;
}

/// The results of two runs, one after the other on the same state.
static std::vector<Bytes> run(const weft_program *program, Mode mode) {
  const weft::plan::Program &plan =
      *weft::plan::GetProgram(weft_program_plan(program));
  int64_t devices = 1;
  for (int64_t size : *plan.mesh()->axis_sizes())
    devices *= size;
  weft_runtime *runtime = nullptr;
  check(weft_runtime_create(("cpu:" + std::to_string(devices)).c_str(),
                            mode.workers, &runtime));
  weft_runtime_poison(runtime, mode.poison);
  weft_runtime_share(runtime, mode.share);
  check(weft_runtime_isolate(runtime, mode.isolate));
  std::vector<weft_buffer *> inputs(plan.inputs()->size()),
      outputs(plan.outputs()->size()), owned;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const weft::plan::Port &port = *plan.inputs()->Get(i);
    check(weft_input_create(runtime, program, i, &inputs[i]));
    owned.push_back(inputs[i]);
    Bytes data = inputOf(port, uint32_t(i + 1));
    check(weft_buffer_write(inputs[i], data.data(), data.size()));
    if (port.donated_to() >= 0)
      outputs[size_t(port.donated_to())] = inputs[i];
  }
  for (size_t o = 0; o < outputs.size(); ++o)
    if (!outputs[o]) {
      check(weft_output_create(runtime, program, o, &outputs[o]));
      owned.push_back(outputs[o]);
    }
  for (int step = 0; step < 2; ++step)
    check(weft_execute(runtime, program, inputs.data(), outputs.data()));
  std::vector<Bytes> results;
  for (size_t o = 0; o < outputs.size(); ++o) {
    results.emplace_back(bytesOf(plan, *plan.outputs()->Get(o)));
    check(weft_buffer_read(outputs[o], results.back().data(),
                           results.back().size()));
  }
  for (weft_buffer *buffer : owned)
    weft_buffer_free(buffer);
  weft_runtime_free(runtime);
  return results;
}

static int numberOf(const char *text) {
  int number = 0;
  const char *end = text + strlen(text);
  auto [rest, error] = std::from_chars(text, end, number);
  if (error == std::errc() && rest == end)
    return number;
  fprintf(stderr, "compare-runs: %s is no number of workers\n", text);
  exit(2);
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: compare-runs PROGRAM.weft [WORKERS...]\n");
    return 2;
  }
  weft_program *program = nullptr;
  check(weft_program_load(argv[1], &program));
  const weft::plan::Program &plan =
      *weft::plan::GetProgram(weft_program_plan(program));
  std::vector<Bytes> expected = run(program, {1, false, false, false});
  std::vector<Mode> modes = {
      {1, true, true, false}, {1, true, false}, {1, true, true}};
  for (int i = 2; i < argc; ++i)
    modes.push_back({numberOf(argv[i]), true, false});
  int different = 0;
  for (const Mode &mode : modes) {
    std::vector<Bytes> got = run(program, mode);
    for (size_t o = 0; o < got.size(); ++o)
      if (got[o] != expected[o] && ++different)
        printf("%s differs: %d workers%s%s%s\n",
               plan.outputs()->Get(o)->name()->c_str(), mode.workers,
               mode.poison ? ", poisoned memory" : "",
               mode.isolate ? ", devices kept apart" : "",
               mode.share ? ", shared memory" : "");
  }
  weft_program_free(program);
  printf("%zu results of %zu runs: %d differ\n", expected.size(),
         modes.size() + 1, different);
  return different != 0;
}
