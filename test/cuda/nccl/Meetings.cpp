//===- Meetings.cpp - calls on the streams of their ranks -----------------===//

#include "weft/test/cuda/nccl/Objects.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace weft::fake {

namespace {
/// What the ranks of a call have read, by rank.
struct Meeting {
  std::vector<std::vector<uint8_t>> read;
  std::vector<bool> hasBegun;
  std::vector<uint8_t> combined; ///< of a reduction, once it is known

  bool isComplete(const std::vector<size_t> &ranks) const {
    return std::ranges::all_of(ranks,
                               [&](size_t rank) { return hasBegun[rank]; });
  }
};
} // namespace

using Bytes = std::vector<uint8_t *>;

/// Whether a rank waits for others that have not begun.
static std::function<bool()> untilComplete(std::shared_ptr<Meeting> meeting,
                                           std::vector<size_t> ranks,
                                           Comm comm) {
  return [=] { return !meeting->isComplete(ranks) && !comm->isAborted; };
}

static void checkWritten(const std::string &who, cuda::Address address,
                         uint64_t bytes) {
  if (!fakeCudaIsWritten(address, bytes))
    fakeCudaReport(who + " reads bytes that nobody wrote");
}

static Status toStatus(cuda::Result result) {
  return result == cuda::Result::Success ? Status::Success
                                         : Status::InvalidArgument;
}

/// The bytes that a call reads and writes on one rank of so many.
static uint64_t bytesRead(const Call &call, uint64_t ranks) {
  if (call.kind == CallKind::ReduceScatter)
    return call.bytes() * ranks;
  bool isIdle =
      call.kind == CallKind::Broadcast && call.comm->rank != call.argument;
  return isIdle ? 0 : call.bytes();
}
static uint64_t bytesWritten(const Call &call, uint64_t ranks) {
  return call.kind == CallKind::AllGather ? call.bytes() * ranks : call.bytes();
}

/// What the call leaves in the memory of a rank.
static void finish(Meeting &meeting, const Call &call, uint8_t *to) {
  uint64_t bytes = call.bytes();
  switch (call.kind) {
  case CallKind::AllReduce:
  case CallKind::ReduceScatter: {
    if (meeting.combined.empty())
      meeting.combined = combine(meeting.read, call);
    uint64_t first = call.kind == CallKind::AllReduce
                         ? 0
                         : uint64_t(call.comm->rank) * bytes;
    std::memcpy(to, meeting.combined.data() + first, bytes);
    return;
  }
  case CallKind::AllGather:
    for (size_t rank = 0; rank < meeting.read.size(); ++rank)
      std::memcpy(to + rank * bytes, meeting.read[rank].data(), bytes);
    return;
  default: // a broadcast
    std::memcpy(to, meeting.read[size_t(call.argument)].data(), bytes);
  }
}

Status enqueueTogether(const std::vector<Call> &calls) {
  if (calls[0].count == 0)
    return Status::Success;
  size_t ranks = calls.size();
  auto meeting = std::make_shared<Meeting>();
  meeting->read.resize(ranks);
  meeting->hasBegun.resize(ranks);
  std::vector<LibraryPart> parts;
  for (const Call &call : calls) {
    LibraryPart &part = parts.emplace_back();
    part.stream = call.stream;
    part.context = call.comm->context;
    part.name = call.text() + " by " + nameOf(call.comm);
    if (uint64_t bytes = bytesRead(call, ranks))
      part.reads = {{call.from, bytes, false}};
    part.writes = {{call.to, bytesWritten(call, ranks), true}};
    for (size_t other = 0; other < ranks; ++other)
      if (call.kind != CallKind::Broadcast || int(other) == call.argument)
        part.waits.push_back(other);
    part.isBlocked = untilComplete(meeting, part.waits, call.comm);
    part.begin = [=, rank = size_t(call.comm->rank), name = part.name,
                  reads = part.reads](const Bytes &from) {
      meeting->hasBegun[rank] = true;
      for (size_t n = 0; n < from.size(); ++n) {
        checkWritten(name, reads[n].address, reads[n].bytes);
        meeting->read[rank].assign(from[n], from[n] + reads[n].bytes);
      }
    };
    part.end = [=, waits = part.waits](const Bytes &to) {
      if (meeting->isComplete(waits))
        finish(*meeting, call, to[0]);
    };
  }
  return toStatus(fakeCudaEnqueueParts(parts));
}

Status enqueuePairs(const std::vector<Call> &calls) {
  // The bytes of the n-th message from one rank to another.
  using Message = std::shared_ptr<std::vector<uint8_t>>;
  std::map<std::pair<int, int>, std::vector<Message>> messages;
  std::map<int, size_t> partOf; // by rank
  std::vector<LibraryPart> parts;
  std::vector<std::vector<Message>> out, in;
  auto meeting = std::make_shared<Meeting>(); // by part
  for (const Call &call : calls) {
    auto [found, isNew] = partOf.try_emplace(call.comm->rank, parts.size());
    if (isNew) {
      parts.emplace_back();
      out.emplace_back();
      in.emplace_back();
    }
    LibraryPart &part = parts[found->second];
    if (!isNew && part.stream != call.stream)
      fakeCudaReport(nameOf(call.comm) + " uses two streams in one group");
    part.stream = call.stream;
    part.context = call.comm->context;
    part.name += (isNew ? "" : " and ") + call.text();
    if (call.kind != CallKind::Send)
      continue;
    part.reads.push_back({call.from, call.bytes(), false});
    Message message = std::make_shared<std::vector<uint8_t>>();
    messages[{call.comm->rank, call.argument}].push_back(message);
    out[found->second].push_back(message);
  }
  for (const Call &call : calls) {
    size_t number = partOf.at(call.comm->rank);
    if (call.kind != CallKind::Recv)
      continue;
    parts[number].writes.push_back({call.to, call.bytes(), true});
    parts[number].waits.push_back(partOf.at(call.argument));
    std::vector<Message> &sent = messages[{call.argument, call.comm->rank}];
    in[number].push_back(sent.front());
    sent.erase(sent.begin());
  }
  meeting->hasBegun.resize(parts.size());
  const Clique &clique = *calls[0].comm->clique;
  for (const auto &[rank, number] : partOf) {
    LibraryPart &part = parts[number];
    part.name += " by " + nameOf(clique.ranks[size_t(rank)]);
    part.isBlocked =
        untilComplete(meeting, part.waits, clique.ranks[size_t(rank)]);
    part.begin = [=, number = number, reads = part.reads, name = part.name,
                  messages = out[number]](const Bytes &from) {
      meeting->hasBegun[number] = true;
      for (size_t n = 0; n < from.size(); ++n) {
        checkWritten(name, reads[n].address, reads[n].bytes);
        messages[n]->assign(from[n], from[n] + reads[n].bytes);
      }
    };
    part.end = [=, waits = part.waits, messages = in[number]](const Bytes &to) {
      for (size_t n = 0; n < to.size() && meeting->isComplete(waits); ++n)
        std::memcpy(to[n], messages[n]->data(), messages[n]->size());
    };
  }
  return toStatus(fakeCudaEnqueueParts(parts));
}

} // namespace weft::fake
