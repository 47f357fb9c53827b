#include "weft/runtime/collectives/Moves.h"

#include <algorithm>
#include <map>

namespace weft::runtime {

static void addMove(std::vector<Move> &out, const Collective &collective,
                    size_t operand, int64_t source, int64_t target,
                    std::span<const int64_t> sourceStart,
                    std::span<const int64_t> targetStart,
                    std::span<const int64_t> extent) {
  const Collective::Operand &o = collective.operands[operand];
  for (int64_t n : extent)
    if (n <= 0)
      return;
  out.push_back({uint32_t(operand), source, target,
                 BoxCopy::make(o.sourceShape, sourceStart, o.targetShape,
                               targetStart, extent, elementBytes(o.dtype))});
}

namespace {
/// Which position of its dimension a fetch wants: see coll.fetch.
struct FetchedPositions {
  int64_t size, block, step, offset, divisor, modulus;

  explicit FetchedPositions(const Collective &c)
      : size(c.shape[0]), block(c.shape[1]), step(c.shape[2]),
        offset(c.shape[3]), divisor(c.shape[4]), modulus(c.shape[5]) {}
  /// For element t of member k; -1: none.
  int64_t at(int64_t k, int64_t t) const {
    int64_t place = block * k + step * t + offset;
    if (modulus > 0)
      place = (place % modulus + modulus) % modulus;
    if (place < 0 || place % divisor != 0 || place / divisor >= size)
      return -1;
    return place / divisor;
  }
};
} // namespace

std::vector<Move> gatherMoves(const Collective &collective) {
  std::vector<Move> out;
  int64_t p = shardCount(collective.axes), to = collective.to;
  for (size_t n = 0; n < collective.operands.size(); ++n) {
    const Collective::Operand &o = collective.operands[n];
    std::vector<int64_t> zero(o.sourceShape.size()), start = zero,
                                                     extent = o.sourceShape;
    for (int64_t k = 0; k < p; ++k) {
      start[to] = k * o.sourceShape[to];
      extent[to] = std::min(o.sourceShape[to], o.targetShape[to] - start[to]);
      for (int64_t j = 0; j < p; ++j)
        addMove(out, collective, n, k, j, zero, start, extent);
    }
  }
  return out;
}

std::vector<Move> allToAllMoves(const Collective &collective) {
  std::vector<Move> out;
  int64_t p = shardCount(collective.axes);
  int64_t from = collective.from, to = collective.to;
  for (size_t n = 0; n < collective.operands.size(); ++n) {
    const Collective::Operand &o = collective.operands[n];
    std::vector<int64_t> sourceStart(o.sourceShape.size()),
        targetStart = sourceStart, extent = o.sourceShape;
    for (int64_t i = 0; i < p; ++i)
      for (int64_t j = 0; j < p; ++j) {
        sourceStart[to] = j * o.targetShape[to];
        targetStart[from] = i * o.sourceShape[from];
        extent[to] =
            std::min(o.targetShape[to], o.sourceShape[to] - sourceStart[to]);
        extent[from] = std::min(o.sourceShape[from],
                                o.targetShape[from] - targetStart[from]);
        addMove(out, collective, n, i, j, sourceStart, targetStart, extent);
      }
  }
  return out;
}

std::vector<Move> fetchMoves(const Collective &collective) {
  std::vector<Move> out;
  int64_t p = shardCount(collective.axes), dim = collective.to;
  FetchedPositions positions(collective);
  for (size_t n = 0; n < collective.operands.size(); ++n) {
    const Collective::Operand &o = collective.operands[n];
    std::vector<int64_t> sourceStart(o.sourceShape.size()),
        targetStart = sourceStart, extent = o.sourceShape;
    for (int64_t k = 0; k < p; ++k)
      for (int64_t t = 0, next; t < o.targetShape[dim]; t = next) {
        int64_t q = positions.at(k, t);
        next = t + 1;
        if (q < 0)
          continue;
        int64_t member = q / o.sourceShape[dim];
        sourceStart[dim] = q % o.sourceShape[dim];
        while (next < o.targetShape[dim] &&
               positions.at(k, next) == q + next - t &&
               (q + next - t) / o.sourceShape[dim] == member)
          ++next;
        targetStart[dim] = t;
        extent[dim] = next - t;
        addMove(out, collective, n, member, k, sourceStart, targetStart,
                extent);
      }
  }
  return out;
}

std::vector<Move> permuteMoves(const Collective &collective) {
  std::vector<Move> out;
  for (size_t n = 0; n < collective.operands.size(); ++n) {
    const std::vector<int64_t> &extent = collective.operands[n].sourceShape;
    std::vector<int64_t> zero(extent.size());
    for (size_t k = 0; k < collective.shape.size(); ++k)
      if (int64_t source = collective.shape[k]; source >= 0)
        addMove(out, collective, n, source, int64_t(k), zero, zero, extent);
  }
  return out;
}

/// Where a part of a box starts within it.
static std::vector<int64_t> startWithin(const Box &part, const Box &whole) {
  std::vector<int64_t> start(part.size());
  for (size_t d = 0; d < part.size(); ++d)
    start[d] = part[d].begin - whole[d].begin;
  return start;
}

/// Who sends a shard to whom: its holders in turn, first to the member that
/// wants the most of it. Members that hold it take their own.
static std::map<int64_t, int64_t>
sourcesOf(const Mesh &mesh, const Collective &collective,
          const std::vector<int64_t> &members,
          const std::vector<int64_t> &having) {
  Box held =
      own(mesh, collective.fromLayout, collective.shape, members[having[0]]);
  std::map<int64_t, int64_t> sources; // member -> holder
  for (int64_t member : having)
    sources[member] = member;
  std::vector<std::pair<int64_t, int64_t>> requests; // elements, member
  for (int64_t j = 0; j < int64_t(members.size()); ++j)
    if (!sources.count(j))
      requests.push_back({volume(intersect(own(mesh, collective.toLayout,
                                               collective.shape, members[j]),
                                           held)),
                          j});
  std::stable_sort(
      requests.begin(), requests.end(),
      [](const auto &a, const auto &b) { return a.first > b.first; });
  for (size_t turn = 0; turn < requests.size(); ++turn)
    sources[requests[turn].second] = having[turn % having.size()];
  return sources;
}

Error reshardMoves(const Mesh &mesh, const Collective &collective,
                   int64_t group, std::vector<Move> &out) {
  const std::vector<int64_t> &members = collective.groups[group];
  SubAxes fromAxes;
  for (const SubAxes &axes : collective.fromLayout.dims)
    fromAxes.insert(fromAxes.end(), axes.begin(), axes.end());
  std::map<int64_t, std::vector<int64_t>> holders; // shard -> members
  for (size_t m = 0; m < members.size(); ++m)
    holders[coordinate(mesh.axes, members[m], fromAxes)].push_back(int64_t(m));
  std::map<int64_t, std::map<int64_t, int64_t>> sources; // of a shard
  for (const auto &[shard, having] : holders)
    sources[shard] = sourcesOf(mesh, collective, members, having);
  for (size_t j = 0; j < members.size(); ++j) {
    Box wanted = own(mesh, collective.toLayout, collective.shape, members[j]);
    int64_t found = 0;
    for (const auto &[shard, having] : holders) {
      Box held = own(mesh, collective.fromLayout, collective.shape,
                     members[having[0]]);
      Box part = intersect(wanted, held);
      int64_t elements = volume(part);
      if (elements == 0)
        continue;
      found += elements;
      int64_t source = sources[shard][int64_t(j)];
      std::vector<int64_t> extent(part.size());
      for (size_t d = 0; d < part.size(); ++d)
        extent[d] = part[d].size();
      for (size_t n = 0; n < collective.operands.size(); ++n)
        addMove(out, collective, n, source, int64_t(j), startWithin(part, held),
                startWithin(part, wanted), extent);
    }
    if (found != volume(wanted))
      return makeError(WEFT_INVALID_FILE, "bad plan: ",
                       plan::EnumNameCollectiveKind(collective.kind), " of ",
                       collective.label, ": device ", members[j], " wants ",
                       volume(wanted), " elements, its group holds ", found);
  }
  return nullptr;
}

} // namespace weft::runtime
