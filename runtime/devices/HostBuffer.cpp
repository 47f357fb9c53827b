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

Status weft_buffer::write(size_t position, const BoxCopy &box,
                          const void *host) {
  if (!isOnHost)
    return runtime->devices->write(*locals[position], box, host);
  box(host, locals[position]->address());
  return {};
}

Status weft_buffer::read(size_t position, const BoxCopy &box,
                         void *host) const {
  if (!isOnHost)
    return runtime->devices->read(*locals[position], box, host);
  box(locals[position]->address(), host);
  return {};
}

static Status createOnHost(const weft_buffer *like, weft_buffer **out) {
  if (!like || !out)
    return makeError(StatusCode::InvalidArgument, "null argument");
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
      return makeError(StatusCode::OutOfMemory, "the host has no ",
                       like->port->localBytes, " bytes left for a copy of \"",
                       like->port->name, "\"");
    std::memset(memory->address(), 0, memory->bytes());
    buffer->locals[size_t(shard.own)] = std::move(memory);
  }
  *out = buffer.release();
  return {};
}

/// Copies one shard to the memory at a position of `to`.
static Status assignShard(weft_buffer &to, size_t position,
                          const weft_buffer &from, size_t source) {
  BoxCopy all = BoxCopy::full(from.port->localBytes);
  if (from.isOnHost)
    return to.write(position, all, from.locals[source]->address());
  if (to.isOnHost)
    return from.read(source, all, to.locals[position]->address());
  std::vector<uint8_t> staged(from.port->localBytes);
  if (Status ok = from.read(source, all, staged.data()); !ok)
    return ok;
  return to.write(position, all, staged.data());
}

static Status assign(weft_buffer *to, const weft_buffer *from) {
  if (!to || !from)
    return makeError(StatusCode::InvalidArgument, "null argument");
  if (to->runtime != from->runtime ||
      to->port->signature != from->port->signature ||
      to->port->localBytes != from->port->localBytes)
    return makeError(StatusCode::InvalidArgument, "\"", to->port->name,
                     "\" is assigned \"", from->port->name,
                     "\", which has another dtype, shape, layout or runtime");
  if (Status ok = to->awaitUse(); !ok)
    return ok;
  if (Status ok = from->awaitUse(); !ok)
    return ok;
  std::vector<Shard> shards = shardsOf(*from);
  std::vector<size_t> held = shardOfPosition(*from);
  for (size_t p = 0; p < to->locals.size() && to != from; ++p)
    if (to->locals[p] && held[p] != kNoShard)
      if (Status ok = assignShard(*to, p, *from, size_t(shards[held[p]].own));
          !ok)
        return ok;
  return {};
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
