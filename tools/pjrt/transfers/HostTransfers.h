//===- HostTransfers.h - runs that send to the caller and receive ---------===//
//
// A caller of PJRT may pass callbacks to a run, one for each channel of its
// program's send and recv (HostFunctions.h). All devices have the full value,
// so only the callbacks of the first one are called, once, in the program's
// order and on a thread of the runtime:
//
//   send 5   callback(chunk of all bytes, ..., done)     which frees the chunk
//   recv 6   callback(stream); the run waits until AddChunk has given as many
//            bytes as the value has, or it gets more or the stream is destroyed,
//            which fails it
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_PJRT_TRANSFERS_HOSTTRANSFERS_H
#define WEFT_TOOLS_PJRT_TRANSFERS_HOSTTRANSFERS_H

#include "weft/tools/pjrt/Abi.h"

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace weft::pjrt {

struct LoadedProgram;
class Promise;

/// A send or recv of a program: the number of its function, and its bytes.
struct ProgramChannel {
  int64_t function;
  size_t bytes;
};

/// The callbacks of one run.
class HostTransfers {
public:
  /// Collects the transfers of the program's channels; an error if one of them
  /// is missing.
  PJRT_Error *collect(const ExecuteOptions &options,
                      const LoadedProgram &program);
  /// Sets the promise of the run's results; if it is broken before the run's
  /// first call of the host, no calls are made.
  void belongTo(std::shared_ptr<const Promise> results) {
    run = std::move(results);
  }
  /// Whether calls are made: decided by the first call of the host for the
  /// whole run.
  bool isWanted() const;
  /// Whether the function is a channel of the run's program.
  bool knows(int64_t function) const { return channels.count(function) != 0; }
  /// The reason why a call of the host failed in this run, the first one, or
  /// nothing. Later calls of the run are skipped.
  std::string failure() const;
  bool hasFailed() const { return !failure().empty(); }
  void fail(const std::string &why) const;
  /// Runs a transfer; returns the reason why it failed, or nothing.
  std::string transfer(int64_t function, void *const *operands,
                       void *const *results) const;

private:
  struct Channel {
    size_t bytes = 0;
    SendCallback send = nullptr;
    RecvCallback receive = nullptr;
    void *user = nullptr;
  };
  std::map<int64_t, Channel> channels;
  std::shared_ptr<const Promise> run;
  mutable std::mutex mutex; ///< several groups may call at the same time
  mutable std::optional<bool> wanted;
  mutable std::string failed;
};

/// The callbacks of the enqueued runs; the first run is running, or next.
class TransfersInOrder {
public:
  void add(const HostTransfers *transfers) {
    std::lock_guard<std::mutex> guard(mutex);
    all.push_back(transfers);
  }
  /// Removes the first run, which is over.
  void removeFirst() {
    std::lock_guard<std::mutex> guard(mutex);
    all.pop_front();
  }
  /// Removes the entry that was added last, as its run was not enqueued.
  void removeLast() {
    std::lock_guard<std::mutex> guard(mutex);
    all.pop_back();
  }
  const HostTransfers &first() const {
    std::lock_guard<std::mutex> guard(mutex);
    return *all.front();
  }

private:
  mutable std::mutex mutex;
  std::deque<const HostTransfers *> all;
};

} // namespace weft::pjrt

#endif // WEFT_TOOLS_PJRT_TRANSFERS_HOSTTRANSFERS_H
