//===- Serialize.cpp - compiled programs as bytes, and their sizes --------===//
//
// jax.experimental.serialize_executable and JAX's compilation cache keep:
//
//   "WEFTEXE2"  four lengths of 8 bytes  name  compile options  image  source
//
//===----------------------------------------------------------------------===//

#include "weft/tools/pjrt/Functions.h"
#include "weft/tools/pjrt/Objects.h"
#include "weft/tools/pjrt/programs/CompileOptions.h"
#include "weft/tools/pjrt/programs/LoadProgram.h"
#include "weft/tools/pjrt/programs/Observations.h"

#include "weft/runtime/abi/plan_generated.h"

#include <cstring>

using namespace weft;
using namespace weft::pjrt;

struct PJRT_SerializedExecutable {
  std::string bytes;
};

namespace {

constexpr std::string_view kMagic = "WEFTEXE2";
constexpr size_t kFields = 4;

void append(std::string &bytes, uint64_t number) {
  bytes.append(reinterpret_cast<const char *>(&number), sizeof number);
}

const plan::Program *planOf(const LoadedProgram &loaded) {
  return plan::GetProgram(weft_program_plan(loaded.program));
}

/// Whether the program calls functions of this process.
bool callsHost(const LoadedProgram &loaded) {
  for (const plan::Instruction *instruction : *planOf(loaded)->instructions())
    if (const plan::Start *start = instruction->operation_as_Start();
        start && start->kind_as_host_call())
      return true;
  return false;
}

PJRT_Error *serialize(Executable_Serialize_Args *args) {
  const Executable &executable = *args->executable->value;
  const LoadedProgram &loaded = *executable.loaded;
  if (callsHost(loaded))
    return error(kUnimplemented,
                 "a program with host callbacks cannot be serialized: it calls "
                 "functions of this process");
  auto *out = new PJRT_SerializedExecutable{std::string(kMagic)};
  for (size_t size : {loaded.name.size(), executable.options.size(),
                      loaded.image.size(), loaded.source.size()})
    append(out->bytes, size);
  out->bytes += loaded.name + executable.options;
  out->bytes.append(loaded.image.begin(), loaded.image.end());
  out->bytes += loaded.source;
  args->serialized_bytes = out->bytes.data();
  args->serialized_bytes_size = out->bytes.size();
  args->serialized_executable = out;
  args->serialized_executable_deleter = [](PJRT_SerializedExecutable *bytes) {
    delete bytes;
  };
  return nullptr;
}

/// Splits the bytes into fields; false for other bytes.
bool readFields(std::string_view bytes, std::string_view (&fields)[kFields]) {
  uint64_t sizes[kFields];
  if (bytes.substr(0, kMagic.size()) != kMagic ||
      bytes.size() < kMagic.size() + sizeof sizes)
    return false;
  std::memcpy(sizes, bytes.data() + kMagic.size(), sizeof sizes);
  bytes.remove_prefix(kMagic.size() + sizeof sizes);
  for (size_t i = 0; i < kFields; ++i) {
    if (sizes[i] > bytes.size())
      return false;
    fields[i] = bytes.substr(0, sizes[i]);
    bytes.remove_prefix(sizes[i]);
  }
  return bytes.empty();
}

PJRT_Error *deserialize(Executable_DeserializeAndLoad_Args *args) {
  std::string_view fields[kFields];
  if (!readFields(
          {args->serialized_executable, args->serialized_executable_size},
          fields))
    return error(kInvalidArgument,
                 "the bytes are no program that Weft serialized");
  std::string_view said = fields[1];
  if (args->overridden_serialized_compile_options_size)
    said = {args->overridden_serialized_compile_options,
            args->overridden_serialized_compile_options_size};
  CompileOptions options;
  if (!readCompileOptions(said, options))
    return error(kInvalidArgument, "the compile options cannot be read");
  auto loaded = std::make_shared<LoadedProgram>();
  if (PJRT_Error *why = loadProgram({fields[2].begin(), fields[2].end()},
                                    std::string(fields[0]), fields[3],
                                    options.partitions, *loaded))
    return why;
  if (PJRT_Error *why = reportObservations(*loaded))
    return why;
  return makeExecutable(*args->client, options, std::string(said), loaded,
                        args->loaded_executable);
}

PJRT_Error *compileOptions(Executable_GetCompileOptions_Args *args) {
  const std::string &text = args->executable->value->options;
  args->serialized_bytes = text.data();
  args->serialized_bytes_size = text.size();
  args->serialized_compile_options = nullptr;
  args->serialized_compile_options_deleter = [](void *) {};
  return nullptr;
}

template <typename Args> PJRT_Error *fingerprint(Args *args) {
  const std::string &text = args->executable->value->loaded->fingerprint;
  args->text = text.data();
  args->size = text.size();
  return nullptr;
}

/// Returns the memory of one device.
PJRT_Error *memoryStats(Executable_GetCompiledMemoryStats_Args *args) {
  const LoadedProgram &loaded = *args->executable->value->loaded;
  size_t head = offsetof(Executable_GetCompiledMemoryStats_Args, code);
  std::memset(reinterpret_cast<char *>(args) + head, 0,
              std::min(args->struct_size, sizeof *args) - head);
  args->code = static_cast<int64_t>(loaded.image.size());
  for (const Port &port : loaded.inputs) {
    args->arguments += static_cast<int64_t>(port.localBytes);
    if (port.donatedTo >= 0)
      args->aliased += static_cast<int64_t>(port.localBytes);
  }
  for (const Port &port : loaded.outputs)
    args->outputs += static_cast<int64_t>(port.localBytes);
  args->temporaries = static_cast<int64_t>(planOf(loaded)->arena_bytes());
  int64_t all =
      args->arguments + args->outputs - args->aliased + args->temporaries;
  if (args->struct_size >= sizeof *args)
    args->peak = args->total = all;
  return nullptr;
}

NamedValue cost(const char *name, double value) {
  NamedValue made{};
  made.struct_size = sizeof made;
  made.name = name;
  made.name_size = std::strlen(name);
  made.type = kFloat;
  made.float_value = static_cast<float>(value);
  made.value_size = 1;
  return made;
}

/// Returns the costs of one device and one pass over the plan's instructions:
/// loops count once. A program for described devices only has no compiler, and
/// its operations are not counted.
PJRT_Error *costs(Executable_GetCostAnalysis_Args *args) {
  const Executable &executable = *args->executable->value;
  std::lock_guard<std::mutex> guard(executable.mutex);
  if (executable.costs.empty()) {
    const weft::plan::Program &plan = *planOf(*executable.loaded);
    double accessed = 0, moved = 0, launches = 0, collectives = 0;
    auto bytes = [&](uint32_t buffer) {
      return double(plan.buffers()->Get(buffer)->bytes());
    };
    for (const weft::plan::Instruction *instruction : *plan.instructions()) {
      if (const auto *launch = instruction->operation_as_Launch()) {
        ++launches;
        for (uint32_t buffer : *launch->buffers())
          accessed += bytes(buffer);
      } else if (const auto *start = instruction->operation_as_Start()) {
        ++collectives;
        for (uint32_t buffer : *start->targets())
          moved += bytes(buffer);
      }
    }
    executable.costs = {cost("bytes accessed", accessed),
                        cost("bytes of collectives' results", moved),
                        cost("kernel launches", launches),
                        cost("collectives", collectives)};
    if (executable.client) {
      ProgramCosts computed =
          ProgramSource(executable.client->topology.compiler,
                        executable.loaded->source,
                        static_cast<int64_t>(executable.devices.size()))
              .costs();
      executable.costs.push_back(cost("flops", computed.flops));
      executable.costs.push_back(
          cost("transcendentals", computed.transcendentals));
    }
  }
  args->num_properties = executable.costs.size();
  args->properties = executable.costs.data();
  return nullptr;
}

} // namespace

void weft::pjrt::setSerializeFunctions(Function *table) {
  set(table, kExecutable_Serialize, serialize);
  set(table, kExecutable_DeserializeAndLoad, deserialize);
  set(table, kExecutable_GetCompileOptions, compileOptions);
  set(table, kExecutable_Fingerprint, fingerprint<Executable_Fingerprint_Args>);
  set(table, kLoadedExecutable_Fingerprint,
      fingerprint<LoadedExecutable_Fingerprint_Args>);
  set(table, kExecutable_GetCompiledMemoryStats, memoryStats);
  set(table, kExecutable_GetCostAnalysis, costs);
}
