//===- MovedPieces.cpp - boxes cut by the shards of devices ---------------===//

#include "weft/layout/MovedBoxes.h"

#include "weft/layout/Shards.h"
#include "weft/layout/Sizes.h"

#include <algorithm>
#include <map>
#include <tuple>

using namespace weft;

/// Cuts the box's positions in one dimension of the result to a part of its
/// walk; its operand's dimensions follow.
static void cut(MovedBox &box, size_t r, const WalkPart &part) {
  box.start[r] += box.step[r] * part.first;
  box.count[r] = part.count;
  for (size_t d = 0; d < box.dim.size(); ++d)
    if (box.dim[d] == int64_t(r))
      box.offset[d] += box.stride[d] * part.first;
}

/// Cuts the box to the elements of a block of the result, with positions in the
/// block; false if there are none.
static bool cutToBlock(MovedBox &box, const Box &block) {
  for (size_t r = 0; r < block.size(); ++r) {
    std::optional<WalkPart> part =
        partInside(box.start[r], box.step[r], box.count[r], block[r]);
    if (!part)
      return false;
    cut(box, r, *part);
    box.start[r] -= block[r].begin;
  }
  return true;
}

namespace {
/// The pieces of a group, by the shard that they are read from.
class PieceFinder {
public:
  PieceFinder(const BoxedMove &move, const Mesh &mesh,
              std::span<const int64_t> members)
      : move(move), mesh(mesh), members(members) {}
  std::vector<MovedPiece> find();

private:
  struct ShardPieces {
    std::vector<int64_t> holders;
    std::map<int64_t, std::vector<MovedBox>> byTarget;
  };
  /// Cuts a box, of which dimensions from `d` on are of the whole operand, by
  /// the shards of these dimensions.
  void cutByShards(MovedBox box, size_t d, int64_t shard, int64_t target);
  void findHolders();
  void serve(const ShardPieces &shard);

  const BoxedMove &move;
  const Mesh &mesh;
  std::span<const int64_t> members;
  std::map<int64_t, ShardPieces> shards;
  std::vector<MovedPiece> pieces;
};
} // namespace

void PieceFinder::cutByShards(MovedBox box, size_t d, int64_t shard,
                              int64_t target) {
  if (d == box.dim.size()) {
    shards[shard].byTarget[target].push_back(std::move(box));
    return;
  }
  int64_t count = shardCount(move.from.dims[d]);
  int64_t size = shardSize(move.shape[d], count), r = box.dim[d];
  int64_t steps = r < 0 ? 1 : box.count[size_t(r)];
  int64_t stride = r < 0 ? 0 : box.stride[d];
  int64_t a = box.offset[d], b = a + stride * (steps - 1);
  for (int64_t k = std::min(a, b) / size; k <= std::max(a, b) / size; ++k) {
    std::optional<WalkPart> part =
        partInside(a, stride, steps, {k * size, (k + 1) * size});
    if (!part)
      continue;
    MovedBox piece = box;
    if (r >= 0)
      cut(piece, size_t(r), *part);
    piece.offset[d] -= k * size;
    cutByShards(std::move(piece), d + 1, shard * count + k, target);
  }
}

void PieceFinder::findHolders() {
  for (size_t m = 0; m < members.size(); ++m) {
    if (!holds(mesh, move.from, members[m]))
      continue;
    int64_t shard = 0;
    for (const SubAxes &axes : move.from.dims)
      shard =
          shard * shardCount(axes) + coordinate(mesh.axes, members[m], axes);
    if (auto known = shards.find(shard); known != shards.end())
      known->second.holders.push_back(int64_t(m));
  }
}

void PieceFinder::serve(const ShardPieces &shard) {
  std::vector<std::pair<int64_t, int64_t>> requests; // elements, member
  std::map<int64_t, int64_t> senders;
  for (const auto &[target, boxes] : shard.byTarget) {
    if (std::ranges::count(shard.holders, target)) {
      senders[target] = target;
      continue;
    }
    int64_t elements = 0;
    for (const MovedBox &box : boxes)
      elements += box.elementsRead();
    requests.push_back({elements, target});
  }
  std::ranges::sort(requests, [](const auto &a, const auto &b) {
    return std::tie(b.first, a.second) < std::tie(a.first, b.second);
  });
  for (size_t turn = 0; turn < requests.size() && !shard.holders.empty();
       ++turn)
    senders[requests[turn].second] = shard.holders[turn % shard.holders.size()];
  for (const auto &[target, boxes] : shard.byTarget)
    if (auto sender = senders.find(target); sender != senders.end())
      for (const MovedBox &box : boxes)
        pieces.push_back({sender->second, target, box});
}

std::vector<MovedPiece> PieceFinder::find() {
  for (size_t m = 0; m < members.size(); ++m) {
    if (!holds(mesh, move.to, members[m]))
      continue;
    Box block = own(mesh, move.to, move.toShape, members[m]);
    for (MovedBox box : move.boxes)
      if (cutToBlock(box, block)) {
        box.operand = 0;
        cutByShards(std::move(box), 0, 0, int64_t(m));
      }
  }
  findHolders();
  for (const auto &[number, shard] : shards)
    serve(shard);
  return std::move(pieces);
}

std::vector<MovedPiece> weft::piecesOf(const BoxedMove &move, const Mesh &mesh,
                                       std::span<const int64_t> members) {
  return PieceFinder(move, mesh, members).find();
}

int64_t weft::mostSent(const BoxedMove &move, const Mesh &mesh,
                       std::span<const int64_t> members) {
  std::vector<int64_t> sent(members.size());
  for (const MovedPiece &piece : piecesOf(move, mesh, members))
    if (piece.source != piece.target)
      sent[size_t(piece.source)] =
          saturatingAdd(sent[size_t(piece.source)], piece.box.elementsRead());
  return sent.empty() ? 0 : *std::ranges::max_element(sent);
}
