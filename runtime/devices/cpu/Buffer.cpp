#include "weft/runtime/devices/cpu/Runtime.h"

#include "weft/runtime/program/Movement.h"

#include <cstring>
#include <set>

using namespace weft::runtime;

static Error createBuffer(weft_runtime *runtime, const weft_program *program,
                          bool isInput, size_t index, weft_buffer **out) {
  if (!runtime || !program || !out)
    return makeError(WEFT_INVALID_ARGUMENT, "null argument");
  *out = nullptr;
  const Plan &plan = program->program->plan();
  if (Error error = runtime->checkDevices(plan))
    return error;
  const std::vector<PortInfo> &ports = isInput ? plan.inputs : plan.outputs;
  if (index >= ports.size())
    return makeError(WEFT_INVALID_ARGUMENT, "program \"", plan.name, "\" has ",
                     ports.size(), isInput ? " inputs" : " outputs",
                     ", there is no number ", index);
  const PortInfo &port = ports[index];
  if (port.layout.partial)
    return makeError(WEFT_INVALID_ARGUMENT, "\"", port.name,
                     "\" is a sum of which each device holds a summand: it has "
                     "no global array; give its parts to weft_execute_local");
  auto buffer = std::make_unique<weft_buffer>(
      weft_buffer{program->program, &port, runtime, 0, 0, {}, runtime->meter});
  buffer->locals.resize(size_t(plan.mesh.size()));
  Ownership owners = runtime->ownership(plan.mesh);
  for (int64_t p = 0; p < plan.mesh.size(); ++p) {
    if (!owners.isOwn(p))
      continue;
    if (!buffer->locals[p].allocate(port.localBytes, p))
      return makeError(WEFT_OUT_OF_MEMORY, "no memory for \"", port.name,
                       "\" on device ", p, ": ", port.localBytes,
                       " bytes; split it over more devices, or take a smaller "
                       "model or batch");
    if (runtime->poison)
      std::memset(buffer->locals[p].data(), 0xFF, port.localBytes);
  }
  for (int64_t p = 0; p < plan.mesh.size(); ++p)
    runtime->meter->add(plan.mesh.devices[p],
                        int64_t(buffer->locals[p].size()));
  std::lock_guard<std::mutex> guard(runtime->mutex);
  buffer->id = runtime->nextBuffer++;
  *out = buffer.release();
  return nullptr;
}

static Error checkGlobal(const weft_buffer *buffer, const void *data,
                         size_t bytes) {
  if (!buffer || (!data && bytes))
    return makeError(WEFT_INVALID_ARGUMENT, "null argument");
  if (bytes != buffer->port->globalBytes)
    return makeError(WEFT_INVALID_ARGUMENT, "\"", buffer->port->name, "\" has ",
                     buffer->port->globalBytes, " bytes, not ", bytes);
  return nullptr;
}

/// Copies what the device at `position` holds out of or into a global array.
static BoxCopy shardCopy(const weft_buffer &buffer, int64_t position,
                         bool toGlobal) {
  const PortInfo &port = *buffer.port;
  const Plan &plan = buffer.program->plan();
  Box box = own(plan.mesh, port.layout, port.shape, position);
  const std::vector<int64_t> &local = plan.buffers[port.buffer].shape;
  std::vector<int64_t> zero(box.size()), start(box.size()), extent(box.size());
  for (size_t d = 0; d < box.size(); ++d) {
    start[d] = box[d].begin;
    extent[d] = box[d].size();
  }
  int64_t size = elementBytes(port.dtype);
  return toGlobal ? BoxCopy::make(local, zero, port.shape, start, extent, size)
                  : BoxCopy::make(port.shape, start, local, zero, extent, size);
}

namespace {
/// One part of an array; copies of it hold the same bits.
struct Shard {
  int64_t first = -1, own = -1; ///< positions that hold it; -1: not here
  std::set<int> ranks;          ///< processes that hold it
};
} // namespace

static std::vector<Shard> shardsOf(const weft_buffer &buffer) {
  const Mesh &mesh = buffer.program->plan().mesh;
  Ownership owners = buffer.runtime->ownership(mesh);
  SubAxes axes;
  for (const SubAxes &dim : buffer.port->layout.dims)
    axes.insert(axes.end(), dim.begin(), dim.end());
  std::vector<Shard> out(size_t(shardCount(axes)));
  for (int64_t p = 0; p < mesh.size(); ++p) {
    Shard &shard = out[size_t(coordinate(mesh.axes, p, axes))];
    if (shard.first < 0)
      shard.first = p;
    if (shard.own < 0 && owners.isOwn(p))
      shard.own = p;
    shard.ranks.insert(owners.of(p));
  }
  return out;
}

/// Sends each shard from the process that holds its first copy to those that
/// have none.
static Error exchangeShards(const weft_buffer &buffer,
                            const std::vector<Shard> &shards,
                            std::vector<std::vector<uint8_t>> &received) {
  Processes &processes = *buffer.runtime->processes;
  Ownership owners = buffer.runtime->ownership(buffer.program->plan().mesh);
  size_t bytes = buffer.port->localBytes;
  std::vector<Message> messages;
  for (size_t s = 0; s < shards.size(); ++s) {
    int holder = owners.of(shards[s].first);
    if (shards[s].own < 0) {
      received[s].resize(bytes);
      messages.push_back({.peer = holder,
                          .tag = tags::gather,
                          .in = received[s].data(),
                          .bytes = bytes});
    }
    for (int rank = 0; holder == processes.rank() && rank < processes.size();
         ++rank)
      if (!shards[s].ranks.contains(rank))
        messages.push_back(
            {.peer = rank,
             .tag = tags::gather,
             .out = buffer.locals[size_t(shards[s].first)].data(),
             .bytes = bytes});
  }
  return processes.exchange(messages);
}

extern "C" {

WEFT_EXPORT weft_error *weft_input_create(weft_runtime *runtime,
                                          const weft_program *program,
                                          size_t input, weft_buffer **out) {
  return guarded(
      [&] { return createBuffer(runtime, program, true, input, out); });
}

WEFT_EXPORT weft_error *weft_output_create(weft_runtime *runtime,
                                           const weft_program *program,
                                           size_t output, weft_buffer **out) {
  return guarded(
      [&] { return createBuffer(runtime, program, false, output, out); });
}

WEFT_EXPORT void weft_buffer_free(weft_buffer *buffer) {
  if (!buffer)
    return;
  const Plan &plan = buffer->program->plan();
  for (int64_t p = 0; p < plan.mesh.size(); ++p)
    buffer->meter->add(plan.mesh.devices[p],
                       -int64_t(buffer->locals[p].size()));
  delete buffer;
}

WEFT_EXPORT weft_error *weft_buffer_write(weft_buffer *buffer, const void *data,
                                          size_t bytes) {
  return guarded([&]() -> Error {
    if (Error e = checkGlobal(buffer, data, bytes))
      return e;
    for (size_t p = 0; p < buffer->locals.size(); ++p) {
      if (!buffer->locals[p].data())
        continue; // another process's
      if (buffer->runtime->poison)
        std::memset(buffer->locals[p].data(), 0xFF, buffer->locals[p].size());
      shardCopy(*buffer, int64_t(p), false)(data, buffer->locals[p].data());
    }
    return nullptr;
  });
}

WEFT_EXPORT weft_error *weft_buffer_read(const weft_buffer *buffer, void *data,
                                         size_t bytes) {
  return guarded([&]() -> Error {
    if (Error e = checkGlobal(buffer, data, bytes))
      return e;
    std::vector<Shard> shards = shardsOf(*buffer);
    std::vector<std::vector<uint8_t>> received(shards.size());
    if (buffer->runtime->processes)
      if (Error e = exchangeShards(*buffer, shards, received))
        return e;
    for (size_t s = 0; s < shards.size(); ++s) {
      int64_t position = shards[s].own < 0 ? shards[s].first : shards[s].own;
      const void *local = shards[s].own < 0
                              ? received[s].data()
                              : buffer->locals[size_t(position)].data();
      shardCopy(*buffer, position, true)(local, data);
    }
    return nullptr;
  });
}

WEFT_EXPORT void *weft_buffer_local(weft_buffer *buffer, int64_t position,
                                    size_t *bytes) {
  if (!buffer || position < 0 || size_t(position) >= buffer->locals.size())
    return nullptr;
  if (!buffer->locals[position].data())
    return nullptr; // another process's
  if (bytes)
    *bytes = buffer->locals[position].size();
  return buffer->locals[position].data();
}
}
