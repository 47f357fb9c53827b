// Slices of arrays that GPUs send each other, and the kernels that pack them
// and use them.

#include "weft/runtime/devices/cuda/ExchangeBuilder.h"

#include <algorithm>
#include <map>

namespace weft::runtime {

/// Messages and packed slices begin at multiples of this, in bytes.
static constexpr uint64_t kSliceAlignment = 16;
static uint64_t aligned(uint64_t bytes) {
  return (bytes + kSliceAlignment - 1) / kSliceAlignment * kSliceAlignment;
}

/// Joins slices that adjoin in one array.
static std::vector<MemberSlice> joinedSlices(std::vector<MemberSlice> slices) {
  std::ranges::sort(slices, {}, [](const MemberSlice &one) {
    return std::tuple(one.member, one.array, one.box.sourceOffset);
  });
  std::vector<MemberSlice> out;
  for (MemberSlice &slice : slices) {
    MemberSlice *last = out.empty() ? nullptr : &out.back();
    if (last && last->member == slice.member && last->array == slice.array &&
        last->box.loops.empty() && slice.box.loops.empty() &&
        last->box.sourceOffset + last->box.run == slice.box.sourceOffset)
      last->box.run += slice.box.run;
    else if (slice.box.bytes() > 0)
      out.push_back(std::move(slice));
  }
  return out;
}

int64_t ExchangeBuilder::reserve(Side &side, uint64_t bytes) {
  auto at = int64_t(side.staging);
  side.staging += aligned(bytes);
  return at;
}

size_t ExchangeBuilder::sideOf(int64_t member) const {
  for (size_t s = 0; s < sides.size(); ++s)
    if (std::ranges::find(sides[s].members, member) != sides[s].members.end())
      return s;
  return sides.size(); // each member has a GPU
}

void ExchangeBuilder::addMessage(size_t from, size_t to, Slot here, Slot there,
                                 uint64_t bytes) {
  messages.push_back(
      {Message::Send, {}, here, {}, bytes, nccl::Type::U8, int(to), from});
  messages.push_back(
      {Message::Recv, {}, {}, there, bytes, nccl::Type::U8, int(from), to});
}

Status ExchangeBuilder::addMoves(Side &side, const std::vector<Move> &moves,
                                 const std::vector<Slot> &from,
                                 const std::vector<Slot> &to,
                                 std::vector<CollectiveLaunches> &out) {
  if (moves.empty() || !side.isOwn)
    return {};
  CollectiveLaunches launches;
  if (Status ok =
          CollectiveLaunches::make(std::span<const Move>(moves), collective, 0,
                                   *side.tables, *side.builtin, launches);
      !ok)
    return ok;
  launches.setArrays(side.tables->addPointers(from),
                     side.tables->addPointers(to));
  out.push_back(launches.slice(0, 1));
  return {};
}

/// A few dense slices are messages of their own; more are packed into one.
static constexpr size_t kFewSlices = 8;

/// Copies from dense memory to the box that a move fills.
static BoxCopy fromDense(const BoxCopy &copy) {
  BoxCopy out = copy, dense = copy.packing();
  out.sourceOffset = 0;
  // Loops that repeat a run are none of dense memory.
  auto next = dense.loops.begin();
  for (BoxCopy::Loop &loop : out.loops)
    if (loop.sourceStride != 0)
      loop.sourceStride = (next++)->targetStride;
  return out;
}

/// The slice that a move reads, for comparison.
static std::vector<int64_t> sliceOf(const Move &move) {
  std::vector<int64_t> out = {move.source, move.array, move.copy.sourceOffset,
                              move.copy.run};
  for (const BoxCopy::Loop &loop : move.copy.loops) {
    out.push_back(loop.count);
    out.push_back(loop.sourceStride);
  }
  return out;
}

void ExchangeBuilder::addMoveMessages(size_t from, size_t to,
                                      const std::vector<Move> &moves,
                                      Moves &packs, Moves &unpacks) {
  std::map<std::vector<int64_t>, int64_t> offsets; // in the message
  uint64_t bytes = 0;
  bool areDense = moves.size() <= kFewSlices;
  for (const Move &move : moves) {
    auto [found, isNew] = offsets.try_emplace(sliceOf(move), int64_t(bytes));
    if (isNew)
      bytes += aligned(uint64_t(move.copy.packing().bytes()));
    areDense &= isNew && move.copy.loops.empty();
  }
  if (areDense) {
    for (const Move &move : moves) {
      Slot here = sourceSlot(move.source, move.array),
           there = targetSlot(move.target, 0);
      here.offset = uint64_t(move.copy.sourceOffset);
      there.offset = uint64_t(move.copy.targetOffset);
      addMessage(from, to, here, there, uint64_t(move.copy.run));
    }
    return;
  }
  int64_t out = reserve(sides[from], bytes), in = reserve(sides[to], bytes);
  std::set<int64_t> packed;
  for (const Move &move : moves) {
    int64_t offset = offsets.at(sliceOf(move));
    BoxCopy pack = move.copy.packing(), unpack = fromDense(move.copy);
    pack.targetOffset += out + offset;
    unpack.sourceOffset += in + offset;
    if (packed.insert(offset).second)
      packs[from].push_back({pointerOf(move), 0, std::move(pack)});
    unpacks[to].push_back({0, move.target, std::move(unpack)});
  }
  addMessage(from, to, stagingSlot(sides[from], uint64_t(out)),
             stagingSlot(sides[to], uint64_t(in)), bytes);
}

Status ExchangeBuilder::sendMoves(std::span<const Move> all) {
  Moves packs(sides.size()), unpacks(sides.size());
  std::map<std::pair<size_t, size_t>, std::vector<Move>> between;
  for (const Move &move : all) {
    size_t from = sideOf(move.source), to = sideOf(move.target);
    if (from == to)
      unpacks[to].push_back({pointerOf(move), move.target, move.copy});
    else if (move.copy.bytes() > 0)
      between[{from, to}].push_back(move);
  }
  for (const auto &[pair, moves] : between)
    addMoveMessages(pair.first, pair.second, moves, packs, unpacks);
  for (size_t s = 0; s < sides.size(); ++s) {
    std::vector<Slot> received = {stagingSlot(sides[s], 0)}, sources = received,
                      targets;
    for (int64_t member = 0; member < int64_t(members()); ++member) {
      bool isHere = sideOf(member) == s;
      for (size_t n = 0; n < sourceCount; ++n)
        sources.push_back(isHere ? sourceSlot(member, n) : nullSlot(sides[s]));
      targets.push_back(isHere ? targetSlot(member, 0) : nullSlot(sides[s]));
    }
    if (Status ok =
            addMoves(sides[s], packs[s], sources, received, sides[s].before);
        !ok)
      return ok;
    if (Status ok =
            addMoves(sides[s], unpacks[s], sources, targets, sides[s].after);
        !ok)
      return ok;
  }
  return {};
}

Status ExchangeBuilder::exchange() {
  std::vector<std::vector<Move>> packs(sides.size()), unpacks(sides.size());
  images.resize(sides.size(),
                std::vector<int64_t>(sourceCount * members(), -1));
  // The images come first, so that they do not depend on the messages.
  std::map<std::pair<size_t, size_t>, std::vector<MemberSlice>> all;
  for (size_t to = 0; to < sides.size(); ++to)
    for (MemberSlice &slice : work.needs(
             group, [&](int64_t member) { return sideOf(member) == to; })) {
      size_t from = sideOf(slice.member);
      if (from == to)
        continue;
      int64_t &image =
          images[to][size_t(slice.member) * sourceCount + slice.array];
      if (image < 0)
        image = reserve(sides[to], collective.sources[slice.array].bytes);
      all[{from, to}].push_back(std::move(slice));
    }
  for (auto &[pair, slices] : all)
    addMessages(pair.first, pair.second, joinedSlices(std::move(slices)),
                packs[pair.first], unpacks[pair.second]);
  for (size_t s = 0; s < sides.size(); ++s)
    if (Status ok = addKernels(s, packs[s], unpacks[s]); !ok)
      return ok;
  return {};
}

void ExchangeBuilder::addMessages(size_t from, size_t to,
                                  std::vector<MemberSlice> slices,
                                  std::vector<Move> &packs,
                                  std::vector<Move> &unpacks) {
  auto imageOf = [&](const MemberSlice &slice) {
    return images[to][size_t(slice.member) * sourceCount + slice.array];
  };
  bool areDense = slices.size() <= kFewSlices &&
                  std::ranges::all_of(slices, [](const MemberSlice &slice) {
                    return slice.box.loops.empty();
                  });
  if (areDense) {
    for (const MemberSlice &slice : slices) {
      Slot here = sourceSlot(slice.member, slice.array);
      here.offset = uint64_t(slice.box.sourceOffset);
      addMessage(from, to, here,
                 stagingSlot(sides[to],
                             uint64_t(imageOf(slice) + slice.box.sourceOffset)),
                 uint64_t(slice.box.run));
    }
    return;
  }
  uint64_t bytes = 0;
  for (const MemberSlice &slice : slices)
    bytes += aligned(uint64_t(slice.box.bytes()));
  int64_t out = reserve(sides[from], bytes), in = reserve(sides[to], bytes);
  int64_t at = 0;
  for (const MemberSlice &slice : slices) {
    // All pointers of packs and unpacks begin with the staging memory; then
    // follow the sources of all members.
    int64_t array = slice.member * int64_t(sourceCount) + slice.array;
    BoxCopy pack = slice.box.packing(), unpack = slice.box.unpacking();
    pack.targetOffset += out + at;
    unpack.sourceOffset += in + at;
    unpack.targetOffset += imageOf(slice);
    packs.push_back({1 + array, 0, std::move(pack)});
    unpacks.push_back({0, 0, std::move(unpack)});
    at += int64_t(aligned(uint64_t(slice.box.bytes())));
  }
  addMessage(from, to, stagingSlot(sides[from], uint64_t(out)),
             stagingSlot(sides[to], uint64_t(in)), bytes);
}

/// The collective without pieces of a reduction that fill no target on a GPU,
/// which has not received their sources.
struct ExchangeBuilder::PartOfTable {
  PartOfTable(const ExchangeBuilder &all, size_t side)
      : table(all.work.table(all.group)) {
    auto *given = std::get_if<ReduceTable>(&table);
    if (!given)
      return;
    for (const ReducePiece &piece : given->pieces)
      if (piece.member < 0 || all.sideOf(piece.member) == side)
        pieces.push_back(piece);
    given->pieces = pieces;
  }
  PartOfTable(const PartOfTable &) = delete;
  PartOfTable &operator=(const PartOfTable &) = delete;
  CollectiveTable table;
  std::vector<ReducePiece> pieces;
};

Status ExchangeBuilder::addKernels(size_t number,
                                   const std::vector<Move> &packs,
                                   const std::vector<Move> &unpacks) {
  Side &side = sides[number];
  if (!side.isOwn)
    return {};
  std::vector<Slot> stagingOnly = {stagingSlot(side, 0)}, own = stagingOnly,
                    sources, targets;
  for (size_t m = 0; m < members(); ++m) {
    auto member = int64_t(m);
    bool isHere = sideOf(member) == number;
    for (size_t n = 0; n < sourceCount; ++n) {
      int64_t image = images[number][m * sourceCount + n];
      own.push_back(isHere ? sourceSlot(member, n) : nullSlot(side));
      sources.push_back(isHere       ? sourceSlot(member, n)
                        : image >= 0 ? stagingSlot(side, uint64_t(image))
                                     : nullSlot(side));
    }
    for (size_t n = 0; n < targetCount; ++n)
      targets.push_back(isHere ? targetSlot(member, n) : nullSlot(side));
  }
  if (Status ok = addMoves(side, packs, own, stagingOnly, side.before); !ok)
    return ok;
  if (Status ok = addMoves(side, unpacks, stagingOnly, stagingOnly, side.after);
      !ok)
    return ok;
  CollectiveLaunches launches;
  if (Status ok = CollectiveLaunches::make(
          PartOfTable(*this, number).table, collective, int64_t(members()),
          *side.tables, *side.builtin, launches);
      !ok)
    return ok;
  launches.setArrays(side.tables->addPointers(sources),
                     side.tables->addPointers(targets));
  side.after.push_back(launches.slice(0, 1));
  return {};
}

} // namespace weft::runtime
