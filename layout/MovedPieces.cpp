//===- MovedPieces.cpp - boxes cut by the shards of devices ---------------===//

#include "weft/layout/MovedBoxes.h"

#include "weft/layout/Shards.h"
#include "weft/layout/Sizes.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
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

/// The positions that a box reads in one dimension of the operand.
static Interval readIn(const MovedBox &box, size_t d) {
  int64_t r = box.dim[d];
  int64_t reach = r < 0 ? 0 : box.stride[d] * (box.count[size_t(r)] - 1);
  int64_t first = std::min(box.offset[d], box.offset[d] + reach);
  return {first, first + std::abs(reach) + 1};
}

/// The distance of the positions that a box reads in one dimension; 0 for one
/// position.
static int64_t distanceIn(const MovedBox &box, size_t d) {
  return readIn(box, d).size() == 1 ? 0 : std::abs(box.stride[d]);
}

/// Whether two boxes read no position in common in one dimension; false if that
/// is not known.
static bool areApartIn(const MovedBox &a, const MovedBox &b, size_t d) {
  if (intersect(readIn(a, d), readIn(b, d)).size() == 0)
    return true;
  int64_t ofA = distanceIn(a, d), ofB = distanceIn(b, d);
  int64_t distance = std::max(ofA, ofB);
  return distance > 1 && std::min(ofA, ofB) != 1 &&
         (ofA == ofB || std::min(ofA, ofB) == 0) &&
         (a.offset[d] - b.offset[d]) % distance != 0;
}

/// Divides a box that reads neighbours in a dimension into boxes that read every
/// `distance`-th position.
static void divide(MovedBox &box, size_t d, int64_t distance,
                   std::vector<MovedBox> &rest) {
  auto r = size_t(box.dim[d]);
  MovedBox whole = box;
  for (int64_t k = 0; k < std::min(distance, whole.count[r]); ++k) {
    MovedBox part = whole;
    part.start[r] += whole.step[r] * k;
    part.step[r] *= distance;
    part.count[r] = shardSize(whole.count[r] - k, distance);
    part.offset[d] += whole.stride[d] * k;
    part.stride[d] *= distance;
    if (k == 0)
      box = part;
    else
      rest.push_back(part);
  }
}

/// Cuts the box where the interval begins or ends in a dimension that it reads:
/// the part outside of it goes to `rest`.
static bool cutOff(MovedBox &box, size_t d, const Interval &interval,
                   std::vector<MovedBox> &rest) {
  Interval read = readIn(box, d);
  for (int64_t at : {interval.begin, interval.end})
    if (read.begin < at && at < read.end) {
      auto r = size_t(box.dim[d]);
      Interval parts[] = {{read.begin, at}, {at, read.end}};
      MovedBox other = box;
      bool keepsFirst = at == interval.end;
      cut(box, r,
          *partInside(box.offset[d], box.stride[d], box.count[r],
                      parts[keepsFirst ? 0 : 1]));
      cut(other, r,
          *partInside(other.offset[d], other.stride[d], other.count[r],
                      parts[keepsFirst ? 1 : 0]));
      rest.push_back(std::move(other));
      return true;
    }
  return false;
}

/// Cuts two boxes in one dimension where the other one begins and ends, and one
/// that reads neighbours where the other one has a stride.
static void separateIn(MovedBox &a, MovedBox &b, size_t d,
                       std::vector<MovedBox> &rest) {
  constexpr int64_t kMostParts = 8;
  while (cutOff(a, d, readIn(b, d), rest) || cutOff(b, d, readIn(a, d), rest))
    ;
  int64_t ofA = distanceIn(a, d), ofB = distanceIn(b, d);
  if (ofA == 1 && ofB > 1 && ofB <= kMostParts)
    divide(a, d, ofB, rest);
  else if (ofB == 1 && ofA > 1 && ofA <= kMostParts)
    divide(b, d, ofA, rest);
}

/// Cuts boxes of one array so that two read the same elements or none in common.
/// (Boxes with two strides stay.)
static void separate(std::vector<MovedBox> &boxes) {
  constexpr size_t kMost = 256;
  for (size_t i = 0; i < boxes.size() && boxes.size() < kMost; ++i)
    for (size_t j = 0; j < i; ++j) {
      size_t rank = boxes[i].dim.size();
      auto areApart = [&] {
        for (size_t d = 0; d < rank; ++d)
          if (areApartIn(boxes[i], boxes[j], d))
            return true;
        return false;
      };
      std::vector<MovedBox> rest;
      for (size_t d = 0; d < rank && !areApart(); ++d)
        separateIn(boxes[i], boxes[j], d, rest);
      boxes.insert(boxes.end(), rest.begin(), rest.end());
    }
}

namespace {
/// The pieces of a group, by the shard that they are read from.
class PieceFinder {
public:
  PieceFinder(const BoxedMove &move [[clang::lifetimebound]],
              const Mesh &mesh [[clang::lifetimebound]],
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
  void serve(ShardPieces &shard);

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

void PieceFinder::serve(ShardPieces &shard) {
  std::vector<std::pair<int64_t, int64_t>> requests; // elements, member
  std::map<int64_t, int64_t> senders;
  for (auto &[target, boxes] : shard.byTarget) {
    if (std::ranges::count(shard.holders, target)) {
      senders[target] = target;
      continue;
    }
    separate(boxes);
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
  for (auto &[number, shard] : shards)
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
  // A member receives an element once that it reads in several boxes.
  std::set<std::vector<int64_t>> known;
  for (const MovedPiece &piece : piecesOf(move, mesh, members)) {
    if (piece.source == piece.target)
      continue;
    std::vector<int64_t> key = {piece.source, piece.target};
    for (size_t d = 0; d < piece.box.dim.size(); ++d) {
      Interval read = readIn(piece.box, d);
      int64_t r = piece.box.dim[d];
      bool isOne = r < 0 || read.size() == 1;
      key.insert(key.end(), {read.begin, read.end,
                             isOne ? 1 : std::abs(piece.box.stride[d])});
    }
    int64_t &elements = sent[size_t(piece.source)];
    if (known.insert(std::move(key)).second)
      elements = saturatingAdd(elements, piece.box.elementsRead());
  }
  return sent.empty() ? 0 : *std::ranges::max_element(sent);
}
