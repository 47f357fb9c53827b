//===- Dispatcher.h - work in the order it was asked for --------*- C++ -*-===//
//
// The devices run enqueued work in order; work that must not be enqueued yet,
// as input from the host is missing, waits here, and all later work with it:
//
//   dispatcher.add({transfer}, [=] { ... enqueues a run ... });
//   dispatcher.add({}, [=] { ... });      // is called after the first
// The dispatcher has no thread: `begin` is called by add(), or on the thread
// that settles the promise.
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
  /// Calls `begin` once the promises are settled and all work added before has
  /// begun; one call at a time.
  void add(Promises needed, std::function<void()> begin);

  /// Count requested and ended runs for awaitRoom().
  void runAdded();
  void runEnded();
  /// Whether one run at most is requested and has not ended.
  bool hasOneRun();
  /// Waits while much work is pending: a script that runs ahead of its devices
  /// would fill memory with prepared arrays.
  void awaitRoom();

private:
  static constexpr int kMostRuns = 32;
  struct Item {
    Promises needed;
    std::function<void()> begin;
  };
  /// Enqueues ready work until a promise is not settled; its settling goes on.
  /// `isTaken` while one call runs or such a promise is pending.
  void goOn(std::unique_lock<std::mutex> &guard);

  std::mutex mutex;
  std::condition_variable change;
  std::deque<Item> items;
  bool isTaken = false;
  int runs = 0;
};

} // namespace weft::pjrt

#endif // WEFT_TOOLS_PJRT_TRANSFERS_DISPATCHER_H
