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

#include "weft/tools/pjrt/ElementTypes.h"
#include "weft/tools/pjrt/programs/HloSkeleton.h"

#include "weft/runtime/abi/HostFunctions.h"
#include "weft/runtime/abi/PlanPorts.h"

#include <algorithm>
#include <numeric>

using namespace weft;
using namespace weft::pjrt;

namespace {

using Axes = flatbuffers::Vector<const plan::SubAxis *>;

/// The layouts of one mesh as XLA's shardings.
class MeshTiles {
public:
  explicit MeshTiles(const plan::Mesh *mesh) {
    for (int64_t size : *mesh->axis_sizes())
      sizes.push_back(size);
    count = std::accumulate(sizes.begin(), sizes.end(), int64_t(1),
                            std::multiplies<>());
    devices.resize(count);
    std::iota(devices.begin(), devices.end(), 0);
    if (mesh->devices() && mesh->devices()->size())
      std::copy(mesh->devices()->begin(), mesh->devices()->end(),
                devices.begin());
  }

  const std::vector<int64_t> &order() const { return devices; }

  /// Converts a layout; `on` is the device at each position.
  TileAssignment assign(const plan::Layout *layout, size_t rank,
                        const std::vector<int64_t> &on) const {
    std::vector<int64_t> tiles(rank, 1);
    for (size_t d = 0; layout && d < rank; ++d)
      for (const plan::SubAxis *axis : *axesOf(layout, d))
        tiles[d] *= axis->size();
    int64_t shards = productOf(tiles), summands = 1;
    if (const Axes *partial = layout ? layout->partial() : nullptr)
      for (const plan::SubAxis *axis : *partial)
        summands *= axis->size();
    if (shards == 1 && summands == 1)
      return {};
    std::vector<int64_t> order(count), holders;
    std::iota(order.begin(), order.end(), 0);
    // The sort is stable: copies of a tile, and summands, stay in the order of
    // the mesh.
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return tileOf(a, layout, rank) < tileOf(b, layout, rank);
    });
    for (int64_t &position : order)
      position = on[position];
    auto add = [&](int64_t size, TileHolders kind) {
      if (size == 1)
        return;
      tiles.push_back(size);
      holders.push_back(kind);
    };
    add(summands, kSummands);
    add(count / shards / summands, kCopies);
    return {std::move(tiles), std::move(order), std::move(holders)};
  }

private:
  static int64_t productOf(const std::vector<int64_t> &sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), int64_t(1),
                           std::multiplies<>());
  }
  static const Axes *axesOf(const plan::Layout *layout, size_t dim) {
    return layout->dims()->Get(static_cast<unsigned>(dim))->axes();
  }
  int64_t digit(int64_t position, const plan::SubAxis &axis) const {
    int64_t inner = 1;
    for (size_t a = axis.axis() + 1; a < sizes.size(); ++a)
      inner *= sizes[a];
    int64_t coordinate = position / inner % sizes[axis.axis()];
    return coordinate / (sizes[axis.axis()] / axis.skip() / axis.size()) %
           axis.size();
  }
  int64_t tileOf(int64_t position, const plan::Layout *layout,
                 size_t rank) const {
    int64_t tile = 0;
    auto follow = [&](const Axes &axes) {
      for (const plan::SubAxis *axis : axes)
        tile = tile * axis->size() + digit(position, *axis);
    };
    for (size_t d = 0; d < rank; ++d)
      follow(*axesOf(layout, d));
    if (layout->partial())
      follow(*layout->partial());
    return tile;
  }
  std::vector<int64_t> sizes, devices;
  int64_t count = 1;
};

ProgramPort portOf(const plan::Program *program, const plan::Port *port,
                   const MeshTiles &mesh) {
  ProgramPort out;
  Port read = readPort(*port);
  const ElementFacts &element = factsOf(read.type);
  out.type = BufferType(element.pjrt);
  const plan::Buffer *buffer = program->buffers()->Get(port->buffer());
  out.global = read.shape;
  if (buffer->shape())
    out.local.assign(buffer->shape()->begin(), buffer->shape()->end());
  out.bytes = element.bytes();
  for (int64_t size : out.local)
    out.bytes *= static_cast<size_t>(size);
  out.donatedTo = int(read.donatedTo);
  const PortFacts &facts = read.facts;
  out.order = isGiven(facts.minorToMajor) ? facts.minorToMajor
                                          : rowMajor(out.global.size());
  out.devices = isGiven(facts.devices) ? facts.devices : mesh.order();
  const auto *known =
      std::find(std::begin(kMemoryKinds), std::end(kMemoryKinds), facts.memory);
  if (known != std::end(kMemoryKinds))
    out.memoryKind = known - std::begin(kMemoryKinds);
  const plan::Layout *layout = port->layout();
  bool fits =
      layout && layout->dims() && layout->dims()->size() == out.global.size();
  out.tiles =
      mesh.assign(fits ? layout : nullptr, out.global.size(), out.devices);
  return out;
}

bool hasFullBlocks(const ProgramPort &port) {
  for (size_t d = 0; d < port.tiles.dims.size() && d < port.global.size(); ++d)
    if (port.global[d] % port.tiles.dims[d] != 0)
      return false;
  return true;
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
  MeshTiles mesh(program->mesh());
  for (const plan::Port *port : *program->inputs())
    out.inputs.push_back(portOf(program, port, mesh));
  for (const plan::Port *port : *program->outputs())
    out.outputs.push_back(portOf(program, port, mesh));
  // Shardings that do not divide a shape are refused, as jaxlib ends the
  // process for them.
  for (const std::vector<ProgramPort> *ports : {&out.inputs, &out.outputs})
    for (const ProgramPort &port : *ports)
      if (!hasFullBlocks(port))
        return error(kInternal,
                     "the program has an array with blocks of different sizes, "
                     "which JAX has not; compile it again");
  if (const auto *observations = program->observations())
    for (const plan::Observation *one : *observations)
      if (one->name() && one->layout() && one->layout()->dims())
        out.observations.push_back(
            {one->name()->str(),
             mesh.assign(one->layout(), one->layout()->dims()->size(),
                         mesh.order())});
  out.channels = channelsOf(program);
  out.callsHost = hasHostCall(program);
  for (size_t i = 0; i < out.inputs.size(); ++i)
    if (int to = out.inputs[i].donatedTo; to >= 0)
      out.outputs[to].donatedFrom = static_cast<int>(i);
  for (size_t o = 0; o < out.outputs.size(); ++o)
    for (size_t p = 0; p < out.outputs[o].devices.size(); ++p)
      out.outputs[o].holders.push_back(
          weft_program_holder(out.program, o, int64_t(p)));
  out.image = image;
  out.source = source;
  out.fingerprint = std::to_string(weft_hash(image.data(), image.size()));
  out.name = name;
  out.skeleton = hloSkeleton(out, partitions);
  return nullptr;
}
