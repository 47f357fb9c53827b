// The thread that watches over the other processes.

#include "weft/base/WriteAll.h"
#include "weft/runtime/processes/Processes.h"

#include <algorithm>
#include <cstring>
#include <unistd.h>

namespace weft::runtime {

using namespace std::chrono_literals;

/// The intervals in which every process reports that it is alive, and looks for
/// dead ones; after the longest silence it is considered dead. With the grace
/// periods below, a death ends all processes in less than 10 seconds.
constexpr std::chrono::milliseconds beatInterval = 500ms, lookInterval = 100ms,
                                    longestSilence = 6s;
/// The longest time between two checks of this thread, which are 20 ms apart,
/// that counts as running: after a longer one the process was stopped, or the
/// machine is overloaded, and messages were not received.
constexpr std::chrono::milliseconds longestAbsence = 1s;
/// The time after which it is a deadlock that all wait and nothing arrives.
constexpr std::chrono::milliseconds longestStandstill = 10s;
/// The time for the program to return and end by itself.
constexpr std::chrono::milliseconds grace = 2s, graceAfterSignal = 400ms,
                                    graceForReporter = 1s;

void Processes::watch() {
  std::unique_lock<std::mutex> guard(state);
  while (!isEnding) {
    guard.unlock();
    Clock::time_point now = Clock::now();
    if (now - lastTurn > longestAbsence)
      excuseSilence(now);
    lastTurn = now;
    receiveMessages();
    sendHeartbeats(now);
    if (now - lastLook > lookInterval) {
      lastLook = now;
      findDead(now);
      findDeadlock(now);
    }
    endIfStuck(now);
    guard.lock();
    if (!isEnding)
      change.wait_for(guard, 20ms);
  }
}

/// Subtracts this process's absence from the times of silence: silence while it
/// did not run proves nothing.
void Processes::excuseSilence(Clock::time_point now) {
  std::lock_guard<std::mutex> guard(state);
  Clock::duration absence = now - lastTurn;
  for (Peer &peer : peers) {
    peer.lastMessage += absence;
    peer.stuckSince += absence;
  }
}

void Processes::say(Word word, int status, const std::string &text, int to) {
  std::vector<uint8_t> bytes = {uint8_t(word), uint8_t(status)};
  bytes.insert(bytes.end(), text.begin(), text.end());
  std::lock_guard<std::mutex> guard(calls);
  if (isMuted)
    return;
  spoken.push_back(std::move(bytes));
  for (int peer = 0; peer < size(); ++peer)
    if (peer != rank() && (to == everybody || peer == to))
      if (void *request = transport->send(
              peer, tags::control, spoken.back().data(), spoken.back().size()))
        farewells.push_back(request);
}

void Processes::receiveMessages() {
  watcherWaits.store(true);
  std::unique_lock<std::mutex> guard(calls);
  watcherWaits.store(false);
  int peer = 0;
  size_t bytes = 0;
  while (!isMuted && transport->probe(tags::control, &peer, &bytes)) {
    std::vector<uint8_t> word(bytes);
    void *request = transport->receive(peer, tags::control, word.data(), bytes);
    int done = request ? 0 : -1;
    Clock::time_point end = Clock::now() + 1s;
    while (done == 0 && Clock::now() < end)
      done = transport->test(request);
    // A message that is not done has a sender that died while sending.
    if (done == 1)
      take(peer, word);
  }
}

void Processes::take(int peer, const std::vector<uint8_t> &bytes) {
  std::unique_lock<std::mutex> guard(state);
  Peer &who = peers[size_t(peer)];
  who.lastMessage = Clock::now();
  if (bytes.size() < 2)
    return;
  if (Word(bytes[0]) == Word::Alive && bytes.size() == 9) {
    uint64_t waitsAfter;
    std::memcpy(&waitsAfter, bytes.data() + 1, 8);
    // A process that has left sends nothing more, although it is alive.
    if (!who.hasLeft && (waitsAfter != who.waitsAfter || waitsAfter == 0))
      who.stuckSince = who.lastMessage;
    who.waitsAfter = waitsAfter;
    return;
  }
  if (Word(bytes[0]) == Word::GivenUp)
    _exit(1); // this process was stopped; the others report it
  if (Word(bytes[0]) == Word::Reported)
    isReportedElsewhere = true;
  if (Word(bytes[0]) == Word::Stop)
    stopAsked.store(true);
  if (Word(bytes[0]) != Word::Left)
    return;
  who.hasLeft = true;
  who.stuckSince = who.lastMessage;
  who.status = bytes[1];
  if (who.status == 0 || bytes.size() == 2) {
    change.notify_all();
    return;
  }
  who.message = "rank " + std::to_string(peer) + ": " +
                std::string(bytes.begin() + 2, bytes.end());
  std::string why = who.message;
  guard.unlock();
  fail(why);
}

void Processes::sendHeartbeats(Clock::time_point now) {
  if (now - lastBeat < beatInterval)
    return;
  lastBeat = now;
  watcherWaits.store(true);
  std::lock_guard<std::mutex> guard(calls);
  watcherWaits.store(false);
  if (isMuted)
    return;
  bool areSent = true; // then no message uses `beat`
  for (int peer = 0; peer < size(); ++peer) {
    void *&request = peers[size_t(peer)].heartbeat;
    if (request && transport->test(request) != 0)
      request = nullptr;
    areSent &= !request;
  }
  if (areSent) {
    uint64_t waitsAfter = waitsNow();
    beat.assign(9, uint8_t(Word::Alive));
    std::memcpy(beat.data() + 1, &waitsAfter, 8);
  }
  for (int peer = 0; peer < size(); ++peer) {
    void *&request = peers[size_t(peer)].heartbeat;
    if (peer != rank() && !request)
      request = transport->send(peer, tags::control, beat.data(), beat.size());
  }
}

void Processes::findDead(Clock::time_point now) {
  std::string why;
  std::vector<int> silent;
  std::unique_lock<std::mutex> guard(state);
  bool listens = mutedSince == Clock::time_point();
  for (int r = 0; r < size(); ++r) {
    Peer &peer = peers[size_t(r)];
    if (r == rank() || peer.isDead || peer.hasLeft)
      continue;
    bool isSilent = listens && now - peer.lastMessage > longestSilence;
    bool wasGone = peer.isGone;
    peer.isGone = isGone(peer.identity, own);
    bool hasEnded = peer.isGone && wasGone; // its last messages have arrived
    if (!listens)
      peer.hasLeft = hasEnded; // its end is then the reason of this one's
    if (!listens || (!isSilent && !hasEnded))
      continue;
    if (!hasEnded)
      silent.push_back(r);
    peer.isDead = true;
    if (deathSeen == Clock::time_point())
      deathSeen = now;
    std::string name = peer.identity.process ? peer.identity.describe(r)
                                             : "rank " + std::to_string(r);
    why += (why.empty() ? "" : "; ") + name +
           (hasEnded ? " has died" : " has not answered for 6 s");
  }
  guard.unlock();
  for (int r : silent)
    say(Word::GivenUp, 0, "", r);
  if (!why.empty())
    fail(why + "; see its own messages, and start all processes again");
}

void Processes::findDeadlock(Clock::time_point now) {
  if (hasFailed())
    return;
  std::unique_lock<std::mutex> guard(state);
  Peer &self = peers[size_t(rank())];
  uint64_t waitsAfter = waitsNow();
  if (waitsAfter != self.waitsAfter || waitsAfter == 0)
    self.stuckSince = now;
  self.waitsAfter = waitsAfter;
  for (const Peer &peer : peers)
    if (now - peer.stuckSince < longestStandstill ||
        (!peer.waitsAfter && !peer.hasLeft))
      return;
  guard.unlock();
  deadlocked.store(true);
  fail("deadlock: all processes wait for messages that none of them sends; "
       "every process must reach the same collectives");
}

void Processes::endInCall(std::unique_lock<std::mutex> &guard) {
  // The process that failed waits for this one, and would report it again.
  if (isReporter() && !hasReported) {
    guard.unlock();
    say(Word::Reported, 1, "");
    guard.lock();
  }
  endProcess(reason, 1);
}

bool Processes::isReporter() const {
  if (isReportedElsewhere)
    return false;
  for (int r = 0; r < rank(); ++r)
    if (!peers[size_t(r)].isDead)
      return false;
  return true;
}

bool Processes::othersHaveLeft() const {
  auto isPast = [](Clock::time_point begin) {
    return begin != Clock::time_point() &&
           Clock::now() - begin > grace + graceForReporter;
  };
  bool isMute = mutedSince != Clock::time_point();
  if (isMute && isReporter())
    return true; // the reporter has reported
  bool isLate = isPast(deathSeen) || isPast(mutedSince);
  for (int r = 0; r < size(); ++r) {
    const Peer &peer = peers[size_t(r)];
    if (r != rank() && !peer.hasLeft && !peer.isDead && !isLate)
      return false;
  }
  return true;
}

void Processes::endProcess(const std::string &message, int status) {
  if (isReporter() && !hasReported)
    writeMessage(messages, "weft: error: " + message + "\n");
  _exit(status);
}

void Processes::endIfStuck(Clock::time_point now) {
  int signal = signalled.load();
  if (signal && signalSeen == Clock::time_point())
    signalSeen = now;
  if (leaving.load() && !signal)
    return;
  std::unique_lock<std::mutex> guard(state);
  std::chrono::milliseconds patience = signal ? graceAfterSignal : grace;
  if (!isReporter())
    patience += graceForReporter;
  if (deathSeen != Clock::time_point() && now - deathSeen > patience)
    endProcess(reason, 1);
  if (!hasFailed() || !inCall.load(std::memory_order_relaxed))
    callStuck = Clock::time_point();
  else if (callStuck == Clock::time_point())
    callStuck = now;
  else if (now - callStuck > patience)
    endInCall(guard);
  if (hasFailed()) // the program returns and reports it
    patience += grace;
  if (signal != 2 || deathSeen != Clock::time_point() ||
      now - signalSeen <= patience)
    return;
  guard.unlock();
  const char *why = "ended by SIGTERM: mpirun was stopped, or another of its "
                    "processes failed";
  // The word tells the others that this process is not dead.
  say(Word::Left, 143, hasFailed() ? "" : why);
  guard.lock();
  endProcess(why, 143);
}

} // namespace weft::runtime
