//===- RunQueue.h - tasks in the order in which they were added -*- C++ -*-===//
//
//   RunQueue queue;
//   Ticket first = queue.add(task, /*isAwaited=*/false);  // on the queue's thread
//   Ticket second = queue.add(task, /*isAwaited=*/true);
//   queue.attend(second);     // here: first, unless it has begun, then second
//
// One task runs at a time. A caller that waits for a task runs it itself, with
// those before it, unless another thread does: waiting for each run costs no
// thread. The queue's own thread starts when it is first needed.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_RUNQUEUE_H
#define WEFT_RUNTIME_DEVICES_RUNQUEUE_H

#include "weft/runtime/devices/Ticket.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace weft::runtime {

class WEFT_EXPORT RunQueue {
public:
  using Task = std::function<Status()>;

  /// Runs the remaining tasks.
  ~RunQueue();
  /// Adds a task. Its ticket is settled with the returned error, after the
  /// task's captures are freed. `isAwaited`: attend() follows, so the queue's
  /// thread need not wake.
  Ticket add(Task task, bool isAwaited);
  /// Returns when the ticket, which is one of this queue's, is done.
  void attend(const Ticket &ticket);

private:
  struct Item {
    Task task;
    Ticket ticket;
  };
  void loop();
  /// Runs the first item, which must exist, without the lock.
  void runFirst(std::unique_lock<std::mutex> &guard);

  std::mutex mutex;
  std::condition_variable work; ///< wakes the thread: items, or the end
  std::condition_variable turn; ///< wakes attend(): a task is over
  std::deque<Item> items;       ///< tasks that have not begun
  bool isAtWork = false, isEnding = false;
  std::thread thread;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_RUNQUEUE_H
