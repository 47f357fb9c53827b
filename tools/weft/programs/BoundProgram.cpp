//===- BoundProgram.cpp - a program with arrays bound to its ports --------===//

#include "weft/tools/weft/programs/BoundProgram.h"

#include "weft/runtime/abi/gpus.h"
#include "weft/tools/weft/programs/ProgramPorts.h"
#include "weft/tools/weft/programs/StepArchive.h"

#include <algorithm>

using namespace weft;
using namespace weft::tool;

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

Status tool::checkNames(const NpzFile &file, const std::vector<Port> &ports,
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

Result<Array> tool::readInput(const NpzFile &file, const Port &port) {
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

Status tool::bindInputs(weft_runtime *runtime, const weft_program *program,
                        const std::vector<Port> &ports,
                        const std::function<Result<Array>(const Port &)> &read,
                        Bound &bound) {
  for (size_t i = 0; i < ports.size(); ++i) {
    auto array = read(ports[i]);
    if (!array)
      return array.error();
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

Status tool::bindOutputs(weft_runtime *runtime, const weft_program *program,
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

/// The kind of devices that the program was compiled for, by its target:
/// cpu:avx2, cuda:sm_80.
static DeviceKind kindOf(const weft_program *program) {
  std::string_view target = describeProgram(program).target;
  return parseDeviceKind(target.substr(0, target.find(':')))
      .value_or(DeviceKind::Cpu);
}

Result<OwnedRuntime> tool::createRuntime(const RunFlags &flags,
                                         const weft_program *program) {
  int64_t needed = describeProgram(program).device_count;
  DeviceList devices =
      flags.devices.value_or(DeviceList{kindOf(program), needed});
  weft_runtime *runtime = nullptr;
  if (Status made = takeError(weft_runtime_create_among(
          flags.processes, devices.text().c_str(), 0, &runtime));
      !made)
    return made.error().in("--devices");
  OwnedRuntime owner(runtime);
  weft_runtime_graphs(runtime, flags.graphs);
  weft_runtime_share(runtime, flags.share);
  if (!flags.collectives.empty())
    if (Status set = takeError(
            weft_runtime_set_collectives(runtime, flags.collectives.c_str()));
        !set)
      return set.error().in("--collectives");
  if (int64_t count = weft_runtime_device_count(runtime); count < needed)
    return Error{flags.program + ": the program's mesh has " +
                 std::to_string(needed) + " devices, there are " +
                 std::to_string(count) + "; give more with --devices " +
                 DeviceList{devices.kind, needed}.text()};
  return owner;
}

static bool endsAs(const std::string &path, std::string_view ending) {
  return std::string_view(path).ends_with(ending);
}

/// Compiles a StableHLO program, in rank 0 for all processes.
static Result<std::vector<uint8_t>> compileForeign(const RunFlags &flags) {
  std::vector<uint8_t> image;
  if (weft_processes_rank(flags.processes) == 0) {
    Result<const CompilerCommands *> commands = loadCompiler();
    if (!commands)
      return commands.error();
    ModelFlags model;
    model.model = flags.program;
    model.devices = flags.devices;
    model.step = flags.step;
    model.namesStep = !flags.step.empty();
    if ((*commands)->foreign(model, image) != 0)
      return Error{}; // the compiler has printed the reason
  }
  if (Status shared = shareBytes(flags.processes, image); !shared)
    return shared.error();
  return image;
}

Result<OwnedProgram> tool::loadProgram(const RunFlags &flags) {
  if (endsAs(flags.program, ".mlir") || endsAs(flags.program, ".mlirbc") ||
      endsAs(flags.program, ".bc")) {
    Result<std::vector<uint8_t>> image = compileForeign(flags);
    if (!image)
      return image.error();
    weft_program *loaded = nullptr;
    if (Status read = takeError(
            weft_program_load_memory(image->data(), image->size(), &loaded));
        !read)
      return read.error();
    return OwnedProgram(loaded);
  }
  auto program = loadProgramFile(flags.program, flags.step);
  if (!program)
    return program.error();
  return OwnedProgram(*program);
}
