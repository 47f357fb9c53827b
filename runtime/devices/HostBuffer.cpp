//===- HostBuffer.cpp - an array's own shards on the host -----------------===//

#include "weft/runtime/devices/BufferShards.h"

#include <cstdlib>
#include <cstring>

using namespace weft::runtime;

namespace {
class HostMemory : public DeviceMemory {
public:
  explicit HostMemory(uint64_t bytes) {
    constexpr uint64_t alignment = 64;
    start = std::aligned_alloc(alignment, (bytes + alignment) & -alignment);
    size = bytes;
  }
  ~HostMemory() override { std::free(start); }
};
} // namespace

Error weft_buffer::write(size_t position, const BoxCopy &box,
                         const void *host) {
  if (!isOnHost)
    return runtime->devices->write(*locals[position], box, host);
  box(host, locals[position]->address());
  return nullptr;
}

Error weft_buffer::read(size_t position, const BoxCopy &box, void *host) const {
  if (!isOnHost)
    return runtime->devices->read(*locals[position], box, host);
  box(locals[position]->address(), host);
  return nullptr;
}

static Error createOnHost(const weft_buffer *like, weft_buffer **out) {
  if (!like || !out)
    return makeError(WEFT_INVALID_ARGUMENT, "null argument");
  *out = nullptr;
  auto buffer = std::make_unique<weft_buffer>(
      weft_buffer{like->program, like->port, like->runtime, like->tickets});
  buffer->isOnHost = true;
  buffer->locals.resize(like->locals.size());
  buffer->addresses.resize(like->locals.size());
  for (const Shard &shard : shardsOf(*like)) {
    if (shard.own < 0)
      continue;
    auto memory = std::make_unique<HostMemory>(like->port->localBytes);
    if (!memory->address())
      return makeError(WEFT_OUT_OF_MEMORY, "the host has no ",
                       like->port->localBytes, " bytes left for a copy of \"",
                       like->port->name, "\"");
    std::memset(memory->address(), 0, memory->bytes());
    buffer->locals[size_t(shard.own)] = std::move(memory);
  }
  *out = buffer.release();
  return nullptr;
}

/// Copies one shard to the memory at a position of `to`.
static Error assignShard(weft_buffer &to, size_t position,
                         const weft_buffer &from, size_t source) {
  BoxCopy all = BoxCopy::full(from.port->localBytes);
  if (from.isOnHost)
    return to.write(position, all, from.locals[source]->address());
  if (to.isOnHost)
    return from.read(source, all, to.locals[position]->address());
  std::vector<uint8_t> staged(from.port->localBytes);
  if (Error e = from.read(source, all, staged.data()))
    return e;
  return to.write(position, all, staged.data());
}

static Error assign(weft_buffer *to, const weft_buffer *from) {
  if (!to || !from)
    return makeError(WEFT_INVALID_ARGUMENT, "null argument");
  if (to->runtime != from->runtime ||
      to->port->signature != from->port->signature ||
      to->port->localBytes != from->port->localBytes)
    return makeError(WEFT_INVALID_ARGUMENT, "\"", to->port->name,
                     "\" is assigned \"", from->port->name,
                     "\", which has another dtype, shape, layout or runtime");
  if (Error e = to->awaitUse())
    return e;
  if (Error e = from->awaitUse())
    return e;
  std::vector<Shard> shards = shardsOf(*from);
  std::vector<size_t> held = shardOfPosition(*from);
  for (size_t p = 0; p < to->locals.size() && to != from; ++p)
    if (to->locals[p])
      if (Error e = assignShard(*to, p, *from, size_t(shards[held[p]].own)))
        return e;
  return nullptr;
}

extern "C" {

WEFT_EXPORT weft_error *weft_buffer_create_on_host(const weft_buffer *like,
                                                   weft_buffer **out) {
  return guarded([&] { return createOnHost(like, out); });
}

WEFT_EXPORT weft_error *weft_buffer_assign(weft_buffer *to,
                                           const weft_buffer *from) {
  return guarded([&] { return assign(to, from); });
}
}
