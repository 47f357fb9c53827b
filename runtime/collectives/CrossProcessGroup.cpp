#include "weft/runtime/collectives/CrossProcessGroup.h"

#include "weft/layout/Relays.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <tuple>

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
  std::set<int> ranks;
  for (size_t m = 0; m < members.size(); ++m) {
    ranks.insert(ownership.of(members[m]));
    if (ownership.isOwn(members[m]))
      own.push_back(int64_t(m));
  }
  std::vector<int> all(ranks.begin(), ranks.end());
  addSlices(all, ownership, collective, group, work);
  addResults(all, ownership, members, group, work);
  for (Hop &each : hops)
    for (Sides *sides : {&each.out, &each.in})
      for (auto &[rank, side] : *sides)
        side.reserve();
  for (Sides *sides : {&outResults, &inResults})
    for (auto &[rank, side] : *sides)
      side.reserve();
}

/// Numbers by which equal slices are found.
static std::vector<int64_t> numbersOf(const MemberSlice &slice) {
  std::vector<int64_t> out = {slice.member, slice.array, slice.box.sourceOffset,
                              slice.box.run};
  for (const BoxCopy::Loop &loop : slice.box.loops)
    out.insert(out.end(), {loop.count, loop.sourceStride});
  return out;
}

/// Whether processes pass on what they have received.
static bool passesOn(const Communication &communication) {
  const auto *its = std::get_if<Movement>(&communication);
  return its && !its->boxes.empty();
}

void CrossProcessGroup::addSlices(const std::vector<int> &ranks,
                                  const Ownership &ownership,
                                  const Collective &collective, int64_t group,
                                  const PreparedCollective &work) {
  const std::vector<int64_t> &members = collective.groups[size_t(group)];
  // Members of the plan are numbers of ranks.
  auto numberOf = [&](int64_t member) {
    int rank = ownership.of(members[size_t(member)]);
    return std::ranges::lower_bound(ranks, rank) - ranks.begin();
  };
  std::vector<MemberSlice> slices;
  std::vector<SharedPart> parts;
  std::map<std::vector<int64_t>, size_t> known;
  for (int64_t reader = 0; reader < int64_t(ranks.size()); ++reader)
    for (MemberSlice &slice : work.needs(group, [&](int64_t member) {
           return numberOf(member) == reader;
         })) {
      int64_t holder = numberOf(slice.member);
      if (holder == reader)
        continue;
      std::vector<int64_t> numbers = numbersOf(slice);
      if (!passesOn(collective.code))
        numbers.push_back(reader);
      auto [found, isNew] = known.try_emplace(std::move(numbers), parts.size());
      if (isNew) {
        parts.push_back({slice.box.bytes(), {holder}, {}});
        slices.push_back(std::move(slice));
      }
      parts[found->second].receivers.push_back(reader);
    }
  HandoverPlan plan = planHandovers(parts, int64_t(ranks.size()));
  std::vector<std::map<int64_t, size_t>> hopOf(parts.size()); // by receiver
  std::vector<std::tuple<size_t, size_t, int64_t, int64_t>> ordered;
  for (auto [part, sender, receiver] : plan.handovers) {
    auto before = hopOf[part].find(sender);
    size_t at = before == hopOf[part].end() ? 0 : before->second + 1;
    hopOf[part][receiver] = at;
    ordered.emplace_back(at, part, sender, receiver);
  }
  // In the order of the slices, which adjoin.
  std::ranges::sort(ordered);
  std::set<size_t> received;
  for (auto [at, part, sender, receiver] : ordered) {
    hops.resize(std::max(hops.size(), at + 1));
    const MemberSlice &slice = slices[part];
    if (ranks[size_t(receiver)] == ownership.rank) {
      received.insert(size_t(slice.member) * sourceCount + slice.array);
      hops[at].in[ranks[size_t(sender)]].add(slice);
    } else if (ranks[size_t(sender)] == ownership.rank) {
      hops[at].out[ranks[size_t(receiver)]].add(slice);
    }
  }
  hops.resize(std::max<size_t>(hops.size(), 1));
  for (size_t slot : received)
    foreign.emplace_back(slot, collective.sources[slot % sourceCount].bytes);
}

void CrossProcessGroup::addResults(const std::vector<int> &ranks,
                                   const Ownership &ownership,
                                   const std::vector<int64_t> &members,
                                   int64_t group,
                                   const PreparedCollective &work) {
  for (int rank : ranks)
    for (MemberSlice &slice : work.results(group, [&](int64_t member) {
           return ownership.of(members[size_t(member)]) == rank;
         })) {
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
  hop = 0;
  begin(hops[0].in, hops[0].out, sources);
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
  for (auto &[rank, side] : areResults ? inResults : hops[hop].in)
    side.unpack(arrays, arrayCount());
  if (areResults) {
    copyResults();
    return true;
  }
  if (hop + 1 == hops.size())
    return true;
  ++hop;
  begin(hops[hop].in, hops[hop].out, arrays);
  return false;
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
