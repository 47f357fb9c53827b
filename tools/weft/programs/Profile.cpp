//===- Profile.cpp - weft profile: time of each instruction ---------------===//
//
//   weft profile step.weft --devices cpu:8
//   weft profile prog.mlir --devices cuda:1 --json --trace trace.json
//
//===----------------------------------------------------------------------===//

#include "weft/tools/weft/programs/BoundProgram.h"
#include "weft/tools/weft/programs/ProfileReport.h"

#include "weft/data/files/Files.h"

#include <cstdio>
#include <optional>
#include <random>

using namespace weft;
using namespace weft::tool;

namespace {
struct FreeProfile {
  void operator()(weft_profile *profile) const { weft_profile_free(profile); }
};
using OwnedProfile = std::unique_ptr<weft_profile, FreeProfile>;
} // namespace

/// Random input: floats from [-1, 1), other numbers 0.
static Result<Array> randomInput(const Port &port, std::mt19937_64 &random) {
  if (!isFloat(port.type))
    return Array::zeros(port.type, port.shape);
  Array array = Array::zeros(ElementType::Float32, port.shape);
  std::uniform_real_distribution<float> numbers(-1, 1);
  for (size_t i = 0; i < array.bytes.size() / sizeof(float); ++i)
    array.data<float>()[i] = numbers(random);
  return convert(array, port.type);
}

/// Measures the bytes a second, read and written, of a copy between two arrays
/// of device 0; the best of several.
static Status measureBandwidth(weft_runtime *runtime, double &out) {
  constexpr uint64_t bytes = 64 << 20;
  constexpr int rounds = 5;
  void *to = nullptr, *from = nullptr;
  Status failure = takeError(weft_device_allocate(runtime, 0, bytes, &to));
  if (failure)
    failure = takeError(weft_device_allocate(runtime, 0, bytes, &from));
  for (int round = 0; failure && round < rounds; ++round) {
    auto begin = std::chrono::steady_clock::now();
    weft_ticket *ticket = nullptr;
    failure =
        takeError(weft_device_copy(runtime, 0, to, 0, from, bytes, &ticket));
    if (failure)
      failure = takeError(weft_ticket_wait(ticket));
    weft_ticket_free(ticket);
    std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - begin;
    out = std::max(out, 2 * double(bytes) / took.count());
  }
  for (void *memory : {to, from})
    if (memory)
      if (Status freed = takeError(weft_device_free(runtime, memory)); failure)
        failure = freed;
  return failure;
}

static Result<Roof> findRoof(const ProfileFlags &flags, weft_runtime *runtime) {
  Roof roof;
  roof.operations = flags.peakOperations * 1e9;
  roof.bandwidth = flags.peakBandwidth * 1e9;
  roof.isMeasured = flags.peakBandwidth == 0;
  if (roof.isMeasured)
    if (Status measured = measureBandwidth(runtime, roof.bandwidth); !measured)
      return measured.error();
  return roof;
}

static Status bindAll(const ProfileFlags &flags, weft_runtime *runtime,
                      const weft_program *program, Bound &bound) {
  std::vector<Port> inputs = inputPorts(program),
                    outputs = outputPorts(program);
  std::mt19937_64 random(uint64_t(flags.seed));
  std::optional<NpzFile> file;
  if (!flags.run.inputs.empty()) {
    auto opened = NpzFile::open(flags.run.inputs);
    if (!opened)
      return opened.error();
    file.emplace(std::move(*opened));
    if (Status named = checkNames(*file, inputs, outputs); !named)
      return named;
  }
  auto read = [&](const Port &port) {
    return file ? readInput(*file, port) : randomInput(port, random);
  };
  if (Status in = bindInputs(runtime, program, inputs, read, bound); !in)
    return in;
  return bindOutputs(runtime, program, inputs, outputs.size(), bound);
}

/// Measures the runs, after one that loads code to devices and warms caches.
static Status measure(const ProfileFlags &flags, weft_runtime *runtime,
                      const weft_program *program, Bound &bound,
                      ProfileReport &report) {
  for (int64_t i = -1; i < flags.run.repeat; ++i) {
    auto begin = std::chrono::steady_clock::now();
    weft_profile *made = nullptr;
    if (Status ran = takeError(
            weft_execute_profiled(runtime, program, bound.inputs.data(),
                                  bound.outputs.data(), &made));
        !ran)
      return ran.in(flags.run.program);
    OwnedProfile profile(made);
    std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - begin;
    const weft_instruction_time *times = nullptr;
    size_t count = weft_profile_times(made, &times);
    if (i >= 0)
      report.add(times, count, took.count());
  }
  return {};
}

static Status profile(const ProfileFlags &flags, const weft_program *program) {
  if (Status loaded = takeError(weft_program_prepare(program)); !loaded)
    return loaded.in(flags.run.program);
  std::optional<OutputFile> trace;
  if (!flags.trace.empty()) {
    auto opened = OutputFile::open(flags.trace);
    if (!opened)
      return opened.error();
    trace.emplace(std::move(*opened));
  }
  auto runtime = createRuntime(flags.run, program);
  if (!runtime)
    return runtime.error();
  auto roof = findRoof(flags, runtime->get());
  if (!roof)
    return roof.error();
  Bound bound;
  if (Status all = bindAll(flags, runtime->get(), program, bound); !all)
    return all;
  ProfileReport report(program, *roof, flags.run.graphs);
  if (Status described = report.describe(); !described)
    return described;
  if (Status measured = measure(flags, runtime->get(), program, bound, report);
      !measured)
    return measured;
  if (flags.json)
    std::fputs(report.json().c_str(), stdout);
  else
    printText(report.table(size_t(flags.top)));
  if (!trace)
    return {};
  trace->write(report.trace());
  return trace->commit();
}

int weft::tool::runProfile(const ProfileFlags &flags) {
  Result<OwnedProgram> program = loadProgram(flags.run);
  if (!program)
    return fail(program.error());
  Status ran = profile(flags, program->get());
  return ran ? 0 : fail(ran.error());
}
