//===- MovedPieces.cpp - boxes cut by the shards of devices ---------------===//

#include "weft/layout/MovedBoxes.h"

#include "weft/layout/Relays.h"
#include "weft/layout/Shards.h"
#include "weft/layout/Sizes.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
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

namespace {
/// A box, and who reads it.
struct ReadBox : MovedBox {
  int64_t reader = 0;
};
} // namespace

/// The positions that a box reads: begin, end and distance by dimension. Boxes of
/// one array that read the same elements have equal numbers.
static std::vector<int64_t> areaRead(const MovedBox &box) {
  std::vector<int64_t> area;
  for (size_t d = 0; d < box.dim.size(); ++d) {
    Interval read = readIn(box, d);
    area.insert(area.end(), {read.begin, read.end, distanceIn(box, d)});
  }
  return area;
}

/// Divides a box that reads neighbours in a dimension into boxes that read every
/// `distance`-th position.
static void divide(ReadBox &box, size_t d, int64_t distance,
                   std::vector<ReadBox> &rest) {
  auto r = size_t(box.dim[d]);
  ReadBox whole = box;
  for (int64_t k = 0; k < std::min(distance, whole.count[r]); ++k) {
    ReadBox part = whole;
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
static bool cutOff(ReadBox &box, size_t d, const Interval &interval,
                   std::vector<ReadBox> &rest) {
  Interval read = readIn(box, d);
  for (int64_t at : {interval.begin, interval.end})
    if (read.begin < at && at < read.end) {
      auto r = size_t(box.dim[d]);
      Interval parts[] = {{read.begin, at}, {at, read.end}};
      ReadBox other = box;
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
static void separateIn(ReadBox &a, ReadBox &b, size_t d,
                       std::vector<ReadBox> &rest) {
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
static void separate(std::vector<ReadBox> &boxes) {
  constexpr size_t kMost = 256;
  for (size_t i = 0; i < boxes.size() && boxes.size() < kMost; ++i)
    for (size_t j = 0; j < i; ++j) {
      if (areaRead(boxes[i]) == areaRead(boxes[j]))
        continue;
      size_t rank = boxes[i].dim.size();
      auto areApart = [&] {
        for (size_t d = 0; d < rank; ++d)
          if (areApartIn(boxes[i], boxes[j], d))
            return true;
        return false;
      };
      std::vector<ReadBox> rest;
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
  void find();

  std::vector<MovedPiece> pieces;
  int64_t mostSent = 0;

private:
  /// A shard of an operand. Readers are blocks of the result.
  struct ShardPieces {
    std::vector<int64_t> holders;
    std::vector<ReadBox> boxes;
  };
  using Shard = std::pair<int64_t, int64_t>; ///< operand, number
  /// Cuts a box, of which dimensions from `d` on are of the whole operand, by
  /// the shards of these dimensions.
  void cutByShards(ReadBox box, size_t d, int64_t shard);
  void findBlocks();
  void findHolders();
  /// Gives holders of a shard their own elements, and makes a part of what
  /// others lack.
  void addParts(const ShardPieces &shard);
  /// Divides the parts that a member sends; false if there are too many.
  bool divideParts(const HandoverPlan &plan);
  void addPieces();

  const BoxedMove &move;
  const Mesh &mesh;
  std::span<const int64_t> members;
  std::vector<std::vector<int64_t>> blocks; ///< members with equal blocks
  std::map<Shard, ShardPieces> shards;
  std::vector<SharedPart> parts;
  std::vector<std::vector<ReadBox>> boxesOfPart;
};
} // namespace

void PieceFinder::cutByShards(ReadBox box, size_t d, int64_t shard) {
  int64_t operand = box.operand;
  if (d == box.dim.size()) {
    shards[{operand, shard}].boxes.push_back(std::move(box));
    return;
  }
  int64_t count = shardCount(move.layoutOf(operand).dims[d]);
  int64_t size = shardSize(move.shapeOf(operand)[d], count), r = box.dim[d];
  int64_t steps = r < 0 ? 1 : box.count[size_t(r)];
  int64_t stride = r < 0 ? 0 : box.stride[d];
  int64_t a = box.offset[d], b = a + stride * (steps - 1);
  for (int64_t k = std::min(a, b) / size; k <= std::max(a, b) / size; ++k) {
    std::optional<WalkPart> part =
        partInside(a, stride, steps, {k * size, (k + 1) * size});
    if (!part)
      continue;
    ReadBox piece = box;
    if (r >= 0)
      cut(piece, size_t(r), *part);
    piece.offset[d] -= k * size;
    cutByShards(std::move(piece), d + 1, shard * count + k);
  }
}

void PieceFinder::findBlocks() {
  std::map<std::vector<int64_t>, size_t> known; // by begins of the block
  for (size_t m = 0; m < members.size(); ++m) {
    if (!holds(mesh, move.to, members[m]))
      continue;
    Box block = own(mesh, move.to, move.toShape, members[m]);
    std::vector<int64_t> begins;
    for (const Interval &dim : block)
      begins.push_back(dim.begin);
    auto [found, isNew] = known.try_emplace(std::move(begins), blocks.size());
    if (isNew)
      blocks.emplace_back();
    blocks[found->second].push_back(int64_t(m));
    for (const MovedBox &box : move.boxes) {
      ReadBox part{box, int64_t(found->second)};
      if (isNew && cutToBlock(part, block))
        cutByShards(std::move(part), 0, 0);
    }
  }
}

void PieceFinder::findHolders() {
  std::map<Shard, ShardPieces>::iterator known;
  for (int64_t operand = 0; operand <= int64_t(move.others.size()); ++operand)
    for (size_t m = 0; m < members.size(); ++m) {
      const Layout &layout = move.layoutOf(operand);
      if (!holds(mesh, layout, members[m]))
        continue;
      int64_t shard = 0;
      for (const SubAxes &axes : layout.dims)
        shard =
            shard * shardCount(axes) + coordinate(mesh.axes, members[m], axes);
      if (known = shards.find({operand, shard}); known != shards.end())
        known->second.holders.push_back(int64_t(m));
    }
}

void PieceFinder::addParts(const ShardPieces &shard) {
  auto isHolder = [&](int64_t member) {
    return std::ranges::binary_search(shard.holders, member);
  };
  std::vector<ReadBox> lacked;
  for (const ReadBox &box : shard.boxes) {
    const std::vector<int64_t> &readers = blocks[size_t(box.reader)];
    for (int64_t member : readers)
      if (isHolder(member))
        pieces.push_back({member, member, member, box});
    if (!std::ranges::all_of(readers, isHolder))
      lacked.push_back(box);
  }
  separate(lacked);
  std::map<std::vector<int64_t>, std::vector<ReadBox>> byArea;
  for (ReadBox &box : lacked)
    byArea[areaRead(box)].push_back(std::move(box));
  for (auto &[area, boxes] : byArea) {
    SharedPart part{boxes[0].elementsRead(), shard.holders, {}};
    for (const ReadBox &box : boxes)
      std::ranges::copy_if(blocks[size_t(box.reader)],
                           std::back_inserter(part.receivers),
                           std::not_fn(isHolder));
    std::ranges::sort(part.receivers);
    auto twice = std::ranges::unique(part.receivers);
    part.receivers.erase(twice.begin(), twice.end());
    parts.push_back(std::move(part));
    boxesOfPart.push_back(std::move(boxes));
  }
}

bool PieceFinder::divideParts(const HandoverPlan &plan) {
  constexpr size_t kMostParts = 256;
  std::set<size_t> sent;
  for (const Handover &handover : plan.handovers)
    if (handover.sender == plan.busiest)
      sent.insert(handover.part);
  if (parts.size() + sent.size() > kMostParts)
    return false;
  size_t before = parts.size();
  for (size_t number : sent) {
    std::vector<ReadBox> rest;
    size_t dim = 0;
    const ReadBox &one = boxesOfPart[number][0];
    for (size_t d = 0; d < one.dim.size(); ++d)
      if (readIn(one, d).size() > readIn(one, dim).size())
        dim = d;
    if (one.dim.empty() || readIn(one, dim).size() < 2)
      continue;
    Interval read = readIn(one, dim);
    int64_t middle = read.begin + (read.size() + 1) / 2;
    for (ReadBox &box : boxesOfPart[number])
      cutOff(box, dim, {middle, middle}, rest);
    SharedPart other = parts[number];
    parts[number].elements = boxesOfPart[number][0].elementsRead();
    other.elements = rest[0].elementsRead();
    parts.push_back(std::move(other));
    boxesOfPart.push_back(std::move(rest));
  }
  return parts.size() > before;
}

void PieceFinder::addPieces() {
  auto planAll = [&] { return planHandovers(parts, int64_t(members.size())); };
  HandoverPlan plan = planAll();
  // Parts that are too large for any distribution are divided.
  for (int turn = 0; turn < 4 && plan.mostSent > plan.least; ++turn) {
    auto before = std::pair(parts, boxesOfPart);
    if (!divideParts(plan))
      break;
    HandoverPlan next = planAll();
    if (next.mostSent > plan.mostSent) {
      std::tie(parts, boxesOfPart) = std::move(before);
      break;
    }
    plan = std::move(next);
  }
  mostSent = plan.mostSent;
  std::vector<std::map<int64_t, MovedPiece>> byReceiver(parts.size());
  for (const Handover &handover : plan.handovers) {
    auto &known = byReceiver[handover.part];
    auto before = known.find(handover.sender);
    int64_t source =
        before == known.end() ? handover.sender : before->second.source;
    known[handover.receiver] = {source, handover.sender, handover.receiver, {}};
  }
  for (size_t part = 0; part < parts.size(); ++part)
    for (const ReadBox &box : boxesOfPart[part])
      for (int64_t member : blocks[size_t(box.reader)])
        if (auto found = byReceiver[part].find(member);
            found != byReceiver[part].end()) {
          pieces.push_back(found->second);
          pieces.back().box = box;
        }
}

void PieceFinder::find() {
  findBlocks();
  findHolders();
  for (const auto &[number, shard] : shards)
    addParts(shard);
  addPieces();
}

std::vector<MovedPiece> weft::piecesOf(const BoxedMove &move, const Mesh &mesh,
                                       std::span<const int64_t> members) {
  PieceFinder finder(move, mesh, members);
  finder.find();
  return std::move(finder.pieces);
}

int64_t weft::mostSent(const BoxedMove &move, const Mesh &mesh,
                       std::span<const int64_t> members) {
  PieceFinder finder(move, mesh, members);
  finder.find();
  return finder.mostSent;
}
