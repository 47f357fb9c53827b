#include "weft/runtime/devices/BufferShards.h"

#include "weft/runtime/program/Movement.h"

using namespace weft::runtime;

static Status createBuffer(weft_runtime *runtime, const weft_program *program,
                           bool isInput, size_t index, weft_buffer **out) {
  if (!runtime || !program || !out)
    return makeError(StatusCode::InvalidArgument, "null argument");
  *out = nullptr;
  const Plan &plan = program->program->plan();
  if (Status ok = runtime->checkDevices(plan); !ok)
    return ok;
  const std::vector<weft::Port> &ports = isInput ? plan.inputs : plan.outputs;
  if (index >= ports.size())
    return makeError(StatusCode::InvalidArgument, "program \"", plan.name,
                     "\" has ", ports.size(), isInput ? " inputs" : " outputs",
                     ", there is no number ", index);
  const weft::Port &port = ports[index];
  if (port.layout.isPartial())
    return makeError(StatusCode::InvalidArgument, "\"", port.name,
                     "\" is a sum of which each device holds a summand: it has "
                     "no global array; give its shards to weft_execute_local");
  if (runtime->devices->peakMemory() == 0)
    if (Status ok = runtime->devices->fits(plan); !ok)
      return ok;
  auto buffer = std::make_unique<weft_buffer>(
      weft_buffer{program->program, &port, runtime, runtime->tickets});
  buffer->isResult = !isInput && port.donatedFrom < 0;
  buffer->locals.resize(size_t(plan.mesh.size()));
  buffer->addresses.resize(size_t(plan.mesh.size()));
  buffer->holders = runtime->holders(plan, port);
  Ownership owners = runtime->ownership(plan.mesh);
  for (int64_t p = 0; p < plan.mesh.size(); ++p) {
    if (!owners.isOwn(p))
      continue;
    size_t holder =
        size_t(buffer->holders.empty() ? p : buffer->holders[size_t(p)]);
    if (!buffer->locals[holder])
      if (Status ok = buffer->allocate(holder); !ok)
        return ok;
    buffer->addresses[size_t(p)] = buffer->locals[holder]->address();
  }
  *out = buffer.release();
  return {};
}

Status weft_buffer::allocate(size_t position) {
  DeviceSet &devices = *runtime->devices;
  int64_t device = program->plan().mesh.devices[position];
  std::string what = "\"" + port->name + "\"";
  uint64_t bytes = program->plan().bytesAt(*port, int64_t(position));
  std::unique_ptr<DeviceMemory> &local = locals[position];
  if (Status ok = isResult ? devices.allocateResult(device, bytes, what, local)
                           : devices.allocate(device, bytes, what, local);
      !ok)
    return ok;
  return runtime->poison ? devices.fill(*local, 0xFF) : Status();
}

Ticket weft_buffer::lastUser() const {
  // Reading exchanges messages with other processes, so all runs must be over.
  return runtime->processes ? tickets->last() : tickets->of(lastUse);
}

Status weft_buffer::awaitUse() const {
  if (Status ok = runtime->checkProcess(); !ok)
    return ok;
  Ticket use = lastUser();
  if (use.isDone())
    return {};
  if (Ticket::isCallingBack())
    return use.wait();
  runtime->devices->attend(use);
  return {}; // the run's ticket has the error
}

Box weft::runtime::fullBox(const weft_buffer &buffer) {
  Box box;
  for (int64_t size : buffer.port->shape)
    box.push_back({0, size});
  return box;
}

Status weft::runtime::checkBytes(const weft_buffer &buffer, const Box &block,
                                 const void *data, size_t bytes) {
  uint64_t wanted = uint64_t(volume(block)) * byteWidth(buffer.port->type);
  if (!data && bytes)
    return makeError(StatusCode::InvalidArgument, "null argument");
  if (bytes != wanted)
    return makeError(StatusCode::InvalidArgument, "\"", buffer.port->name,
                     "\" has ", wanted, " bytes, not ", bytes);
  return {};
}

static Status makeBlock(const weft_buffer *buffer, const int64_t *starts,
                        const int64_t *sizes, Box &block) {
  if (!buffer || ((!starts || !sizes) && !buffer->port->shape.empty()))
    return makeError(StatusCode::InvalidArgument, "null argument");
  for (size_t d = 0; d < buffer->port->shape.size(); ++d) {
    int64_t all = buffer->port->shape[d];
    if (starts[d] < 0 || starts[d] > all || sizes[d] < 0 ||
        sizes[d] > all - starts[d])
      return makeError(StatusCode::InvalidArgument, "\"", buffer->port->name,
                       "\" has ", all, " elements in dimension ", d,
                       ", not the ", sizes[d], " from ", starts[d], " on");
    block.push_back({starts[d], starts[d] + sizes[d]});
  }
  return {};
}

BoxCopy weft::runtime::shardCopy(const weft_buffer &buffer, int64_t position,
                                 const Box &block, bool toBlock) {
  const weft::Port &port = *buffer.port;
  const Plan &plan = buffer.program->plan();
  if (!holds(plan.mesh, port.layout, position))
    return {}; // no bytes
  Box box = own(plan.mesh, port.layout, port.shape, position);
  Box common = intersect(box, block);
  const std::vector<int64_t> &local = plan.buffers[port.buffer].shape;
  std::vector<int64_t> inLocal, inBlock, extent, shape;
  for (size_t d = 0; d < box.size(); ++d) {
    inLocal.push_back(common[d].begin - box[d].begin);
    inBlock.push_back(common[d].begin - block[d].begin);
    extent.push_back(common[d].size());
    shape.push_back(block[d].size());
  }
  int64_t size = int64_t(byteWidth(port.type));
  return toBlock ? BoxCopy::make(local, inLocal, shape, inBlock, extent, size)
                 : BoxCopy::make(shape, inBlock, local, inLocal, extent, size);
}

/// Sends each shard's slice of a block from the process with the shard's first
/// copy to the processes without a copy.
static Status exchangeShards(const weft_buffer &buffer, const Box &block,
                             const std::vector<Shard> &shards,
                             std::vector<std::vector<uint8_t>> &received) {
  Processes &processes = *buffer.runtime->processes;
  Ownership owners = buffer.runtime->ownership(buffer.program->plan().mesh);
  std::vector<PeerMessage> messages;
  std::vector<std::vector<uint8_t>> sent(shards.size());
  for (size_t s = 0; s < shards.size(); ++s) {
    int holder = owners.of(shards[s].first);
    BoxCopy copy = shardCopy(buffer, shards[s].first, block, true).packing();
    size_t bytes = size_t(copy.bytes());
    if (bytes == 0)
      continue;
    if (shards[s].own < 0) {
      received[s].resize(bytes);
      messages.push_back({.peer = holder,
                          .tag = tags::gather,
                          .in = received[s].data(),
                          .bytes = bytes});
    }
    for (int rank = 0; holder == processes.rank() && rank < processes.size();
         ++rank) {
      if (shards[s].ranks.contains(rank))
        continue;
      if (sent[s].empty()) {
        sent[s].resize(bytes);
        if (Status ok =
                buffer.read(size_t(shards[s].first), copy, sent[s].data());
            !ok)
          return ok;
      }
      messages.push_back({.peer = rank,
                          .tag = tags::gather,
                          .out = sent[s].data(),
                          .bytes = bytes});
    }
  }
  return processes.exchange(messages);
}

/// Waits for runs that use the buffer, unless a write takes place after them.
static Status awaitUseToWrite(const weft_buffer &buffer, const Box &block) {
  bool waits = buffer.isOnHost || buffer.runtime->poison;
  for (size_t p = 0; p < buffer.locals.size() && !waits; ++p)
    waits = buffer.locals[p] &&
            !buffer.runtime->devices->writesBehindRuns(
                *buffer.locals[p], shardCopy(buffer, int64_t(p), block, false));
  return waits ? buffer.awaitUse() : buffer.runtime->checkProcess();
}

static Status writeBlock(weft_buffer &buffer, const Box &block,
                         const void *data) {
  for (size_t p = 0; p < buffer.locals.size(); ++p) {
    if (!buffer.locals[p])
      continue; // another process holds it
    BoxCopy copy = shardCopy(buffer, int64_t(p), block, false);
    if (copy.bytes() == 0)
      continue;
    if (Status ok = buffer.write(p, copy, data); !ok)
      return ok;
  }
  return {};
}

Status weft::runtime::readBlock(const weft_buffer &buffer, const Box &block,
                                void *data) {
  std::vector<Shard> shards = shardsOf(buffer);
  std::vector<std::vector<uint8_t>> received(shards.size());
  if (buffer.runtime->processes)
    if (Status ok = exchangeShards(buffer, block, shards, received); !ok)
      return ok;
  for (size_t s = 0; s < shards.size(); ++s) {
    bool isOwn = shards[s].own >= 0;
    int64_t position = isOwn ? shards[s].own : shards[s].first;
    if (!isOwn) {
      if (!received[s].empty())
        shardCopy(buffer, position, block, false)
            .unpacking()(received[s].data(), data);
      continue;
    }
    BoxCopy copy = shardCopy(buffer, position, block, true);
    if (copy.bytes() == 0)
      continue;
    if (Status ok = buffer.read(size_t(position), copy, data); !ok)
      return ok;
  }
  return {};
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
  if (buffer)
    buffer->tickets->of(buffer->lastUse).onReady([buffer](const Status &) {
      delete buffer;
    });
}

WEFT_EXPORT weft_error *weft_buffer_write(weft_buffer *buffer, const void *data,
                                          size_t bytes) {
  return guarded([&]() -> Status {
    if (!buffer)
      return makeError(StatusCode::InvalidArgument, "null argument");
    Box all = fullBox(*buffer);
    if (Status ok = checkBytes(*buffer, all, data, bytes); !ok)
      return ok;
    if (Status ok = awaitUseToWrite(*buffer, all); !ok)
      return ok;
    for (std::unique_ptr<DeviceMemory> &local : buffer->locals)
      if (local && buffer->runtime->poison && !buffer->isOnHost)
        if (Status ok = buffer->runtime->devices->fill(*local, 0xFF); !ok)
          return ok;
    return writeBlock(*buffer, all, data);
  });
}

WEFT_EXPORT weft_error *weft_buffer_read(const weft_buffer *buffer, void *data,
                                         size_t bytes) {
  return guarded([&]() -> Status {
    if (!buffer)
      return makeError(StatusCode::InvalidArgument, "null argument");
    Box all = fullBox(*buffer);
    if (Status ok = checkBytes(*buffer, all, data, bytes); !ok)
      return ok;
    if (Status ok = buffer->awaitUse(); !ok)
      return ok;
    return readBlock(*buffer, all, data);
  });
}

WEFT_EXPORT weft_error *
weft_buffer_write_block(weft_buffer *buffer, const int64_t *starts,
                        const int64_t *sizes, const void *data, size_t bytes) {
  return guarded([&]() -> Status {
    Box block;
    if (Status ok = makeBlock(buffer, starts, sizes, block); !ok)
      return ok;
    if (Status ok = checkBytes(*buffer, block, data, bytes); !ok)
      return ok;
    if (Status ok = buffer->awaitUse(); !ok)
      return ok;
    return writeBlock(*buffer, block, data);
  });
}

WEFT_EXPORT weft_error *weft_buffer_read_block(const weft_buffer *buffer,
                                               const int64_t *starts,
                                               const int64_t *sizes, void *data,
                                               size_t bytes) {
  return guarded([&]() -> Status {
    Box block;
    if (Status ok = makeBlock(buffer, starts, sizes, block); !ok)
      return ok;
    if (Status ok = checkBytes(*buffer, block, data, bytes); !ok)
      return ok;
    if (Status ok = buffer->awaitUse(); !ok)
      return ok;
    return readBlock(*buffer, block, data);
  });
}

WEFT_EXPORT void *weft_buffer_local(weft_buffer *buffer, int64_t position,
                                    size_t *bytes) {
  if (!buffer || position < 0 || size_t(position) >= buffer->locals.size())
    return nullptr;
  const DeviceMemory *local = buffer->memoryOf(size_t(position));
  if (!local)
    return nullptr; // another process holds it
  if (bytes)
    *bytes = local->bytes();
  return local->address();
}
}
