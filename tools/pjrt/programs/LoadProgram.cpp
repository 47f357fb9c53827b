//===- LoadProgram.cpp - a loaded program and its properties for JAX ------===//
//
// Layouts become XLA's shardings; on a mesh of 2 x 4 devices, in XLA's syntax:
//
//   [{"data"}, {}]    {devices=[2,1,4]0,1,2,3,4,5,6,7 last_tile_dim_replicate}
//   [{}, {"model", "data"}]         {devices=[1,8]0,4,1,5,2,6,3,7}
//   [{"data"}], partial = sum{"model"}
//                         {devices=[2,4]0,1,2,3,4,5,6,7 last_tile_dims={unreduced}}
//
//===----------------------------------------------------------------------===//

#include "weft/tools/pjrt/programs/LoadProgram.h"

#include "weft/tools/pjrt/programs/HloSkeleton.h"

#include "weft/runtime/abi/HostFunctions.h"
#include "weft/runtime/abi/PlanPorts.h"

#include <algorithm>
#include <numeric>

using namespace weft;
using namespace weft::pjrt;

namespace {

Mesh meshOf(const plan::Mesh &table) {
  Mesh out;
  for (int64_t size : *table.axis_sizes())
    out.axes.push_back({"", size});
  if (table.devices())
    out.devices.assign(table.devices()->begin(), table.devices()->end());
  return out;
}

/// The device at each position.
std::vector<int64_t> devicesOf(const Mesh &mesh) {
  std::vector<int64_t> out;
  for (int64_t p = 0; p < mesh.size(); ++p)
    out.push_back(deviceAt(mesh, p));
  return out;
}

/// Reads the ports of a plan. Facts that are not given become those of arrays
/// that are row-major, on the devices of the mesh.
std::vector<Port>
portsOf(const plan::Program &program, const Mesh &mesh,
        const flatbuffers::Vector<flatbuffers::Offset<plan::Port>> &list) {
  std::vector<Port> out;
  for (const plan::Port *table : list) {
    Port &port = out.emplace_back(readPort(*table));
    port.local = localShape(port.layout, port.shape);
    port.localBytes = program.buffers()->Get(port.buffer)->bytes();
    if (!isGiven(port.facts.minorToMajor))
      port.facts.minorToMajor = rowMajor(port.shape.size());
    if (!isGiven(port.facts.devices))
      port.facts.devices = devicesOf(mesh);
  }
  return out;
}

bool hasHostCall(const plan::Program *program) {
  for (const plan::Instruction *instruction : *program->instructions())
    if (const plan::Start *start = instruction->operation_as_Start())
      if (start->kind_as_host_call())
        return true;
  return false;
}

/// Channels of send and recv, each once, with the bytes of its operand or
/// result.
std::vector<ProgramChannel> channelsOf(const plan::Program *program) {
  std::map<int64_t, size_t> found;
  for (const plan::Instruction *instruction : *program->instructions()) {
    const plan::Start *start = instruction->operation_as_Start();
    const plan::HostCall *call = start ? start->kind_as_host_call() : nullptr;
    if (!call || call->function() < WEFT_HOST_SEND)
      continue;
    int64_t function = call->function();
    const auto *buffers =
        function < WEFT_HOST_RECEIVE ? start->sources() : start->targets();
    uint32_t buffer =
        buffers->Get(function < WEFT_HOST_RECEIVE ? 0 : buffers->size() - 1);
    found[function] = program->buffers()->Get(buffer)->bytes();
  }
  std::vector<ProgramChannel> channels;
  for (auto [function, bytes] : found)
    channels.push_back({function, bytes});
  return channels;
}

} // namespace

TileAssignment weft::pjrt::tilesOf(const Mesh &mesh, const Layout &layout,
                                   const std::vector<int64_t> &on) {
  TileAssignment out;
  SubAxes digits;
  auto follow = [&](const SubAxes &axes) {
    digits.insert(digits.end(), axes.begin(), axes.end());
    return std::accumulate(
        axes.begin(), axes.end(), int64_t(1),
        [](int64_t n, const SubAxis &axis) { return n * axis.size; });
  };
  for (const SubAxes &dim : layout.dims)
    out.dims.push_back(follow(dim));
  int64_t summands = follow(layout.partial), copies = mesh.size();
  for (const SubAxis &digit : digits)
    copies /= digit.size;
  if (copies == mesh.size())
    return {};
  std::vector<int64_t> order(mesh.size());
  std::iota(order.begin(), order.end(), 0);
  // The sort is stable: copies of a tile, and summands, stay in the order of
  // the mesh.
  std::ranges::stable_sort(order, {}, [&](int64_t position) {
    return coordinate(mesh, position, digits);
  });
  for (int64_t position : order)
    out.devices.push_back(on[position]);
  auto add = [&](int64_t size, TileHolders kind) {
    if (size == 1)
      return;
    out.dims.push_back(size);
    out.holders.push_back(kind);
  };
  add(summands, kSummands);
  add(copies, kCopies);
  return out;
}

PJRT_Error *weft::pjrt::loadProgram(const std::vector<uint8_t> &image,
                                    const std::string &name,
                                    std::string_view source, int64_t partitions,
                                    LoadedProgram &out) {
  weft_error *why =
      weft_program_load_memory(image.data(), image.size(), &out.program);
  if (!why)
    why = weft_program_prepare(out.program);
  if (why) {
    std::string message = weft_error_message(why);
    bool lacksMemory = weft_error_status(why) == WEFT_OUT_OF_MEMORY;
    weft_error_free(why);
    return error(lacksMemory ? kResourceExhausted : kInternal, message);
  }
  const plan::Program *program =
      plan::GetProgram(weft_program_plan(out.program));
  out.mesh = meshOf(*program->mesh());
  out.inputs = portsOf(*program, out.mesh, *program->inputs());
  out.outputs = portsOf(*program, out.mesh, *program->outputs());
  // Shardings that do not divide a shape are refused, as jaxlib ends the
  // process for them.
  for (const std::vector<Port> *ports : {&out.inputs, &out.outputs})
    for (const Port &port : *ports)
      if (!isEven(port.layout, port.shape))
        return error(kInternal,
                     "the program has an array with blocks of different sizes, "
                     "which JAX has not; compile it again");
  if (const auto *observations = program->observations())
    for (const plan::Observation *one : *observations)
      if (one->name() && one->layout() && one->layout()->dims())
        out.observations.push_back(
            {one->name()->str(),
             tilesOf(out.mesh,
                     readLayout(one->layout(), one->layout()->dims()->size()),
                     devicesOf(out.mesh))});
  out.channels = channelsOf(program);
  out.callsHost = hasHostCall(program);
  for (size_t i = 0; i < out.inputs.size(); ++i)
    if (int64_t to = out.inputs[i].donatedTo; to >= 0)
      out.outputs[to].donatedFrom = int64_t(i);
  for (size_t o = 0; o < out.outputs.size(); ++o) {
    std::vector<int64_t> &holders = out.holders.emplace_back();
    for (int64_t p = 0; p < out.mesh.size(); ++p)
      holders.push_back(weft_program_holder(out.program, o, p));
  }
  out.image = image;
  out.source = source;
  out.fingerprint = std::to_string(weft_hash(image.data(), image.size()));
  out.name = name;
  out.skeleton = hloSkeleton(out, partitions);
  return nullptr;
}
