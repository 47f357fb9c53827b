#include "weft/runtime/devices/BufferShards.h"

namespace weft::runtime {

/// The axes over which an array is split.
static SubAxes splitAxes(const weft_buffer &buffer) {
  SubAxes axes;
  for (const SubAxes &dim : buffer.port->layout.dims)
    axes.insert(axes.end(), dim.begin(), dim.end());
  return axes;
}

std::vector<size_t> shardOfPosition(const weft_buffer &buffer) {
  const Mesh &mesh = buffer.program->plan().mesh;
  SubAxes axes = splitAxes(buffer);
  std::vector<size_t> out;
  for (int64_t p = 0; p < mesh.size(); ++p)
    out.push_back(holds(mesh, buffer.port->layout, p)
                      ? size_t(coordinate(mesh.axes, p, axes))
                      : kNoShard);
  return out;
}

std::vector<Shard> shardsOf(const weft_buffer &buffer) {
  Ownership owners = buffer.runtime->ownership(buffer.program->plan().mesh);
  std::vector<Shard> out(size_t(shardCount(splitAxes(buffer))));
  std::vector<size_t> held = shardOfPosition(buffer);
  for (size_t p = 0; p < held.size(); ++p) {
    if (held[p] == kNoShard)
      continue;
    Shard &shard = out[held[p]];
    if (shard.first < 0)
      shard.first = int64_t(p);
    if (shard.own < 0 && owners.isOwn(int64_t(p)))
      shard.own = int64_t(p);
    shard.ranks.insert(owners.of(int64_t(p)));
  }
  return out;
}

} // namespace weft::runtime
