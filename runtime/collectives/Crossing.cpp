#include "weft/runtime/collectives/Crossing.h"

#include <algorithm>
#include <set>

namespace weft::runtime {

bool Staging::take(size_t bytes, Block &out) {
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

void Staging::giveBack(Block &&block) {
  std::lock_guard<std::mutex> guard(mutex);
  unused.emplace(block.bytes, std::move(block));
}

void Crossing::Side::add(SourcePart part) {
  constexpr int64_t large = 16 << 10;
  bool isDense = part.box.loops.empty();
  SourcePart *last = whole.empty() ? nullptr : &whole.back();
  if (last && isDense && last->member == part.member &&
      last->operand == part.operand &&
      last->box.sourceOffset + last->box.run == part.box.sourceOffset)
    last->box.run += part.box.run;
  else if (isDense && part.box.run >= large)
    whole.push_back(std::move(part));
  else if (part.box.bytes() > 0)
    packed.push_back(std::move(part));
}

void Crossing::Side::pack(void *const *sources, size_t operands) {
  uint8_t *at = bytes.data();
  for (const SourcePart &part : packed) {
    part.box(sources[size_t(part.member) * operands + part.operand], at);
    at += part.box.bytes();
  }
}

void Crossing::Side::unpack(void *const *sources, size_t operands) {
  const uint8_t *at = bytes.data();
  for (const SourcePart &part : packed) {
    part.box(at, sources[size_t(part.member) * operands + part.operand]);
    at += part.box.bytes();
  }
}

Crossing::Crossing(Processes &processes, Staging &staging,
                   const Ownership &ownership, const Collective &collective,
                   int64_t group, const PreparedCollective &work, int tag)
    : processes(processes), staging(staging), tag(tag),
      operands(collective.operands.size()) {
  const std::vector<int64_t> &members = collective.groups[size_t(group)];
  auto rankOf = [&](int64_t m) { return ownership.of(members[size_t(m)]); };
  std::set<int> ranks;
  for (size_t m = 0; m < members.size(); ++m)
    ranks.insert(rankOf(int64_t(m)));
  for (int rank : ranks)
    for (SourcePart &part :
         work.needs(group, [&](int64_t m) { return rankOf(m) == rank; })) {
      int holder = rankOf(part.member);
      if (holder == rank)
        continue;
      if (rank == ownership.rank)
        in[holder].add(std::move(part));
      else if (holder == ownership.rank)
        out[rank].add(std::move(part));
    }
  std::set<size_t> received;
  for (auto &[rank, side] : in) {
    for (SourcePart &part : side.packed)
      part.box = part.box.unpacking();
    for (const auto *parts : {&side.packed, &side.whole})
      for (const SourcePart &part : *parts)
        received.insert(size_t(part.member) * operands + part.operand);
  }
  for (size_t slot : received)
    foreign.emplace_back(slot, collective.operands[slot % operands].sourceBytes);
  for (auto *sides : {&out, &in})
    for (auto &[rank, side] : *sides) {
      size_t total = 0;
      for (const SourcePart &part : side.packed)
        total += size_t(part.box.bytes());
      side.bytes.resize(total);
    }
}

Error Crossing::start(void **all) {
  sources = all;
  for (const auto &[slot, bytes] : foreign) {
    Staging::Block block;
    if (!staging.take(bytes, block))
      return makeError(WEFT_OUT_OF_MEMORY, "no memory for ", bytes,
                       " bytes of another process; take a smaller batch, or "
                       "more processes");
    sources[slot] = block.memory.data();
    blocks.push_back(std::move(block));
  }
  messages.clear();
  for (auto &[rank, side] : in) {
    if (!side.bytes.empty())
      messages.push_back({.peer = rank, .tag = tag, .in = side.bytes.data(),
                          .bytes = side.bytes.size()});
    for (const SourcePart &part : side.whole)
      messages.push_back(
          {.peer = rank, .tag = tag,
           .in = static_cast<char *>(
                     sources[size_t(part.member) * operands + part.operand]) +
                 part.box.sourceOffset,
           .bytes = size_t(part.box.run)});
  }
  for (auto &[rank, side] : out) {
    side.pack(sources, operands);
    if (!side.bytes.empty())
      messages.push_back({.peer = rank, .tag = tag, .out = side.bytes.data(),
                          .bytes = side.bytes.size()});
    for (const SourcePart &part : side.whole)
      messages.push_back(
          {.peer = rank, .tag = tag,
           .out = static_cast<char *>(
                      sources[size_t(part.member) * operands + part.operand]) +
                  part.box.sourceOffset,
           .bytes = size_t(part.box.run)});
  }
  processes.begin(messages, transfer);
  return nullptr;
}

bool Crossing::poll() {
  if (!processes.poll(transfer) || !transfer.empty())
    return false; // the second: the process is to end
  for (auto &[rank, side] : in)
    side.unpack(sources, operands);
  return true;
}

void Crossing::finish() {
  for (Staging::Block &block : blocks)
    staging.giveBack(std::move(block));
  blocks.clear();
}

} // namespace weft::runtime
