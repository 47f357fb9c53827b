//===- AsyncCopy.cpp - cp.async -------------------------------------------===//

#include "weft/test/cuda/machine/Lanes.h"
#include "weft/test/cuda/machine/MemoryAccess.h"

#include <bit>

namespace weft::ptx {

constexpr unsigned kMostBytes = 16;

static void issue(Warp &warp, const Instruction &i, Mask active) {
  for (Mask left = active; left; left &= left - 1) {
    unsigned lane = std::countr_zero(left);
    AsyncCopies &copies = warp.copies(lane);
    AsyncCopy copy{&i,
                   warp.bits(i.source(0), lane) + uint64_t(i.offset),
                   warp.bits(i.source(1), lane) + uint64_t(i.secondOffset),
                   i.elementBytes,
                   i.elementBytes,
                   copies.group};
    if (i.sources > 2)
      copy.filled = std::min<uint32_t>(copy.bytes,
                                       warp.lanes<uint32_t>(i.source(2))[lane]);
    uint8_t nothing[kMostBytes] = {};
    if ((copy.filled &&
         !reach(warp, {i, lane, Space::Global, copy.global, copy.filled})) ||
        !reach(warp,
               {i, lane, Space::Shared, copy.shared, copy.bytes, nothing}))
      return;
    warp.block().setPending(copy.shared, copy.bytes, true);
    copies.pending.push_back(copy);
  }
}

static bool complete(Warp &warp, unsigned lane, const AsyncCopy &copy) {
  uint8_t bytes[kMostBytes] = {};
  if (copy.filled) {
    const uint8_t *from = reach(warp, {*copy.instruction, lane, Space::Global,
                                       copy.global, copy.filled});
    if (!from)
      return false;
    std::memcpy(bytes, from, copy.filled);
  }
  warp.block().setPending(copy.shared, copy.bytes, false);
  uint8_t *to = reach(warp, {*copy.instruction, lane, Space::Shared,
                             copy.shared, copy.bytes, bytes});
  if (to)
    std::memcpy(to, bytes, copy.bytes);
  return to != nullptr;
}

static void commit(Warp &warp, const Instruction &i, Mask active) {
  for (Mask left = active; left; left &= left - 1)
    ++warp.copies(std::countr_zero(left)).group;
}

/// Waits for all groups but the last `offset` ones; -1 means also for copies
/// that are in no group yet.
static void wait(Warp &warp, const Instruction &i, Mask active) {
  for (Mask left = active; left; left &= left - 1) {
    unsigned lane = std::countr_zero(left);
    AsyncCopies &copies = warp.copies(lane);
    int64_t end = int64_t(copies.group) - i.offset;
    size_t kept = 0;
    for (const AsyncCopy &copy : copies.pending) {
      if (copy.group >= end)
        copies.pending[kept++] = copy;
      else if (!complete(warp, lane, copy))
        return;
    }
    copies.pending.erase(copies.pending.begin() + int64_t(kept),
                         copies.pending.end());
  }
}

static void decodeIssue(Decoder &d) {
  bool isLarge = d.takeOne({"ca", "cg"}) == 1;
  bool isShared = d.take("shared") || d.take("shared::cta");
  bool isGlobal = d.take("global");
  d.takeOne({"L2::64B", "L2::128B", "L2::256B"});
  if (!isShared || !isGlobal || d.arguments() < 3 || d.arguments() > 4)
    return d.fail(d.name() + " is not known to this machine");
  uint64_t bytes = d.argument(2).bits;
  if ((bytes != 4 && bytes != 8 && bytes != 16) || (isLarge && bytes != 16))
    return d.fail(d.name() + " of " + std::to_string(bytes) + " bytes");
  Instruction &i = d.begin(issue);
  i.elementBytes = uint8_t(bytes);
  i.offset =
      d.registers.contains(d.argument(0).name) ? d.argument(0).offset : 0;
  i.secondOffset =
      d.registers.contains(d.argument(1).name) ? d.argument(1).offset : 0;
  d.addSource(i, d.argument(0), 0);
  d.addSource(i, d.argument(1), 8);
  if (d.arguments() == 4)
    d.addSource(i, d.argument(3), 4);
}

static void decodeAsync(Decoder &d) {
  if (!d.take("async"))
    return d.fail(d.name() + " is not known to this machine");
  if (d.take("commit_group")) {
    d.begin(commit);
  } else if (d.take("wait_all")) {
    d.begin(wait).offset = -1;
  } else if (d.take("wait_group")) {
    if (d.arguments() != 1 || d.argument(0).kind != Argument::Number)
      return d.fail(d.name() + " takes a number of groups");
    d.begin(wait).offset = int64_t(d.argument(0).bits);
  } else {
    decodeIssue(d);
  }
}

void addAsyncCopyDecoders(DecodeTable &table) {
  table.others["cp"] = decodeAsync;
}

} // namespace weft::ptx
