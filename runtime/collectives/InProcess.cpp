// Collectives between devices whose memory every worker can address. There is
// one phase: once a group has arrived, any worker takes the next chunk.

#include "weft/runtime/collectives/Moves.h"
#include "weft/runtime/collectives/Picking.h"
#include "weft/runtime/collectives/Reduce.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace weft::runtime {

namespace {

constexpr uint64_t smallestChunk = 8 << 10, largestChunk = 64 << 10;

/// The size of chunks of one device's bytes: enough for several workers, few
/// enough that taking one costs nothing, small enough for the caches.
uint64_t chunkBytes(uint64_t total) {
  return std::clamp(total / 4, smallestChunk, largestChunk) / 64 * 64;
}

uint64_t sourceBytes(const Collective &collective) {
  uint64_t bytes = 0;
  for (const Collective::Array &array : collective.sources)
    bytes += array.bytes;
  return bytes;
}

class CopyCollective final : public PreparedCollective {
public:
  explicit CopyCollective(const Collective &collective)
      : arrays(collective.sources.size()) {}
  void add(std::vector<Move> moves, uint64_t total) {
    std::vector<size_t> ends;
    uint64_t filled = 0, limit = chunkBytes(total);
    for (size_t m = 0; m < moves.size(); ++m) {
      filled += uint64_t(moves[m].copy.bytes());
      if (filled >= limit || m + 1 == moves.size()) {
        ends.push_back(m + 1);
        filled = 0;
      }
    }
    groups.push_back({std::move(moves), std::move(ends)});
  }

  int64_t chunkCount(int64_t group) const override {
    return int64_t(of(group).ends.size());
  }
  void run(int64_t group, void *const *sources, void *const *targets,
           int64_t chunk) const override {
    const Group &g = of(group);
    for (size_t m = chunk ? g.ends[chunk - 1] : 0; m < g.ends[chunk]; ++m) {
      const Move &move = g.moves[m];
      if (void *target = targets[move.target])
        move.copy(sources[size_t(move.source) * arrays + move.array], target);
    }
  }
  std::vector<MemberSlice>
  needs(int64_t group,
        const std::function<bool(int64_t)> &isTarget) const override {
    std::vector<MemberSlice> out;
    std::set<std::vector<int64_t>> known; // slices that are in `out` already
    const Group &g = of(group);
    for (const Move &move : g.moves) {
      BoxCopy box = move.copy.packing();
      std::vector<int64_t> key = {move.source, move.array, box.sourceOffset,
                                  box.run};
      for (const BoxCopy::Loop &loop : box.loops)
        key.insert(key.end(), {loop.count, loop.sourceStride});
      if (isTarget(move.target) && known.insert(std::move(key)).second)
        out.push_back({move.source, move.array, std::move(box)});
    }
    return out;
  }
  CollectiveTable table(int64_t group) const override {
    return std::span<const Move>(of(group).moves);
  }

private:
  struct Group {
    std::vector<Move> moves;
    std::vector<size_t> ends; ///< ends of the chunks in `moves`
  };
  const Group &of(int64_t group) const {
    return groups[groups.size() == 1 ? 0 : group];
  }
  size_t arrays;             ///< sources of a member
  std::vector<Group> groups; ///< one entry if the moves of all groups are equal
};

/// All-reduce and reduce-scatter.
class Reducing final : public PreparedCollective {
public:
  Reducing(const Collective &collective, const Combination &its,
           const Ownership &ownership)
      : reduce(plan::ReduceKind(its.kind)), arrays(collective.sources.size()),
        members(size_t(shardCount(collective.axes))),
        limit(chunkBytes(sourceBytes(collective))) {
    for (const Collective::Array &source : collective.sources)
      functions.push_back({reduceFunction(source.dtype(), reduce),
                           elementBytes(source.dtype())});
    if (its.dim)
      addBlocks(collective, *its.dim);
    else
      addArrays(collective, ownership);
    endLast();
  }

  int64_t chunkCount(int64_t) const override { return int64_t(ends.size()); }
  void run(int64_t group, void *const *sources, void *const *targets,
           int64_t chunk) const override {
    for (size_t i = chunk ? ends[chunk - 1] : 0; i < ends[chunk]; ++i) {
      int64_t reducer = reducerOf(group, i);
      if (reducer < 0 || targets[size_t(reducer) * arrays])
        runPiece(pieces[i], sources, targets);
    }
  }
  std::vector<MemberSlice>
  results(int64_t group,
          const std::function<bool(int64_t)> &isReducer) const override;
  std::vector<MemberSlice>
  needs(int64_t group,
        const std::function<bool(int64_t)> &isTarget) const override;
  CollectiveTable table(int64_t) const override {
    return ReduceTable{reduce, pieces};
  }

private:
  struct Function {
    ReduceFunction call;
    int64_t elementBytes;
  };

  /// The first member of a group in each of its processes; empty if there is
  /// only one.
  static std::vector<int64_t> firstMembers(const std::vector<int64_t> &group,
                                           const Ownership &ownership) {
    std::vector<int64_t> out;
    std::set<int> ranks;
    for (size_t m = 0; m < group.size(); ++m)
      if (ranks.insert(ownership.of(group[m])).second)
        out.push_back(int64_t(m));
    return out.size() > 1 ? out : std::vector<int64_t>();
  }
  /// The member whose process reduces a piece for all processes; -1 if each
  /// process reduces it itself.
  int64_t reducerOf(int64_t group, size_t piece) const {
    if (reducers.empty() || reducers[size_t(group)].empty())
      return -1;
    const std::vector<int64_t> &all = reducers[size_t(group)];
    return all[piece * all.size() / pieces.size()];
  }
  /// The box of a piece in each source.
  BoxCopy boxOf(const ReducePiece &piece) const {
    int64_t size = functions[size_t(piece.array)].elementBytes;
    BoxCopy box{piece.source * size, 0, piece.run * size, {}};
    if (piece.rows > 1)
      box.loops.push_back({piece.rows, piece.sourceStride * size, 0});
    return box.packing();
  }

  void add(const ReducePiece &piece) {
    pieces.push_back(piece);
    filled += uint64_t(piece.run * piece.rows *
                       functions[size_t(piece.array)].elementBytes);
    if (filled < limit)
      return;
    ends.push_back(pieces.size());
    filled = 0;
  }

  void endLast() {
    if (!pieces.empty())
      ends.push_back(pieces.size());
  }

  /// Adds pieces of all arrays, which processes divide among them if there are
  /// enough.
  void addArrays(const Collective &collective, const Ownership &ownership) {
    for (size_t n = 0; n < arrays; ++n)
      addArray(n, collective.sources[n]);
    // The least bytes of a divided all-reduce; smaller ones are faster with one
    // message than with two.
    constexpr uint64_t large = 64 << 10;
    if (sourceBytes(collective) >= large)
      for (const std::vector<int64_t> &group : collective.groups)
        reducers.push_back(firstMembers(group, ownership));
  }

  /// Adds pieces that reduce element i of all devices into element i of all
  /// devices.
  void addArray(size_t n, const Collective::Array &source) {
    int64_t size = functions[n].elementBytes;
    int64_t count = int64_t(source.bytes) / size, step = int64_t(limit) / size;
    for (int64_t i = 0; i < count; i += step)
      add({int64_t(n), -1, i, i, std::min(step, count - i), 1, 0, 0});
  }

  /// Adds pieces that reduce block k along `dim` into member k.
  void addBlocks(const Collective &collective, int64_t dim) {
    const std::vector<int64_t> &source = collective.sources[0].shape,
                               &target = collective.targets[0].shape;
    int64_t outer = 1, inner = 1;
    for (int64_t d = 0; d < int64_t(source.size()); ++d)
      (d < dim ? outer : inner) *= d == dim ? 1 : source[d];
    int64_t sourceStride = source[dim] * inner,
            targetStride = target[dim] * inner;
    for (int64_t k = 0; k < int64_t(members) && outer && inner; ++k) {
      int64_t first = std::min(k * target[dim], source[dim]);
      int64_t last = std::min(first + target[dim], source[dim]);
      int64_t run = (last - first) * inner;
      int64_t step =
          std::max<int64_t>(1, int64_t(limit) / functions[0].elementBytes);
      if (run >= step) { // a piece is a part of a long row
        for (int64_t r = 0; r < outer; ++r)
          for (int64_t i = 0; i < run; i += step)
            add({0, k, r * sourceStride + first * inner + i,
                 r * targetStride + i, std::min(step, run - i), 1, 0, 0});
      } else if (run > 0) { // a piece is several short rows
        int64_t several = std::max<int64_t>(1, step / run);
        for (int64_t r = 0; r < outer; r += several)
          add({0, k, r * sourceStride + first * inner, r * targetStride, run,
               std::min(several, outer - r), sourceStride, targetStride});
      }
    }
  }

  void runPiece(const ReducePiece &piece, void *const *sources,
                void *const *targets) const {
    constexpr size_t few = 64;
    const void *fewSources[few];
    void *fewTargets[few];
    std::vector<const void *> manySources(members > few ? members : 0);
    std::vector<void *> manyTargets(members > few ? members : 0);
    const void **s = members > few ? manySources.data() : fewSources;
    void **t = members > few ? manyTargets.data() : fewTargets;
    const Function &f = functions[size_t(piece.array)];
    for (int64_t row = 0; row < piece.rows; ++row) {
      int64_t source =
          (piece.source + row * piece.sourceStride) * f.elementBytes;
      int64_t target =
          (piece.target + row * piece.targetStride) * f.elementBytes;
      auto sourceOf = [&](size_t m) {
        return static_cast<char *>(sources[m * arrays + size_t(piece.array)]) +
               source;
      };
      auto targetOf = [&](size_t m) {
        return static_cast<char *>(targets[m * arrays + size_t(piece.array)]) +
               target;
      };
      size_t count = 0;
      for (size_t m = 0; m < members; ++m)
        if ((piece.member < 0 || size_t(piece.member) == m) &&
            targets[m * arrays + size_t(piece.array)])
          t[count++] = targetOf(m);
      if (count == 0)
        return; // another process, which has the sources, reduces it
      for (size_t m = 0; m < members; ++m)
        s[m] = sourceOf(m);
      f.call(s, members, t, count, 0, piece.run);
    }
  }

  ReduceKind reduce;
  size_t arrays, members;
  uint64_t limit = 0, filled = 0;
  std::vector<Function> functions;
  std::vector<ReducePiece> pieces;
  std::vector<size_t> ends;
  std::vector<std::vector<int64_t>> reducers; ///< indexed by group, or empty
};

std::vector<MemberSlice>
Reducing::results(int64_t group,
                  const std::function<bool(int64_t)> &isReducer) const {
  std::vector<MemberSlice> out;
  for (size_t i = 0; i < pieces.size(); ++i)
    if (int64_t reducer = reducerOf(group, i);
        reducer >= 0 && isReducer(reducer))
      out.push_back({reducer, uint32_t(pieces[i].array), boxOf(pieces[i])});
  return out;
}

std::vector<MemberSlice>
Reducing::needs(int64_t group,
                const std::function<bool(int64_t)> &isTarget) const {
  std::vector<MemberSlice> out;
  bool any = false;
  for (size_t m = 0; m < members; ++m)
    any |= isTarget(int64_t(m));
  for (size_t m = 0; m < members; ++m)
    for (size_t i = 0; i < pieces.size(); ++i) {
      const ReducePiece &piece = pieces[i];
      int64_t reader = std::max(piece.member, reducerOf(group, i));
      if (reader < 0 ? any : isTarget(reader))
        out.push_back({int64_t(m), uint32_t(piece.array), boxOf(piece)});
    }
  return out;
}

/// A host call, once for a group: it reads the operands of the first member and
/// fills the results of all.
class HostCallCollective final : public PreparedCollective {
public:
  HostCallCollective(const Collective &collective, const HostCall &its,
                     const HostFunction *host)
      : host(host), function(its.function), read(collective.sources.size()),
        members(size_t(shardCount(collective.axes))) {
    for (const Collective::Array &target : collective.targets)
      bytes.push_back(target.bytes);
  }
  int64_t chunkCount(int64_t) const override { return 1; }
  void run(int64_t, void *const *sources, void *const *targets,
           int64_t) const override {
    size_t count = bytes.size();
    host->call(host->user, function, sources, read, targets, count);
    for (size_t m = 1; m < members; ++m)
      for (size_t n = 0; n < count; ++n)
        if (void *target = targets[m * count + n])
          std::memcpy(target, targets[n], bytes[n]);
  }
  std::vector<MemberSlice>
  needs(int64_t, const std::function<bool(int64_t)> &) const override {
    return {}; // host calls never cross processes: see CrossProcessProvider.cpp
  }

private:
  const HostFunction *host; ///< null: prepared for a description only
  int64_t function;
  size_t read, members;
  std::vector<uint64_t> bytes;
};

using Prepared = std::unique_ptr<PreparedCollective>;

/// Prepares a collective of each kind.
struct Preparation {
  const Mesh &mesh;
  const Ownership &ownership;
  const Collective &collective;
  const HostFunction *host;
  Prepared &out;

  Status operator()(const Combination &its) const {
    out = std::make_unique<Reducing>(collective, its, ownership);
    return {};
  }
  Status operator()(const Movement &its) const;
  Status operator()(const Fetching &its) const {
    if (its.positions)
      return copies(movesOf(collective, *its.positions, its.dim));
    out = preparePick(collective, its.dim);
    return {};
  }
  Status operator()(const Sending &its) const {
    return copies(movesOf(collective, its));
  }
  Status operator()(const HostCall &its) const {
    out = std::make_unique<HostCallCollective>(collective, its, host);
    return {};
  }

private:
  /// Prepares a collective with the same moves in all groups.
  Status copies(std::vector<Move> moves) const {
    auto made = std::make_unique<CopyCollective>(collective);
    made->add(std::move(moves), sourceBytes(collective));
    out = std::move(made);
    return {};
  }
};

Status Preparation::operator()(const Movement &its) const {
  auto made = std::make_unique<CopyCollective>(collective);
  // The layouts of a ring and of boxes have digits of the group only, so that
  // all groups have the same moves.
  bool isAlike = its.isRing || !its.boxes.empty();
  size_t different = isAlike ? 1 : collective.groups.size();
  for (size_t g = 0; g < different; ++g) {
    std::vector<Move> moves;
    if (Status ok = movesOf(mesh, collective, its, int64_t(g), moves); !ok)
      return ok;
    made->add(std::move(moves), sourceBytes(collective));
  }
  out = std::move(made);
  return {};
}

class InProcessProvider final : public CollectiveProvider {
public:
  explicit InProcessProvider(const HostFunction *host) : host(host) {}
  Status prepare(const Mesh &mesh, const Ownership &ownership,
                 const Collective &collective, int64_t,
                 Prepared &out) const override {
    return std::visit(Preparation{mesh, ownership, collective, host, out},
                      collective.code);
  }

private:
  const HostFunction *host;
};

} // namespace

std::unique_ptr<CollectiveProvider>
createInProcessProvider(const HostFunction *host) {
  return std::make_unique<InProcessProvider>(host);
}

} // namespace weft::runtime
