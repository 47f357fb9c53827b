#include "weft/runtime/devices/RunQueue.h"

namespace weft::runtime {

RunQueue::~RunQueue() {
  std::unique_lock<std::mutex> guard(mutex);
  isEnding = true;
  work.notify_all();
  if (thread.joinable()) {
    guard.unlock();
    thread.join();
    guard.lock();
  }
  while (!items.empty()) // only if there was no thread
    runFirst(guard);
}

Ticket RunQueue::add(Task task, bool isAwaited) {
  Ticket ticket = Ticket::open();
  {
    std::lock_guard<std::mutex> guard(mutex);
    if (!isAwaited && !thread.joinable())
      thread = std::thread([this] { loop(); });
    items.push_back({std::move(task), ticket});
  }
  if (!isAwaited)
    work.notify_one(); // after unlocking, as the thread needs the lock first
  return ticket;
}

void RunQueue::attend(const Ticket &ticket) {
  std::unique_lock<std::mutex> guard(mutex);
  while (!ticket.isDone()) {
    if (!isAtWork && !items.empty())
      runFirst(guard);
    else
      turn.wait(guard);
  }
}

void RunQueue::loop() {
  std::unique_lock<std::mutex> guard(mutex);
  for (;;) {
    work.wait(guard,
              [this] { return !isAtWork && (isEnding || !items.empty()); });
    if (items.empty())
      return;
    runFirst(guard);
  }
}

void RunQueue::runFirst(std::unique_lock<std::mutex> &guard) {
  isAtWork = true;
  Item item = std::move(items.front());
  items.pop_front();
  guard.unlock();
  Status result = caught([&] { return item.task(); });
  item.task = nullptr;
  item.ticket.settle(std::move(result));
  guard.lock();
  isAtWork = false;
  turn.notify_all();
  if (!items.empty() || isEnding)
    work.notify_one();
}

} // namespace weft::runtime
