#include "weft/runtime/collectives/Moves.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace weft::runtime {

static void addMove(std::vector<Move> &out, const Collective &collective,
                    int64_t source, int64_t target,
                    std::span<const int64_t> sourceStart,
                    std::span<const int64_t> targetStart,
                    std::span<const int64_t> extent) {
  const Collective::Array &from = collective.sources[0],
                          &to = collective.targets[0];
  for (int64_t n : extent)
    if (n <= 0)
      return;
  out.push_back({source, target,
                 BoxCopy::make(from.shape, sourceStart, to.shape, targetStart,
                               extent, elementBytes(from.dtype()))});
}

/// The position of element t of member k; -1: none. See coll.fetch.
static int64_t positionOf(const FetchedPositions &fetched, int64_t k,
                          int64_t t) {
  int64_t place = fetched.block * k + fetched.step * t + fetched.offset;
  if (fetched.modulus > 0)
    place = (place % fetched.modulus + fetched.modulus) % fetched.modulus;
  if (place < 0 || place % fetched.divisor != 0 ||
      place / fetched.divisor >= fetched.size)
    return -1;
  return place / fetched.divisor;
}

std::vector<Move> movesOf(const Collective &collective,
                          const FetchedPositions &positions, int64_t dim) {
  std::vector<Move> out;
  int64_t p = shardCount(collective.axes);
  const std::vector<int64_t> &from = collective.sources[0].shape,
                             &to = collective.targets[0].shape;
  std::vector<int64_t> sourceStart(from.size()), targetStart = sourceStart,
                                                 extent = from;
  for (int64_t k = 0; k < p; ++k)
    for (int64_t t = 0, next; t < to[dim]; t = next) {
      int64_t q = positionOf(positions, k, t);
      next = t + 1;
      if (q < 0)
        continue;
      int64_t member = q / from[dim];
      sourceStart[dim] = q % from[dim];
      while (next < to[dim] && positionOf(positions, k, next) == q + next - t &&
             (q + next - t) / from[dim] == member)
        ++next;
      targetStart[dim] = t;
      extent[dim] = next - t;
      addMove(out, collective, member, k, sourceStart, targetStart, extent);
    }
  return out;
}

std::vector<Move> movesOf(const Collective &collective, const Sending &its) {
  std::vector<Move> out;
  const std::vector<int64_t> &extent = collective.sources[0].shape;
  std::vector<int64_t> zero(extent.size());
  for (size_t k = 0; k < its.senders.size(); ++k)
    if (int64_t source = its.senders[k]; source >= 0)
      addMove(out, collective, source, int64_t(k), zero, zero, extent);
  return out;
}

/// The start of a box inside another, relative to the other.
static std::vector<int64_t> startWithin(const Box &inner, const Box &outer) {
  std::vector<int64_t> start(inner.size());
  for (size_t d = 0; d < inner.size(); ++d)
    start[d] = inner[d].begin - outer[d].begin;
  return start;
}

namespace {
/// The members that hold a shard, and what they hold.
struct Shard {
  std::vector<int64_t> holders;
  Box held;
  std::vector<int64_t> senders; ///< indexed by member
};
} // namespace

/// Chooses the sender of a shard to each member. Holders of the shard use their
/// own copy, and serve the other members in turn, those that need the most
/// elements first. Members that are not in the part that receives ask for
/// nothing.
static void chooseSenders(Shard &shard, const std::vector<Box> &wanted,
                          const std::vector<bool> &receives) {
  shard.senders.assign(wanted.size(), -1);
  for (int64_t member : shard.holders)
    shard.senders[size_t(member)] = member;
  std::vector<std::pair<int64_t, int64_t>> requests; // elements, member
  for (size_t j = 0; j < wanted.size(); ++j)
    if (shard.senders[j] < 0 && receives[j])
      requests.push_back(
          {volume(intersect(wanted[j], shard.held)), int64_t(j)});
  std::sort(requests.begin(), requests.end(), [](const auto &a, const auto &b) {
    return std::tie(b.first, a.second) < std::tie(a.first, b.second);
  });
  for (size_t turn = 0; turn < requests.size(); ++turn)
    shard.senders[size_t(requests[turn].second)] =
        shard.holders[turn % shard.holders.size()];
}

/// The copy of a piece of a box, whose positions are those of the two arrays.
static BoxCopy copyOf(const MovedBox &box, const Collective::Array &from,
                      const Collective::Array &to) {
  std::vector<BoxCopy::Loop> loops;
  int64_t bytes = elementBytes(from.dtype()), sourceStride = bytes,
          targetStride = bytes;
  BoxCopy copy;
  for (int64_t count : box.count)
    loops.push_back({count, 0, 0});
  for (size_t r = box.count.size(); r-- > 0;) {
    copy.targetOffset += box.start[r] * targetStride;
    loops[r].targetStride = box.step[r] * targetStride;
    targetStride *= to.shape[r];
  }
  for (size_t d = box.dim.size(); d-- > 0;) {
    copy.sourceOffset += box.offset[d] * sourceStride;
    if (box.dim[d] >= 0)
      loops[size_t(box.dim[d])].sourceStride = box.stride[d] * sourceStride;
    sourceStride *= from.shape[d];
  }
  // Sources are read forward, so that equal slices are equal copies to a buffer.
  for (BoxCopy::Loop &loop : loops)
    if (loop.sourceStride < 0) {
      copy.sourceOffset += loop.sourceStride * (loop.count - 1);
      copy.targetOffset += loop.targetStride * (loop.count - 1);
      loop.sourceStride = -loop.sourceStride;
      loop.targetStride = -loop.targetStride;
    }
  copy.run = bytes;
  std::erase_if(loops, [](const auto &loop) { return loop.count == 1; });
  while (!loops.empty() && loops.back().sourceStride == copy.run &&
         loops.back().targetStride == copy.run) {
    copy.run *= loops.back().count;
    loops.pop_back();
  }
  copy.loops = std::move(loops);
  return copy;
}

Status movesOf(const Mesh &mesh, const Collective &collective,
               const Movement &its, int64_t group, std::vector<Move> &out) {
  const std::vector<int64_t> &members = collective.groups[size_t(group)];
  if (!its.boxes.empty()) {
    for (const MovedPiece &piece : piecesOf(its.boxed(), mesh, members)) {
      auto array = size_t(piece.box.operand);
      out.push_back(
          {piece.source, piece.target,
           copyOf(piece.box, collective.sources[array], collective.targets[0]),
           uint32_t(array)});
    }
    return {};
  }
  SubAxes fromAxes;
  for (const SubAxes &axes : its.from.dims)
    fromAxes.insert(fromAxes.end(), axes.begin(), axes.end());
  std::map<int64_t, Shard> shards;
  std::vector<Box> wanted;
  for (size_t m = 0; m < members.size(); ++m) {
    wanted.push_back(own(mesh, its.to, its.shape, members[m]));
    if (holds(mesh, its.from, members[m]))
      shards[coordinate(mesh.axes, members[m], fromAxes)].holders.push_back(
          int64_t(m));
  }
  std::vector<bool> receives;
  for (int64_t member : members)
    receives.push_back(holds(mesh, its.to, member));
  std::vector<int64_t> found(members.size());
  for (auto &[number, shard] : shards) {
    shard.held =
        own(mesh, its.from, its.shape, members[size_t(shard.holders[0])]);
    chooseSenders(shard, wanted, receives);
    for (size_t j = 0; j < members.size(); ++j) {
      if (!receives[j])
        continue;
      Box common = intersect(wanted[j], shard.held);
      int64_t elements = volume(common);
      if (elements == 0)
        continue;
      found[j] += elements;
      std::vector<int64_t> extent(common.size());
      for (size_t d = 0; d < common.size(); ++d)
        extent[d] = common[d].size();
      addMove(out, collective, shard.senders[j], int64_t(j),
              startWithin(common, shard.held), startWithin(common, wanted[j]),
              extent);
    }
  }
  for (size_t j = 0; j < members.size(); ++j)
    if (receives[j] && found[j] != volume(wanted[j]))
      return makeError(StatusCode::InvalidFile, "bad plan: ", collective.name,
                       " of ", collective.label, ": device ", members[j],
                       " wants ", volume(wanted[j]),
                       " elements, its group holds ", found[j]);
  return {};
}

} // namespace weft::runtime
