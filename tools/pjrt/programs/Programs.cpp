//===- Programs.cpp - the PJRT functions of compiled programs -------------===//

#include "weft/tools/pjrt/Functions.h"
#include "weft/tools/pjrt/Objects.h"
#include "weft/tools/pjrt/compiler/Compiler.h"
#include "weft/tools/pjrt/programs/CompileOptions.h"
#include "weft/tools/pjrt/programs/LoadProgram.h"
#include "weft/tools/pjrt/programs/Observations.h"
#include "weft/tools/pjrt/programs/ProgramAccess.h"

#include <cstring>

using namespace weft::pjrt;
using weft::Port;

namespace {

/// Loads a program, and keeps it in memory under its keys unless it makes a
/// report.
PJRT_Error *load(const PJRT_TopologyDescription &topology,
                 const CompiledProgram &compiled, std::string_view code,
                 int64_t partitions, std::shared_ptr<Report> report,
                 std::initializer_list<std::string> keys, LoadedPtr &out) {
  auto loaded = std::make_shared<LoadedProgram>();
  if (PJRT_Error *why =
          loadProgram(compiled.image, compiled.name, code, partitions, *loaded))
    return why;
  loaded->report = std::move(report); // written when JAX frees the program
  out = loaded;
  if (!out->report)
    for (const std::string &key : keys)
      topology.programs.keep(key, out);
  return nullptr;
}

/// Gets a program from memory or disk, or compiles it.
PJRT_Error *obtain(const PJRT_TopologyDescription &topology,
                   std::string_view code, int64_t partitions,
                   const ProgramOptions &options, LoadedPtr &out) {
  std::string bytes = std::to_string(partitions) + ":" + options.target + ":" +
                      options.expect + ":" + std::string(code);
  out = topology.programs.find(bytes);
  if (out)
    return nullptr;
  CompiledProgram compiled;
  if (topology.compiler.findOnDisk(code, partitions, options, compiled))
    return load(topology, compiled, code, partitions, nullptr, {bytes}, out);
  ProgramSource source(topology.compiler, code, partitions, options);
  if (!source.error().empty())
    return error(kUnimplemented, source.error());
  out = topology.programs.find(source.key());
  if (out) {
    topology.programs.keep(bytes, out);
    return nullptr;
  }
  compiled = {source.name(), source.compile()};
  if (!source.error().empty())
    return error(kUnimplemented, source.error());
  return load(
      topology, compiled, code, partitions,
      Report::make(source.name(), source.explanation(), source.seconds()),
      {source.key(), bytes}, out);
}

void describeLayouts(Executable &executable, const std::vector<Port> &ports,
                     std::vector<PJRT_Layouts_MemoryLayout *> &out) {
  for (const Port &port : ports) {
    executable.layouts.push_back(std::make_unique<PJRT_Layouts_MemoryLayout>(
        describe(port.facts.minorToMajor)));
    out.push_back(executable.layouts.back().get());
  }
}

void describePorts(Executable &executable) {
  describeLayouts(executable, executable.loaded->inputs,
                  executable.inputLayouts);
  describeLayouts(executable, executable.loaded->outputs,
                  executable.outputLayouts);
  for (const Port &port : executable.loaded->outputs) {
    executable.types.push_back(BufferType(factsOf(port.type).pjrt));
    executable.dims.insert(executable.dims.end(), port.local.begin(),
                           port.local.end());
    executable.ranks.push_back(port.local.size());
    std::string_view kind = kMemoryKinds[memoryKindOf(port)];
    executable.kinds.push_back(kind.data());
    executable.kindSizes.push_back(kind.size());
  }
}

/// Sets the devices of the partitions: those of the options, or the first ones.
PJRT_Error *assign(PJRT_Client &client, const CompileOptions &options,
                   Executable &executable) {
  std::vector<int64_t> ids = options.devices;
  for (int64_t i = 0; options.devices.empty() && i < options.partitions; ++i)
    ids.push_back(i);
  if (static_cast<int64_t>(ids.size()) != options.partitions)
    return error(kInvalidArgument, "the program has " +
                                       std::to_string(options.partitions) +
                                       " partitions on " +
                                       std::to_string(ids.size()) + " devices");
  for (int64_t id : ids) {
    if (id < 0 || static_cast<size_t>(id) >= client.devices.size())
      return error(kInvalidArgument, "the program runs on device " +
                                         std::to_string(id) + ", there are " +
                                         std::to_string(client.devices.size()));
    executable.devices.push_back(client.devices[id]);
  }
  executable.assignment =
      options.assignment.empty() ? writeAssignment(ids) : options.assignment;
  return nullptr;
}

PJRT_Error *destroy(Executable_Destroy_Args *args) {
  delete args->executable;
  return nullptr;
}

PJRT_Error *destroyLoaded(LoadedExecutable_Destroy_Args *args) {
  delete args->executable;
  return nullptr;
}

PJRT_Error *programName(Executable_Name_Args *args) {
  const std::string &text = args->executable->value->loaded->name;
  args->text = text.data();
  args->size = text.size();
  return nullptr;
}

PJRT_Error *replicas(Executable_NumReplicas_Args *args) {
  args->count = 1;
  return nullptr;
}

PJRT_Error *partitions(Executable_NumPartitions_Args *args) {
  args->count = args->executable->value->devices.size();
  return nullptr;
}

PJRT_Error *outputs(Executable_NumOutputs_Args *args) {
  args->count = args->executable->value->types.size();
  return nullptr;
}

PJRT_Error *codeSize(Executable_SizeOfGeneratedCodeInBytes_Args *args) {
  args->bytes = 0;
  return nullptr;
}

PJRT_Error *outputTypes(Executable_OutputElementTypes_Args *args) {
  const Executable &executable = *args->executable->value;
  args->types = executable.types.data();
  args->count = executable.types.size();
  return nullptr;
}

PJRT_Error *outputDimensions(Executable_OutputDimensions_Args *args) {
  const Executable &executable = *args->executable->value;
  args->count = executable.types.size();
  args->dims = executable.dims.data();
  args->ranks = executable.ranks.data();
  return nullptr;
}

PJRT_Error *outputKinds(Executable_OutputMemoryKinds_Args *args) {
  const Executable &executable = *args->executable->value;
  args->count = executable.types.size();
  args->kinds = executable.kinds.data();
  args->sizes = executable.kindSizes.data();
  return nullptr;
}

/// Returns the skeleton, from which JAX reads types and shardings of arguments
/// and results only.
PJRT_Error *optimizedProgram(Executable_OptimizedProgram_Args *args) {
  const std::string &text = args->executable->value->loaded->skeleton;
  static constexpr std::string_view format = "hlo_with_config";
  args->program->format = format.data();
  args->program->format_size = format.size();
  if (args->program->code)
    std::memcpy(args->program->code, text.data(), text.size());
  args->program->code_size = text.size();
  return nullptr;
}

PJRT_Error *getExecutable(LoadedExecutable_GetExecutable_Args *args) {
  args->executable = new PJRT_Executable{args->loaded->value};
  return nullptr;
}

PJRT_Error *devices(LoadedExecutable_AddressableDevices_Args *args) {
  args->devices = args->executable->value->devices.data();
  args->num_devices = args->executable->value->devices.size();
  return nullptr;
}

PJRT_Error *forget(LoadedExecutable_Delete_Args *args) {
  args->executable->isDeleted = true;
  return nullptr;
}

PJRT_Error *isDeleted(LoadedExecutable_IsDeleted_Args *args) {
  args->is_deleted = args->executable->isDeleted;
  return nullptr;
}

PJRT_Error *assignment(LoadedExecutable_GetDeviceAssignment_Args *args) {
  args->bytes = args->executable->value->assignment.data();
  args->size = args->executable->value->assignment.size();
  args->owner = nullptr;
  args->free = [](void *) {};
  return nullptr;
}

} // namespace

PJRT_Error *weft::pjrt::makeExecutable(PJRT_Client &client,
                                       const CompileOptions &options,
                                       std::string text, LoadedPtr loaded,
                                       PJRT_LoadedExecutable *&out) {
  auto executable = std::make_shared<Executable>();
  executable->client = &client;
  executable->options = std::move(text);
  executable->loaded = std::move(loaded);
  if (PJRT_Error *why = assign(client, options, *executable))
    return why;
  describePorts(*executable);
  rememberExecutable(executable);
  out = new PJRT_LoadedExecutable{std::move(executable)};
  return nullptr;
}

namespace {

template <typename Args>
PJRT_Error *compileText(const Args *args,
                        const PJRT_TopologyDescription &topology,
                        CompileOptions &options, LoadedPtr &out) {
  if (!readCompileOptions({args->compile_options, args->compile_options_size},
                          options))
    return error(kInvalidArgument, "the compile options cannot be read");
  if (options.replicas > 1)
    return error(kUnimplemented,
                 "programs of " + std::to_string(options.replicas) +
                     " replicas are not supported; shard over a mesh");
  ProgramOptions asked;
  if (PJRT_Error *why = readProgramOptions(options, asked))
    return why;
  PJRT_Error *why =
      obtain(topology, {args->program->code, args->program->code_size},
             options.partitions, asked, out);
  return why ? why : reportObservations(*out);
}

/// Compiles for described devices, without a client: a program that can be
/// serialized.
PJRT_Error *compileAhead(Compile_Args *args) {
  CompileOptions options;
  auto executable = std::make_shared<Executable>();
  if (PJRT_Error *why =
          compileText(args, *args->topology, options, executable->loaded))
    return why;
  executable->options.assign(args->compile_options, args->compile_options_size);
  executable->devices.resize(options.partitions);
  describePorts(*executable);
  args->executable = new PJRT_Executable{std::move(executable)};
  return nullptr;
}

} // namespace

PJRT_Error *weft::pjrt::compile(Client_Compile_Args *args) {
  CompileOptions options;
  LoadedPtr loaded;
  if (PJRT_Error *why =
          compileText(args, args->client->topology, options, loaded))
    return why;
  return makeExecutable(
      *args->client, options,
      std::string(args->compile_options, args->compile_options_size),
      std::move(loaded), args->executable);
}

void weft::pjrt::setExecutableFunctions(Function *table) {
  set(table, kClient_Compile, compile);
  set(table, kCompile, compileAhead);
  set(table, kExecutable_Destroy, destroy);
  set(table, kLoadedExecutable_Destroy, destroyLoaded);
  set(table, kExecutable_Name, programName);
  set(table, kExecutable_NumReplicas, replicas);
  set(table, kExecutable_NumPartitions, partitions);
  set(table, kExecutable_NumOutputs, outputs);
  set(table, kExecutable_SizeOfGeneratedCodeInBytes, codeSize);
  set(table, kExecutable_OutputElementTypes, outputTypes);
  set(table, kExecutable_OutputDimensions, outputDimensions);
  set(table, kExecutable_OutputMemoryKinds, outputKinds);
  set(table, kExecutable_OptimizedProgram, optimizedProgram);
  set(table, kLoadedExecutable_GetExecutable, getExecutable);
  set(table, kLoadedExecutable_AddressableDevices, devices);
  set(table, kLoadedExecutable_Delete, forget);
  set(table, kLoadedExecutable_IsDeleted, isDeleted);
  set(table, kLoadedExecutable_GetDeviceAssignment, assignment);
  set(table, kLoadedExecutable_Execute, execute);
}
