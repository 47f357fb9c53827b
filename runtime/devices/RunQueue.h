//===- RunQueue.h - tasks in the order in which they were added -*- C++ -*-===//
//
//   RunQueue queue;
//   Ticket first = queue.add(task, /*isAwaited=*/false);  // on the queue's thread
//   Ticket second = queue.add(task, /*isAwaited=*/true);
//   queue.attend(second);     // here: first, if nobody has begun it, then second
//
// One task is at work at a time. Who waits for one runs it himself, and what is
// in front of it, unless another thread is at it: a caller that waits for each of
// its runs pays for no thread. The queue's own starts when it is needed first.
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
  using Task = std::function<Error()>;

  /// Runs what is left.
  ~RunQueue();
  /// The ticket gets what the task returns, once what the task holds is freed.
  /// `isAwaited`: attend() follows, so that the queue's thread need not wake.
  Ticket add(Task task, bool isAwaited);
  /// Returns when the ticket, one of this queue's, is done.
  void attend(const Ticket &ticket);

private:
  struct Item {
    Task task;
    Ticket ticket;
  };
  void loop();
  /// Runs the first item, which is there, without the lock.
  void runFirst(std::unique_lock<std::mutex> &guard);

  std::mutex mutex;
  std::condition_variable work; ///< for the thread: items, or the end
  std::condition_variable turn; ///< for attend(): a task is over
  std::deque<Item> items;       ///< not begun
  bool isAtWork = false, isEnding = false;
  std::thread thread;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_RUNQUEUE_H
