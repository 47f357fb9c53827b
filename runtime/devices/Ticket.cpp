#include "weft/runtime/devices/Ticket.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <vector>

namespace weft::runtime {

struct Ticket::State {
  std::mutex mutex;
  std::condition_variable change;
  /// Stored with release and loaded with acquire: `result` is written before the
  /// store, and never after it.
  std::atomic<bool> isDone{false};
  Status result;
  std::vector<Callback> callbacks; ///< guarded by the mutex
};

static thread_local int callbacksAtWork = 0;

static void call(const Ticket::Callback &callback,
                 const Status &result) noexcept {
  ++callbacksAtWork;
  callback(result);
  --callbacksAtWork;
}

bool Ticket::isCallingBack() { return callbacksAtWork > 0; }

Ticket Ticket::open() {
  Ticket ticket;
  ticket.state = std::make_shared<State>();
  return ticket;
}

bool Ticket::isDone() const {
  return !state || state->isDone.load(std::memory_order_acquire);
}

Status Ticket::wait() const {
  if (!isDone()) {
    if (isCallingBack())
      return makeError(StatusCode::Deadlock,
                       "a callback of a ticket waits for work enqueued "
                       "behind it; give that ticket a callback instead");
    std::unique_lock<std::mutex> guard(state->mutex);
    state->change.wait(guard, [this] { return isDone(); });
  }
  return state ? state->result : Status();
}

void Ticket::onReady(Callback callback) const {
  if (!isDone()) {
    std::lock_guard<std::mutex> guard(state->mutex);
    if (!isDone()) {
      state->callbacks.push_back(std::move(callback));
      return;
    }
  }
  call(callback, state ? state->result : Status());
}

void Ticket::settle(Status result) const {
  std::vector<Callback> callbacks;
  {
    std::lock_guard<std::mutex> guard(state->mutex);
    state->result = std::move(result);
    state->isDone.store(true, std::memory_order_release);
    callbacks.swap(state->callbacks);
  }
  state->change.notify_all();
  for (const Callback &callback : callbacks)
    call(callback, state->result);
}

} // namespace weft::runtime
