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
                               extent, elementBytes(from.dtype))});
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

std::vector<Move> movesOf(const Collective &collective, const AllGather &its) {
  std::vector<Move> out;
  int64_t p = shardCount(collective.axes), dim = its.dim;
  const std::vector<int64_t> &from = collective.sources[0].shape,
                             &to = collective.targets[0].shape;
  std::vector<int64_t> zero(from.size()), start = zero, extent = from;
  for (int64_t k = 0; k < p; ++k) {
    start[dim] = k * from[dim];
    extent[dim] = std::min(from[dim], to[dim] - start[dim]);
    for (int64_t j = 0; j < p; ++j)
      addMove(out, collective, k, j, zero, start, extent);
  }
  return out;
}

std::vector<Move> movesOf(const Collective &collective, const AllToAll &its) {
  std::vector<Move> out;
  int64_t p = shardCount(collective.axes);
  const std::vector<int64_t> &from = collective.sources[0].shape,
                             &to = collective.targets[0].shape;
  std::vector<int64_t> sourceStart(from.size()), targetStart = sourceStart,
                                                 extent = from;
  for (int64_t i = 0; i < p; ++i)
    for (int64_t j = 0; j < p; ++j) {
      sourceStart[its.split] = j * to[its.split];
      targetStart[its.concat] = i * from[its.concat];
      extent[its.split] =
          std::min(to[its.split], from[its.split] - sourceStart[its.split]);
      extent[its.concat] =
          std::min(from[its.concat], to[its.concat] - targetStart[its.concat]);
      addMove(out, collective, i, j, sourceStart, targetStart, extent);
    }
  return out;
}

std::vector<Move> movesOf(const Collective &collective, const Fetch &its) {
  std::vector<Move> out;
  int64_t p = shardCount(collective.axes), dim = its.dim;
  const std::vector<int64_t> &from = collective.sources[0].shape,
                             &to = collective.targets[0].shape;
  std::vector<int64_t> sourceStart(from.size()), targetStart = sourceStart,
                                                 extent = from;
  for (int64_t k = 0; k < p; ++k)
    for (int64_t t = 0, next; t < to[dim]; t = next) {
      int64_t q = positionOf(its.positions, k, t);
      next = t + 1;
      if (q < 0)
        continue;
      int64_t member = q / from[dim];
      sourceStart[dim] = q % from[dim];
      while (next < to[dim] &&
             positionOf(its.positions, k, next) == q + next - t &&
             (q + next - t) / from[dim] == member)
        ++next;
      targetStart[dim] = t;
      extent[dim] = next - t;
      addMove(out, collective, member, k, sourceStart, targetStart, extent);
    }
  return out;
}

std::vector<Move> movesOf(const Collective &collective,
                          const CollectivePermute &its) {
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

/// Chooses the sender of a shard to each member. Holders of the shard use their
/// own copy, and serve the other members in turn, those that need the most
/// elements first.
static std::map<int64_t, int64_t>
sourcesOf(const Mesh &mesh, const Resharding &its,
          const std::vector<int64_t> &members,
          const std::vector<int64_t> &having) {
  Box held = own(mesh, its.from, its.shape, members[having[0]]);
  std::map<int64_t, int64_t> sources; // member -> holder
  for (int64_t member : having)
    sources[member] = member;
  std::vector<std::pair<int64_t, int64_t>> requests; // elements, member
  for (int64_t j = 0; j < int64_t(members.size()); ++j)
    if (!sources.count(j))
      requests.push_back(
          {volume(intersect(own(mesh, its.to, its.shape, members[j]), held)),
           j});
  std::sort(requests.begin(), requests.end(), [](const auto &a, const auto &b) {
    return std::tie(b.first, a.second) < std::tie(a.first, b.second);
  });
  for (size_t turn = 0; turn < requests.size(); ++turn)
    sources[requests[turn].second] = having[turn % having.size()];
  return sources;
}

Status reshardMoves(const Mesh &mesh, const Collective &collective,
                    const Resharding &its, int64_t group,
                    std::vector<Move> &out) {
  const std::vector<int64_t> &members = collective.groups[group];
  SubAxes fromAxes;
  for (const SubAxes &axes : its.from.dims)
    fromAxes.insert(fromAxes.end(), axes.begin(), axes.end());
  std::map<int64_t, std::vector<int64_t>> holders; // shard -> members
  for (size_t m = 0; m < members.size(); ++m)
    holders[coordinate(mesh.axes, members[m], fromAxes)].push_back(int64_t(m));
  std::map<int64_t, std::map<int64_t, int64_t>> sources; // shard -> senders
  for (const auto &[shard, having] : holders)
    sources[shard] = sourcesOf(mesh, its, members, having);
  for (size_t j = 0; j < members.size(); ++j) {
    Box wanted = own(mesh, its.to, its.shape, members[j]);
    int64_t found = 0;
    for (const auto &[shard, having] : holders) {
      Box held = own(mesh, its.from, its.shape, members[having[0]]);
      Box common = intersect(wanted, held);
      int64_t elements = volume(common);
      if (elements == 0)
        continue;
      found += elements;
      int64_t source = sources[shard][int64_t(j)];
      std::vector<int64_t> extent(common.size());
      for (size_t d = 0; d < common.size(); ++d)
        extent[d] = common[d].size();
      addMove(out, collective, source, int64_t(j), startWithin(common, held),
              startWithin(common, wanted), extent);
    }
    if (found != volume(wanted))
      return makeError(StatusCode::InvalidFile, "bad plan: ",
                       plan::EnumNameCollectiveKind(collective.kind()), " of ",
                       collective.label, ": device ", members[j], " wants ",
                       volume(wanted), " elements, its group holds ", found);
  }
  return {};
}

} // namespace weft::runtime
