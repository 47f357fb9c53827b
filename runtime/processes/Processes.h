//===- Processes.h - the processes that run one program ---------*- C++ -*-===//
//
// Messages between processes, and their states: a thread reports twice a second
// that this process is alive, and whether others have failed, left or died. A
// wait for a message then ends with that reason.
//
//   PeerMessage messages[] = {{.peer = 1, .tag = 16, .out = data, .bytes = 64}};
//   Transfer transfer;
//   processes.begin(messages, transfer);
//   if (Status ok = processes.wait(transfer); !ok) return ok;  // or poll(transfer)
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_PROCESSES_PROCESSES_H
#define WEFT_RUNTIME_PROCESSES_PROCESSES_H

#include "weft/runtime/abi/processes.h"
#include "weft/runtime/processes/Backoff.h"
#include "weft/runtime/processes/Liveness.h"
#include "weft/runtime/processes/Transport.h"
#include "weft/runtime/program/Error.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

namespace weft::runtime {

/// The purpose of a message. Collectives take the tags from `rendezvous` on.
namespace tags {
constexpr int control = 0, identity = 1, agree = 2, share = 3, vote = 4,
              gather = 5, counts = 6, gpus = 7, rendezvous = 16;
}

/// A message: sent if `out`, else received into `in`.
struct PeerMessage {
  int peer, tag;
  const void *out = nullptr;
  void *in = nullptr;
  size_t bytes = 0;
};

/// Messages under way.
using Transfer = std::vector<void *>;

class Processes {
public:
  static Status join(uint64_t command, int messages,
                     std::unique_ptr<Processes> &out);
  ~Processes();

  int rank() const { return transport->rank; }
  int size() const { return transport->size; }
  /// This process's share of the `cores` that it may use: all if they are fewer
  /// than the machine's, else its part among the processes of this machine.
  int shareOfCores(int cores) const;

  /// Starts the messages; false if not all were started, after a failure.
  bool begin(std::span<const PeerMessage> messages, Transfer &transfer);
  /// Returns true once all messages are done and their requests released, or
  /// the process is to end.
  bool poll(Transfer &transfer);
  Status wait(Transfer &transfer);
  /// Abandons messages after a failure: their memory may be freed.
  void abandon(Transfer &transfer);
  WEFT_EXPORT Status exchange(std::span<const PeerMessage> messages);
  /// The first failure: of another process, of a message, or a deadlock; null
  /// without one.
  WEFT_EXPORT Status failure() const;
  bool hasFailed() const { return failed.load(std::memory_order_acquire); }
  /// Whether all processes wait for each other; failure() then reports that.
  bool isDeadlock() const { return deadlocked.load(); }
  /// Sets whether this process can only wait for messages.
  void setWaiting(bool isWaiting) {
    waiting.store(isWaiting, std::memory_order_relaxed);
  }

  /// Sets whether this process is in a call of another library that may wait for
  /// another process. If one fails meanwhile, the watching thread ends this
  /// process, as nothing else can.
  void setInCall(bool is) { inCall.store(is, std::memory_order_relaxed); }

  Status agree(const char *what, uint64_t value);
  WEFT_EXPORT Status share(void **data, size_t *bytes);
  Status vote(bool mine, bool &any);
  Status any(bool mine, bool &any);
  void terminate(bool isGraceful) { signalled.store(isGraceful ? 1 : 2); }

  struct Farewell {
    int status = 0;
    bool reports = false, orderly = false;
    std::string other;
  };
  Farewell leave(int status, const std::string &message);
  /// Closes the transport after an orderly farewell; returns when all processes
  /// have called it.
  void close();

private:
  using Clock = std::chrono::steady_clock;
  enum class Word : uint8_t { Alive, Left, Stop, GivenUp, Reported };
  static constexpr int everybody = -1;
  struct Peer {
    Identity identity;
    Clock::time_point lastMessage;
    bool hasLeft = false, isGone = false, isDead = false;
    int status = 0;
    std::string message;
    /// The messages that the peer had received when it last reported that it
    /// waits, plus 1; 0 if the peer does not wait.
    uint64_t waitsAfter = 0;
    Clock::time_point stuckSince;
    void *heartbeat = nullptr; ///< a heartbeat that is not yet received
  };

  Processes(const weft_transport *transport, int messages);
  /// Gets a value of each process, by rank.
  Status tellAll(uint64_t mine, std::vector<uint64_t> &all);
  Status meet(uint64_t command);
  /// Records a failure, which others do not know yet if it `isOwn`.
  void fail(const std::string &reason, bool isOwn = false);
  void mute();

  // The body of the watching thread (Watch.cpp).
  void watch();
  void say(Word word, int status, const std::string &text, int to = everybody);
  void excuseSilence(Clock::time_point now);
  void receiveMessages();
  void take(int peer, const std::vector<uint8_t> &bytes);
  void sendHeartbeats(Clock::time_point now);
  void findDead(Clock::time_point now);
  void findDeadlock(Clock::time_point now);
  void endIfStuck(Clock::time_point now);
  /// Ends the process, which waits in a call for one that failed; `state` is
  /// locked.
  void endInCall(std::unique_lock<std::mutex> &guard);
  [[noreturn]] void endProcess(const std::string &message, int status);
  bool isReporter() const;
  bool othersHaveLeft() const;

  const weft_transport *transport;
  const int messages;
  Identity own;
  std::vector<Peer> peers; ///< indexed by rank; guarded by `state`

  /// Held for calls of the transport; the watching thread has precedence.
  std::mutex calls;
  bool isMuted = false; ///< guarded by `calls`; no more calls are made
  std::atomic<bool> watcherWaits{false};

  mutable std::mutex state;
  std::condition_variable change;
  std::string reason; ///< reason of the first failure
  bool isOwnFailure = false, hasReported = false;
  bool isReportedElsewhere = false; ///< by a process that has ended since
  Clock::time_point mutedSince;
  std::atomic<bool> failed{false}, leaving{false}, stopAsked{false};
  std::atomic<bool> waiting{false}, deadlocked{false}, inCall{false};
  std::atomic<uint64_t> arrivals{0}; ///< messages that are over
  std::atomic<int> signalled{0};     ///< 1: gracefully, 2: at once
  bool isEnding = false;             ///< the watching thread is to return
  Clock::time_point lastBeat, lastLook, lastTurn, deathSeen, signalSeen,
      callStuck;             ///< since a call waits in vain
  std::vector<uint8_t> beat; ///< message: Word::Alive, waitsNow()
  uint64_t waitsNow() const { return waiting.load() ? arrivals.load() + 1 : 0; }
  Transfer farewells;
  std::vector<std::vector<uint8_t>> spoken; ///< memory of `farewells`
  std::thread watcher;
};

} // namespace weft::runtime

struct weft_processes {
  std::unique_ptr<weft::runtime::Processes> processes;
};

#endif // WEFT_RUNTIME_PROCESSES_PROCESSES_H
