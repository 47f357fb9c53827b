//===- Dispatcher.h - work in the order it was asked for --------*- C++ -*-===//
//
// The devices run what is enqueued in order; what must not be enqueued yet, as
// the host has not given all that it needs, waits here, and all behind it:
//
//   dispatcher.add({transfer}, [=] { ... enqueues a run ... });
//   dispatcher.add({}, [=] { ... });      // is called behind the first
//
// There is no thread: `begin` is called by add(), or by who settles the promise
// that is waited for.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_PJRT_TRANSFERS_DISPATCHER_H
#define WEFT_TOOLS_PJRT_TRANSFERS_DISPATCHER_H

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace weft::pjrt {

class Promise;

class Dispatcher {
public:
  using Promises = std::vector<std::shared_ptr<Promise>>;

  /// Waits until all has begun.
  ~Dispatcher();
  /// Calls `begin` once the promises are settled and all that was added before
  /// has begun; one call at a time.
  void add(Promises needed, std::function<void()> begin);

  /// A run is asked for, a run is over: what awaitRoom() counts.
  void runAdded();
  void runEnded();
  /// Waits while much is left to do: a script that runs ahead of its devices
  /// would fill memory with what it has prepared.
  void awaitRoom();

private:
  static constexpr int kMostRuns = 32;
  struct Item {
    Promises needed;
    std::function<void()> begin;
  };
  /// Enqueues what is ready. One thread at a time does so, or a promise: `isTaken`.
  void goOn(std::unique_lock<std::mutex> &guard);

  std::mutex mutex;
  std::condition_variable change;
  std::deque<Item> items;
  bool isTaken = false;
  int runs = 0;
};

} // namespace weft::pjrt

#endif // WEFT_TOOLS_PJRT_TRANSFERS_DISPATCHER_H
