#include "weft/runtime/processes/Processes.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sched.h>

namespace weft::runtime {

/// The largest message, which always ends long before a deadlock is suspected.
constexpr size_t largestMessage = size_t(64) << 20;

Processes::Processes(const weft_transport *transport, int messages)
    : transport(transport), messages(messages), own(Identity::own()),
      peers(size_t(transport->size)) {
  Clock::time_point now = Clock::now();
  for (Peer &peer : peers)
    peer.lastMessage = now;
  lastBeat = lastLook = lastTurn = now;
  watcher = std::thread([this] { watch(); });
}

Processes::~Processes() {
  {
    std::lock_guard<std::mutex> guard(state);
    isEnding = true;
  }
  change.notify_all();
  if (watcher.joinable())
    watcher.join();
}

void Processes::fail(const std::string &why, bool isOwn) {
  std::lock_guard<std::mutex> guard(state);
  if (reason.empty()) {
    reason = why;
    isOwnFailure = isOwn;
  }
  failed.store(true, std::memory_order_release);
  change.notify_all();
}

Status Processes::failure() const {
  if (!hasFailed())
    return {};
  std::lock_guard<std::mutex> guard(state);
  return makeError(StatusCode::Peer, reason);
}

bool Processes::begin(std::span<const PeerMessage> list, Transfer &transfer) {
  std::lock_guard<std::mutex> guard(calls);
  if (isMuted)
    return false;
  for (const PeerMessage &m : list)
    for (size_t at = 0; at < m.bytes; at += largestMessage) {
      size_t bytes = std::min(largestMessage, m.bytes - at);
      void *request =
          m.out ? transport->send(m.peer, m.tag,
                                  static_cast<const char *>(m.out) + at, bytes)
                : transport->receive(m.peer, m.tag,
                                     static_cast<char *>(m.in) + at, bytes);
      if (!request) {
        fail("rank " + std::to_string(rank()) +
                 " cannot exchange messages with rank " +
                 std::to_string(m.peer) + ": " + transport->error(),
             true);
        return false;
      }
      transfer.push_back(request);
    }
  return true;
}

bool Processes::poll(Transfer &transfer) {
  if (hasFailed())
    return true;
  if (watcherWaits.load(std::memory_order_relaxed))
    return false;
  std::unique_lock<std::mutex> guard(calls, std::try_to_lock);
  if (!guard.owns_lock())
    return false;
  while (!transfer.empty()) {
    int done = transport->test(transfer.back());
    if (done == 0)
      return false;
    transfer.pop_back();
    arrivals.fetch_add(1, std::memory_order_relaxed);
    if (done < 0) {
      std::string why = transport->error();
      guard.unlock();
      fail("rank " + std::to_string(rank()) + " lost a message: " + why, true);
      return true;
    }
  }
  return true;
}

Status Processes::wait(Transfer &transfer) {
  setWaiting(true);
  for (Backoff backoff; !poll(transfer);)
    backoff.pause();
  setWaiting(false);
  Status ok = failure();
  if (!ok)
    abandon(transfer);
  return ok;
}

/// The longest wait for messages whose receiver may be gone.
constexpr std::chrono::milliseconds graceOfMessages(200);

void Processes::abandon(Transfer &transfer) {
  auto remain = [&](auto &&isOver) {
    std::lock_guard<std::mutex> guard(calls);
    if (isMuted)
      transfer.clear();
    std::erase_if(transfer, isOver);
    return !transfer.empty();
  };
  remain([&](void *request) { return transport->cancel(request), false; });
  Clock::time_point end = Clock::now() + graceOfMessages;
  auto isOver = [&](void *request) { return transport->test(request) != 0; };
  while (remain(isOver) && Clock::now() < end)
    sched_yield();
  if (!transfer.empty())
    mute();
  transfer.clear();
}

/// Stops all calls of the transport. Messages that a process did not take
/// remain, and cannot be cancelled. If that process continued after all, any
/// call could read or write memory that is freed by then. So this process
/// reports that it leaves, and makes no more calls.
void Processes::mute() {
  say(Word::Left, 1, isOwnFailure ? reason : "");
  Clock::time_point end = Clock::now() + graceOfMessages;
  for (bool areSent = false; !areSent && Clock::now() < end; sched_yield()) {
    std::lock_guard<std::mutex> guard(calls);
    std::erase_if(farewells,
                  [&](void *request) { return transport->test(request) != 0; });
    areSent = farewells.empty();
  }
  {
    std::lock_guard<std::mutex> guard(calls);
    isMuted = true;
  }
  std::lock_guard<std::mutex> guard(state);
  mutedSince = Clock::now();
}

Status Processes::exchange(std::span<const PeerMessage> list) {
  Transfer transfer;
  begin(list, transfer);
  return wait(transfer);
}

int Processes::shareOfCores(int cores) const {
  int here = 0;
  std::lock_guard<std::mutex> guard(state);
  for (int peer = 0; peer < size(); ++peer)
    here += peer == rank() || std::strncmp(peers[size_t(peer)].identity.host,
                                           own.host, sizeof own.host) == 0;
  int machine = int(std::thread::hardware_concurrency());
  return cores < machine ? cores : std::max(1, cores / here);
}

Status Processes::tellAll(uint64_t mine, std::vector<uint64_t> &all) {
  all.assign(size_t(size()), mine);
  std::vector<PeerMessage> list;
  for (int peer = 0; peer < size(); ++peer)
    if (peer != rank()) {
      list.push_back(
          {.peer = peer, .tag = tags::agree, .in = &all[peer], .bytes = 8});
      list.push_back(
          {.peer = peer, .tag = tags::agree, .out = &mine, .bytes = 8});
    }
  return exchange(list);
}

Status Processes::any(bool mine, bool &any) {
  std::vector<uint64_t> values;
  Status ok = tellAll(mine, values);
  any = std::ranges::any_of(values, [](uint64_t value) { return value != 0; });
  return ok;
}

Status Processes::agree(const char *what, uint64_t value) {
  std::vector<uint64_t> values;
  if (Status ok = tellAll(value, values); !ok)
    return ok;
  for (int peer = 1; peer < size(); ++peer)
    if (values[peer] != values[0])
      return makeError(StatusCode::InvalidArgument, "rank ", peer,
                       " has another ", what, " than rank 0: hash ", std::hex,
                       values[peer], ", not ", values[0],
                       "; start the same version of weft with the same "
                       "arguments and files everywhere");
  return {};
}

Status Processes::share(void **data, size_t *bytes) {
  uint64_t count = *bytes;
  std::vector<PeerMessage> sizes, contents;
  if (rank() == 0) {
    for (int peer = 1; peer < size(); ++peer) {
      sizes.push_back(
          {.peer = peer, .tag = tags::share, .out = &count, .bytes = 8});
      contents.push_back(
          {.peer = peer, .tag = tags::share, .out = *data, .bytes = count});
    }
    Status ok = exchange(sizes);
    return ok ? exchange(contents) : ok;
  }
  sizes.push_back({.peer = 0, .tag = tags::share, .in = &count, .bytes = 8});
  if (Status ok = exchange(sizes); !ok)
    return ok;
  void *room = std::malloc(count ? count : 1);
  if (!room)
    return makeError(StatusCode::OutOfMemory, "no memory for ", count,
                     " bytes of rank 0");
  contents.push_back(
      {.peer = 0, .tag = tags::share, .in = room, .bytes = count});
  if (Status ok = exchange(contents); !ok) {
    std::free(room);
    return ok;
  }
  *data = room;
  *bytes = count;
  return {};
}

Status Processes::vote(bool mine, bool &any) {
  bool wants = mine || signalled.load() == 1;
  if (wants && rank() != 0 && !stopAsked.exchange(true))
    say(Word::Stop, 0, "", 0);
  uint8_t word = wants || stopAsked.load();
  std::vector<PeerMessage> list;
  if (rank() == 0)
    for (int peer = 1; peer < size(); ++peer)
      list.push_back(
          {.peer = peer, .tag = tags::vote, .out = &word, .bytes = 1});
  else
    list.push_back({.peer = 0, .tag = tags::vote, .in = &word, .bytes = 1});
  Status ok = exchange(list);
  any = word != 0;
  return ok;
}

Status Processes::meet(uint64_t command) {
  std::vector<Identity> identities(peers.size());
  std::vector<PeerMessage> list;
  for (int peer = 0; peer < size(); ++peer)
    if (peer != rank()) {
      list.push_back({.peer = peer,
                      .tag = tags::identity,
                      .in = &identities[peer],
                      .bytes = sizeof(Identity)});
      list.push_back({.peer = peer,
                      .tag = tags::identity,
                      .out = &own,
                      .bytes = sizeof own});
    }
  if (Status ok = exchange(list); !ok)
    return ok;
  {
    std::lock_guard<std::mutex> guard(state);
    for (size_t peer = 0; peer < peers.size(); ++peer)
      peers[peer].identity = identities[peer];
  }
  return agree("command line or version of weft", command);
}

Processes::Farewell Processes::leave(int status, const std::string &message) {
  Farewell out;
  std::unique_lock<std::mutex> guard(state);
  leaving.store(true);
  hasReported = rank() == 0 && status != 0;
  // Whether another process's failure, which is known already, is the reason.
  bool isTold = hasFailed() && !isDeadlock() && !isOwnFailure;
  guard.unlock();
  say(Word::Left, status, isTold ? "" : message);
  guard.lock();
  while (!othersHaveLeft())
    change.wait_for(guard, std::chrono::milliseconds(20));
  out.status = status;
  out.reports = isReporter();
  out.orderly = mutedSince == Clock::time_point();
  for (size_t peer = 0; peer < peers.size(); ++peer) {
    out.orderly &= !peers[peer].isDead;
    if (int(peer) == rank() || !peers[peer].status)
      continue;
    if (!out.status || (out.status == status && out.other.empty()))
      out.other = peers[peer].message;
    out.status = out.status ? out.status : peers[peer].status;
  }
  if (out.status == 0 && failed.load()) {
    out.status = 1;
    out.other = reason;
  }
  isEnding = true;
  guard.unlock();
  change.notify_all();
  watcher.join();
  if (out.orderly) {
    for (Backoff backoff; !farewells.empty();) {
      if (transport->test(farewells.back()))
        farewells.pop_back();
      else
        backoff.pause();
    }
  }
  return out;
}

void Processes::close() { transport->close(); }

} // namespace weft::runtime
