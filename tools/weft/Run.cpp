//===- Run.cpp - weft run: a program file on named arrays -----------------===//
//
//   weft run predict.weft --inputs in.npz --outputs out.npz
//   weft run predict.weft --list        which loads no code of the program
//
// Nothing is compiled. Arrays are global and named after the program's ports;
// what a port's layout says is scattered before and gathered after the run.
//
//===----------------------------------------------------------------------===//

#include "weft/tools/weft/Commands.h"
#include "weft/tools/weft/ProgramPorts.h"
#include "weft/tools/weft/Statistics.h"
#include "weft/tools/weft/StepArchive.h"

#include "weft/runtime/data/Files.h"
#include "weft/runtime/data/Npz.h"
#include "weft/runtime/training/Ports.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

using namespace weft;
using namespace weft::tool;

namespace {

struct FreeRuntime {
  void operator()(weft_runtime *runtime) const { weft_runtime_free(runtime); }
};
struct FreeProgram {
  void operator()(weft_program *program) const { weft_program_free(program); }
};
struct FreeBuffer {
  void operator()(weft_buffer *buffer) const { weft_buffer_free(buffer); }
};
using OwnedBuffer = std::unique_ptr<weft_buffer, FreeBuffer>;

/// The buffers of one execution. An output that takes over a donated input has
/// the input's buffer, which `owned` holds once.
struct Bound {
  std::vector<weft_buffer *> inputs, outputs;
  std::vector<OwnedBuffer> owned;
};

} // namespace

static std::string joined(const std::vector<Port> &ports) {
  std::string out;
  for (const Port &port : ports)
    out += (out.empty() ? "" : ", ") + port.name;
  return out;
}

static const Port *portNamed(const std::vector<Port> &ports,
                             std::string_view name) {
  auto found = std::find_if(ports.begin(), ports.end(), [&](const Port &port) {
    return port.name == name;
  });
  return found == ports.end() ? nullptr : &*found;
}

/// Every array belongs to an input, or is the expected value of an output, and
/// every input has its array.
static Status checkNames(const NpzFile &file, const std::vector<Port> &ports,
                         const std::vector<Port> &outputs) {
  for (const std::string &key : file.keys())
    if (!portNamed(ports, key) && !portNamed(outputs, key))
      return Error{file.path() + ": " + key +
                   ": the program has no such input; its inputs are " +
                   joined(ports)};
  for (const Port &port : ports)
    if (!file.contains(port.name))
      return Error{file.path() + ": " + port.name +
                   ": the array is missing; add it with shape " +
                   text(port.shape) + " and type " +
                   std::string(name(port.type)) +
                   ", as weft run PROGRAM --list shows it"};
  return {};
}

static Result<Array> readInput(const NpzFile &file, const Port &port) {
  auto array = file.read(port.name);
  if (!array)
    return array.error();
  if (array->shape != port.shape)
    return Error{file.path() + ": " + port.name + ": the array has shape " +
                 text(array->shape) + ", the program takes " +
                 text(port.shape) +
                 "; compile it for this shape or give another array"};
  takeBytesAs(port.type, *array);
  if (array->type != port.type)
    return Error{file.path() + ": " + port.name + ": the array is " +
                 std::string(name(array->type)) + ", the program takes " +
                 std::string(name(port.type)) + "; convert it, in NumPy with " +
                 ".astype(\"" + std::string(name(port.type)) + "\")"};
  return array;
}

static Status bindInputs(weft_runtime *runtime, const weft_program *program,
                         const NpzFile &file, const std::vector<Port> &ports,
                         const RunFlags &flags, Bound &bound, uint64_t &hash) {
  for (size_t i = 0; i < ports.size(); ++i) {
    auto array = readInput(file, ports[i]);
    if (!array)
      return array.error();
    if (flags.processes)
      hash = hash * 31 + weft_hash(array->bytes.data(), array->bytes.size());
    weft_buffer *buffer = nullptr;
    if (Status made =
            takeError(weft_input_create(runtime, program, i, &buffer));
        !made)
      return made;
    bound.owned.emplace_back(buffer);
    bound.inputs.push_back(buffer);
    if (Status written = takeError(weft_buffer_write(
            buffer, array->bytes.data(), array->bytes.size()));
        !written)
      return written;
  }
  return {};
}

static Status bindOutputs(weft_runtime *runtime, const weft_program *program,
                          const std::vector<Port> &inputs, size_t count,
                          Bound &bound) {
  for (size_t o = 0; o < count; ++o) {
    weft_buffer *buffer = nullptr;
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].donatedTo == static_cast<int>(o))
        buffer = bound.inputs[i];
    if (!buffer) {
      if (Status made =
              takeError(weft_output_create(runtime, program, o, &buffer));
          !made)
        return made;
      bound.owned.emplace_back(buffer);
    }
    bound.outputs.push_back(buffer);
  }
  return {};
}

static Status writeOutputs(const std::vector<Port> &ports, const Bound &bound,
                           OutputFile &file) {
  std::vector<NamedArray> arrays;
  for (size_t o = 0; o < ports.size(); ++o) {
    Array array = Array::zeros(ports[o].type, ports[o].shape);
    if (Status read = takeError(weft_buffer_read(
            bound.outputs[o], array.bytes.data(), array.bytes.size()));
        !read)
      return read;
    arrays.push_back({ports[o].name, std::move(array)});
  }
  return writeNpz(file, arrays);
}

/// What the program was compiled for: cpu:avx2, cuda:sm_80.
static DeviceKind kindOf(const weft_program *program) {
  std::string_view target = describeProgram(program).target;
  return parseDeviceKind(target.substr(0, target.find(':')))
      .value_or(DeviceKind::Cpu);
}

/// The devices that --devices names, or as many as the mesh has.
static Result<std::unique_ptr<weft_runtime, FreeRuntime>>
createRuntime(const RunFlags &flags, const weft_program *program) {
  int64_t needed = describeProgram(program).device_count;
  DeviceList devices =
      flags.devices.value_or(DeviceList{kindOf(program), needed});
  weft_runtime *runtime = nullptr;
  if (Status made = takeError(weft_runtime_create_among(
          flags.processes, devices.text().c_str(), 0, &runtime));
      !made)
    return Error{"--devices: " + made.message()};
  std::unique_ptr<weft_runtime, FreeRuntime> owner(runtime);
  if (int64_t count = weft_runtime_device_count(runtime); count < needed)
    return Error{flags.program + ": the program's mesh has " +
                 std::to_string(needed) + " devices, there are " +
                 std::to_string(count) + "; give more with --devices " +
                 DeviceList{devices.kind, needed}.text()};
  return owner;
}

static Status execute(const RunFlags &flags, const weft_program *program) {
  if (Status loaded = takeError(weft_program_prepare(program)); !loaded)
    return Error{flags.program + ": " + loaded.message()};
  auto out = OutputFile::open(flags.outputs);
  if (!out)
    return out.error();
  std::optional<OutputFile> stats;
  if (!flags.stats.empty()) {
    auto opened = OutputFile::open(flags.stats);
    if (!opened)
      return opened.error();
    stats.emplace(std::move(*opened));
  }
  auto file = NpzFile::open(flags.inputs);
  if (!file)
    return file.error();
  std::vector<Port> inputs = inputPorts(program);
  std::vector<Port> outputs = outputPorts(program);
  if (Status named = checkNames(*file, inputs, outputs); !named)
    return named;
  auto runtime = createRuntime(flags, program);
  if (!runtime)
    return runtime.error();
  weft_runtime *created = runtime->get();
  Bound bound;
  uint64_t hash = 0;
  if (Status in =
          bindInputs(created, program, *file, inputs, flags, bound, hash);
      !in)
    return in;
  if (Status same = takeError(
          weft_processes_agree(flags.processes, flags.inputs.c_str(), hash));
      !same)
    return Error{flags.program + ": " + same.message()};
  if (Status to = bindOutputs(created, program, inputs, outputs.size(), bound);
      !to)
    return to;
  StepClock clock;
  for (int64_t i = 0; i < flags.repeat; ++i) {
    clock.beginStep();
    auto begin = std::chrono::steady_clock::now();
    if (Status ran = takeError(weft_execute(
            created, program, bound.inputs.data(), bound.outputs.data()));
        !ran)
      return Error{flags.program + ": " + ran.message()};
    std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - begin;
    clock.endStep(created, took.count(), /*waitSeconds=*/0);
  }
  if (Status written = writeOutputs(outputs, bound, *out); !written)
    return written;
  if (!stats)
    return {};
  stats->write(
      clock.json(created, /*compileMilliseconds=*/0, /*aheadBytes=*/0));
  return stats->commit();
}

static bool endsAs(const std::string &path, std::string_view ending) {
  return std::string_view(path).ends_with(ending);
}

/// What the compiler makes of a StableHLO program: rank 0 compiles it for all.
/// Empty after a printed error.
static std::vector<uint8_t> compileForeign(const RunFlags &flags) {
  std::vector<uint8_t> image;
  if (weft_processes_rank(flags.processes) == 0) {
    const CompilerCommands *commands = loadCompiler();
    ModelFlags model;
    model.model = flags.program;
    model.devices = flags.devices;
    model.step = flags.step;
    model.namesStep = !flags.step.empty();
    if (!commands || commands->foreign(model, image) != 0)
      return {};
  }
  if (Status shared = shareBytes(flags.processes, image); !shared)
    return fail(shared.message()), std::vector<uint8_t>();
  return image;
}

/// A .weft file, or what the compiler makes of a StableHLO program; null after
/// a printed error.
static weft_program *loadProgram(const RunFlags &flags) {
  weft_program *loaded = nullptr;
  Status read;
  if (endsAs(flags.program, ".mlir") || endsAs(flags.program, ".mlirbc") ||
      endsAs(flags.program, ".bc")) {
    std::vector<uint8_t> image = compileForeign(flags);
    if (image.empty())
      return nullptr;
    read = takeError(
        weft_program_load_memory(image.data(), image.size(), &loaded));
  } else {
    auto program = loadProgramFile(flags.program, flags.step);
    read = program ? Status{} : Status{program.error()};
    loaded = program ? *program : nullptr;
  }
  if (!read)
    fail(read.message());
  return read ? loaded : nullptr;
}

int weft::tool::runProgram(const RunFlags &given) {
  RunFlags flags = given;
  if (weft_processes_rank(flags.processes) != 0) { // rank 0 writes files
    for (std::string *path : {&flags.outputs, &flags.stats})
      if (!path->empty())
        *path = "/dev/null";
  }
  weft_program *loaded = loadProgram(flags);
  if (!loaded)
    return 1;
  std::unique_ptr<weft_program, FreeProgram> program(loaded);
  if (flags.list)
    std::fputs(portTable(loaded).c_str(), stdout);
  if (flags.outputs.empty())
    return 0;
  Status ran = execute(flags, loaded);
  return ran ? 0 : fail(ran.message());
}
