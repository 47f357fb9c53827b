#include "weft/runtime/collectives/CrossProcessGroup.h"

#include <cstring>
#include <set>

namespace weft::runtime {

bool ReceiveMemory::take(size_t bytes, Block &out) {
  {
    std::lock_guard<std::mutex> guard(mutex);
    auto found = unused.lower_bound(bytes);
    if (found != unused.end() && found->first <= 2 * bytes + 65536) {
      out = std::move(found->second);
      unused.erase(found);
      return true;
    }
  }
  out.bytes = bytes;
  return out.memory.allocate(bytes, 0);
}

void ReceiveMemory::giveBack(Block &&block) {
  std::lock_guard<std::mutex> guard(mutex);
  unused.emplace(block.bytes, std::move(block));
}

void CrossProcessGroup::Side::add(MemberSlice slice) {
  constexpr int64_t large = 16 << 10;
  bool isDense = slice.box.loops.empty();
  MemberSlice *last = direct.empty() ? nullptr : &direct.back();
  if (last && isDense && last->member == slice.member &&
      last->array == slice.array &&
      last->box.sourceOffset + last->box.run == slice.box.sourceOffset)
    last->box.run += slice.box.run;
  else if (isDense && slice.box.run >= large)
    direct.push_back(std::move(slice));
  else if (slice.box.bytes() > 0)
    packed.push_back(std::move(slice));
}

void CrossProcessGroup::Side::reserve() {
  size_t total = 0;
  for (const MemberSlice &slice : packed)
    total += size_t(slice.box.bytes());
  bytes.resize(total);
}

void CrossProcessGroup::Side::pack(void *const *arrays, size_t ofMember) {
  uint8_t *at = bytes.data();
  for (const MemberSlice &slice : packed) {
    slice.box(arrays[size_t(slice.member) * ofMember + slice.array], at);
    at += slice.box.bytes();
  }
}

void CrossProcessGroup::Side::unpack(void *const *arrays, size_t ofMember) {
  const uint8_t *at = bytes.data();
  for (const MemberSlice &slice : packed) {
    slice.box.unpacking()(
        at, arrays[size_t(slice.member) * ofMember + slice.array]);
    at += slice.box.bytes();
  }
}

void CrossProcessGroup::Side::addMessages(int peer, int tag, bool isOut,
                                          void *const *arrays, size_t ofMember,
                                          std::vector<PeerMessage> &messages) {
  auto add = [&](void *data, size_t count) {
    messages.push_back({.peer = peer,
                        .tag = tag,
                        .out = isOut ? data : nullptr,
                        .in = isOut ? nullptr : data,
                        .bytes = count});
  };
  if (!bytes.empty())
    add(bytes.data(), bytes.size());
  for (const MemberSlice &slice : direct)
    add(static_cast<char *>(
            arrays[size_t(slice.member) * ofMember + slice.array]) +
            slice.box.sourceOffset,
        size_t(slice.box.run));
}

CrossProcessGroup::CrossProcessGroup(Processes &processes,
                                     ReceiveMemory &staging,
                                     const Ownership &ownership,
                                     const Collective &collective,
                                     int64_t group,
                                     const PreparedCollective &work, int tag)
    : processes(processes), staging(staging), tag(tag),
      sourceCount(collective.sources.size()),
      targetCount(collective.targets.size()) {
  const std::vector<int64_t> &members = collective.groups[size_t(group)];
  auto rankOf = [&](int64_t m) { return ownership.of(members[size_t(m)]); };
  std::set<int> ranks;
  for (size_t m = 0; m < members.size(); ++m) {
    ranks.insert(rankOf(int64_t(m)));
    if (ownership.isOwn(members[m]))
      own.push_back(int64_t(m));
  }
  std::set<size_t> received;
  for (int rank : ranks) {
    auto isHis = [&](int64_t m) { return rankOf(m) == rank; };
    for (MemberSlice &slice : work.needs(group, isHis)) {
      int holder = rankOf(slice.member);
      if (rank == ownership.rank && holder != rank) {
        received.insert(size_t(slice.member) * sourceCount + slice.array);
        in[holder].add(std::move(slice));
      } else if (rank != ownership.rank && holder == ownership.rank) {
        out[rank].add(std::move(slice));
      }
    }
    for (MemberSlice &slice : work.results(group, isHis)) {
      if (rank == ownership.rank) {
        for (int other : ranks)
          if (other != rank)
            outResults[other].add(slice);
      } else {
        slice.member = own[0];
        inResults[rank].add(std::move(slice));
      }
    }
  }
  for (size_t slot : received)
    foreign.emplace_back(slot, collective.sources[slot % sourceCount].bytes);
  for (Sides *sides : {&out, &in, &outResults, &inResults})
    for (auto &[rank, side] : *sides)
      side.reserve();
}

void CrossProcessGroup::begin(Sides &from, Sides &to, void *const *all) {
  arrays = all;
  messages.clear();
  for (auto &[rank, side] : from)
    side.addMessages(rank, tag, false, arrays, arrayCount(), messages);
  for (auto &[rank, side] : to) {
    side.pack(arrays, arrayCount());
    side.addMessages(rank, tag, true, arrays, arrayCount(), messages);
  }
  isStarted = processes.begin(messages, transfer);
}

Status CrossProcessGroup::start(void **sources) {
  for (const auto &[slot, bytes] : foreign) {
    ReceiveMemory::Block block;
    if (!staging.take(bytes, block))
      return makeError(StatusCode::OutOfMemory, "no memory for ", bytes,
                       " bytes of another process; take a smaller batch, or "
                       "more processes");
    sources[slot] = block.memory.data();
    blocks.push_back(std::move(block));
  }
  areResults = false;
  begin(in, out, sources);
  return {};
}

void CrossProcessGroup::sendResults(void *const *targets) {
  areResults = true;
  begin(inResults, outResults, targets);
}

bool CrossProcessGroup::poll() {
  // After a failure messages remain, or were not started.
  if (!isStarted || !processes.poll(transfer) || !transfer.empty())
    return false;
  for (auto &[rank, side] : areResults ? inResults : in)
    side.unpack(arrays, arrayCount());
  if (areResults)
    copyResults();
  return true;
}

/// Copies results from the first own target to the others.
void CrossProcessGroup::copyResults() {
  for (auto &[rank, side] : inResults)
    for (const auto *slices : {&side.packed, &side.direct})
      for (const MemberSlice &slice : *slices)
        for (size_t m = 1; m < own.size(); ++m) {
          auto of = [&](int64_t member) {
            return static_cast<char *>(
                arrays[size_t(member) * targetCount + slice.array]);
          };
          if (char *target = of(own[m])) // else it shares another's memory
            std::memcpy(target + slice.box.sourceOffset,
                        of(own[0]) + slice.box.sourceOffset,
                        size_t(slice.box.run));
        }
}

void CrossProcessGroup::finish() {
  for (ReceiveMemory::Block &block : blocks)
    staging.giveBack(std::move(block));
  blocks.clear();
}

} // namespace weft::runtime
