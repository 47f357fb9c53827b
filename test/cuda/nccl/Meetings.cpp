//===- Meetings.cpp - calls on the streams of their ranks -----------------===//

#include "weft/test/cuda/nccl/Mailbox.h"
#include "weft/test/cuda/nccl/Neighbours.h"

#include <algorithm>
#include <cstring>

namespace weft::fake {

namespace {
/// What the ranks of a call have read, by rank.
struct Meeting {
  Clique *clique = nullptr;
  std::string call, number; ///< the call's text, and its name in mailboxes
  std::vector<std::vector<uint8_t>> read;
  std::vector<bool> hasBegun;
  std::vector<uint8_t> combined; ///< of a reduction, once it is known

  bool isComplete(const std::vector<size_t> &ranks) const {
    return std::ranges::all_of(ranks,
                               [&](size_t rank) { return hasBegun[rank]; });
  }
  void hear(size_t rank);
};

/// Messages of a group from ranks in other processes.
struct Incoming {
  std::string name; ///< in the mailbox
  uint64_t bytes;
  std::shared_ptr<std::vector<uint8_t>> to;
};
} // namespace

/// A text and the bytes after it.
static std::vector<uint8_t> withText(const std::string &text,
                                     const std::vector<uint8_t> &bytes) {
  std::vector<uint8_t> out(text.begin(), text.end());
  out.push_back(0);
  out.insert(out.end(), bytes.begin(), bytes.end());
  return out;
}

/// Takes what a rank of another process has read, if it has arrived.
void Meeting::hear(size_t rank) {
  const Neighbours &its = *clique->neighbours;
  std::vector<uint8_t> bytes;
  if (hasBegun[rank] || !its.hear(number, int(rank), bytes))
    return;
  hasBegun[rank] = true;
  std::string theirs(reinterpret_cast<const char *>(bytes.data()));
  read[rank].assign(bytes.begin() + int64_t(theirs.size()) + 1, bytes.end());
  if (theirs == call || clique->isApart)
    return;
  clique->isApart = true;
  fakeCudaReport(nameOf(clique->ranks[size_t(its.self)]) + " calls " + call +
                 ", rank " + std::to_string(rank) +
                 ", in another process, calls " + theirs +
                 ": on GPUs they would wait for ever");
}

using Bytes = std::vector<uint8_t *>;

/// Whether a rank waits for others that have not begun.
static std::function<bool()> untilComplete(std::shared_ptr<Meeting> meeting,
                                           std::vector<size_t> ranks,
                                           Comm comm) {
  return [=] {
    const Clique *clique = meeting->clique;
    for (size_t rank : ranks)
      if (clique && !clique->ranks[rank])
        meeting->hear(rank);
    return !meeting->isComplete(ranks) && !comm->isAborted;
  };
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

/// The bytes that a call reads and writes on one rank of this many.
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
  auto meeting = std::make_shared<Meeting>();
  Clique *clique = calls[0].comm->clique;
  Neighbours *neighbours = clique->neighbours.get();
  size_t ranks = clique->ranks.size();
  meeting->read.resize(ranks);
  meeting->hasBegun.resize(ranks);
  meeting->call = calls[0].text();
  if (neighbours) {
    meeting->clique = clique;
    meeting->number = "call" + std::to_string(neighbours->calls++);
  }
  std::vector<LibraryPart> parts;
  for (const Call &call : calls) {
    LibraryPart &part = parts.emplace_back();
    part.stream = call.stream;
    part.context = call.comm->context;
    part.name = call.text() + " by " + nameOf(call.comm);
    if (uint64_t bytes = bytesRead(call, ranks))
      part.reads = {{call.from, bytes, false}};
    part.writes = {{call.to, bytesWritten(call, ranks), true}};
    bool isHeard =
        call.kind != CallKind::Broadcast || call.comm->rank == call.argument;
    std::vector<size_t> others; // ranks that this one needs
    for (size_t other = 0; other < ranks; ++other)
      if (call.kind != CallKind::Broadcast || int(other) == call.argument)
        others.push_back(other);
    for (size_t n = 0; n < calls.size(); ++n)
      if (std::ranges::find(others, size_t(calls[n].comm->rank)) !=
          others.end())
        part.waits.push_back(n);
    part.isBlocked = untilComplete(meeting, others, call.comm);
    part.waitsForProcess = neighbours;
    part.begin = [=, rank = size_t(call.comm->rank), name = part.name,
                  reads = part.reads](const Bytes &from) {
      meeting->hasBegun[rank] = true;
      for (size_t n = 0; n < from.size(); ++n) {
        checkWritten(name, reads[n].address, reads[n].bytes);
        meeting->read[rank].assign(from[n], from[n] + reads[n].bytes);
      }
      if (neighbours && isHeard)
        neighbours->tellOthers(meeting->number, int(rank),
                               withText(meeting->call, meeting->read[rank]));
    };
    part.end = [=](const Bytes &to) {
      if (meeting->isComplete(others) && !clique->isApart)
        finish(*meeting, call, to[0]);
    };
  }
  return toStatus(fakeCudaEnqueueParts(parts));
}

/// The name of the next message between two ranks of different processes.
static std::string nextMessage(const Call &call) {
  Neighbours &its = *call.comm->clique->neighbours;
  int from = call.comm->rank, to = call.argument;
  if (call.kind == CallKind::Recv)
    std::swap(from, to);
  return its.name("pair" + std::to_string(its.pairs[{from, to}]++), from, to);
}

/// Takes the messages that have arrived; whether some are missing.
static bool receive(const std::string &folder, std::vector<Incoming> &missing,
                    const std::string &receiver) {
  std::erase_if(missing, [&](const Incoming &one) {
    if (!take(folder, one.name, *one.to))
      return false;
    if (one.to->size() != one.bytes) {
      fakeCudaReport(receiver + " receives " + std::to_string(one.bytes) +
                     " bytes by " + one.name +
                     ", of which another process "
                     "sends " +
                     std::to_string(one.to->size()) +
                     ": on GPUs they would wait for ever");
      one.to->resize(one.bytes);
    }
    return true;
  });
  return !missing.empty();
}

static bool leavesProcess(const Call &call) {
  return !call.comm->clique->ranks[size_t(call.argument)];
}

namespace {
/// The sends and receives of a group in one communicator: an operation for each
/// rank of this process.
class Pairs {
public:
  explicit Pairs(const std::vector<Call> &calls [[clang::lifetimebound]])
      : calls(calls), clique(*calls[0].comm->clique) {}
  std::vector<LibraryPart> parts();

private:
  using Message = std::shared_ptr<std::vector<uint8_t>>;
  struct Rank {
    LibraryPart part = {};
    std::vector<Message> out = {}, in = {};
    std::vector<std::string> posted = {}; ///< names; empty: to a rank here
    std::vector<Incoming> missing = {};
  };
  void addCalls();
  void addSend(Rank &its, const Call &call);
  void addReceive(Rank &its, const Call &call);
  void setBodies(size_t number, Comm comm);

  const std::vector<Call> &calls;
  const Clique &clique;
  std::vector<Rank> ranks;
  std::map<int, size_t> partOf; ///< indexed by rank
  /// The bytes of the n-th message from one rank to another.
  std::map<std::pair<int, int>, std::vector<Message>> messages;
  std::shared_ptr<Meeting> meeting = std::make_shared<Meeting>(); ///< by part
};
} // namespace

void Pairs::addCalls() {
  for (const Call &call : calls) {
    auto [found, isNew] = partOf.try_emplace(call.comm->rank, ranks.size());
    if (isNew)
      ranks.emplace_back();
    Rank &its = ranks[found->second];
    if (!isNew && its.part.stream != call.stream)
      fakeCudaReport(nameOf(call.comm) + " uses two streams in one group");
    its.part.stream = call.stream;
    its.part.context = call.comm->context;
    its.part.name += (isNew ? "" : " and ") + call.text();
    if (call.kind == CallKind::Send)
      addSend(its, call);
  }
  for (const Call &call : calls)
    if (call.kind == CallKind::Recv)
      addReceive(ranks[partOf.at(call.comm->rank)], call);
}

void Pairs::addSend(Rank &its, const Call &call) {
  its.part.reads.push_back({call.from, call.bytes(), false});
  its.out.push_back(std::make_shared<std::vector<uint8_t>>());
  its.posted.push_back(leavesProcess(call) ? nextMessage(call) : "");
  if (!leavesProcess(call))
    messages[{call.comm->rank, call.argument}].push_back(its.out.back());
}

void Pairs::addReceive(Rank &its, const Call &call) {
  its.part.writes.push_back({call.to, call.bytes(), true});
  if (leavesProcess(call)) {
    its.in.push_back(std::make_shared<std::vector<uint8_t>>());
    its.missing.push_back({nextMessage(call), call.bytes(), its.in.back()});
    return;
  }
  its.part.waits.push_back(partOf.at(call.argument));
  std::vector<Message> &sent = messages[{call.argument, call.comm->rank}];
  its.in.push_back(sent.front());
  sent.erase(sent.begin());
}

void Pairs::setBodies(size_t number, Comm comm) {
  Rank &its = ranks[number];
  LibraryPart &part = its.part;
  part.name += " by " + nameOf(comm);
  auto missing = std::make_shared<std::vector<Incoming>>(its.missing);
  std::string folder =
      clique.neighbours ? clique.neighbours->folder : std::string();
  part.waitsForProcess = !missing->empty();
  part.isBlocked = [=, others = untilComplete(meeting, part.waits, comm)] {
    return others() ||
           (receive(folder, *missing, nameOf(comm)) && !comm->isAborted);
  };
  part.begin = [=, meeting = meeting, reads = part.reads, name = part.name,
                out = its.out, posted = its.posted](const Bytes &from) {
    meeting->hasBegun[number] = true;
    for (size_t n = 0; n < from.size(); ++n) {
      checkWritten(name, reads[n].address, reads[n].bytes);
      out[n]->assign(from[n], from[n] + reads[n].bytes);
      if (!posted[n].empty())
        post(folder, posted[n], *out[n]);
    }
  };
  part.end = [=, meeting = meeting, waits = part.waits,
              in = its.in](const Bytes &to) {
    bool isOver = meeting->isComplete(waits) && missing->empty();
    for (size_t n = 0; n < to.size() && isOver; ++n)
      std::memcpy(to[n], in[n]->data(), in[n]->size());
  };
}

std::vector<LibraryPart> Pairs::parts() {
  addCalls();
  meeting->hasBegun.resize(ranks.size());
  for (const auto &[rank, number] : partOf)
    setBodies(number, clique.ranks[size_t(rank)]);
  std::vector<LibraryPart> out;
  for (Rank &its : ranks)
    out.push_back(std::move(its.part));
  return out;
}

Status enqueuePairs(const std::vector<Call> &calls) {
  return toStatus(fakeCudaEnqueueParts(Pairs(calls).parts()));
}

} // namespace weft::fake
