//===- Ticket.h - when something enqueued is over ---------------*- C++ -*-===//
//
// Enqueueing returns a ticket: it can be polled, waited for any number of
// times, and calls back. It carries the error, if there was one:
//
//   Ticket ticket = devices->enqueue(std::move(run));
//   ticket.onReady([](const Status &result) { ... });
//   if (Status ok = ticket.wait(); !ok) return ok;         // a copy of it
//
// The code that runs the work opens the ticket and settles it once:
//
//   Ticket ticket = Ticket::open();
//   ticket.settle(makeError(StatusCode::Deadlock, ...));
//
// Copies of a ticket are one ticket. It may outlive the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_TICKET_H
#define WEFT_RUNTIME_DEVICES_TICKET_H

#include "weft/runtime/program/Error.h"

#include <functional>
#include <memory>

namespace weft::runtime {

class WEFT_EXPORT Ticket {
public:
  /// Called with the result, which is valid as long as the ticket.
  using Callback = std::function<void(const Status &)>;

  /// A ticket of finished work, without an error.
  Ticket() = default;
  /// A ticket of work that is not finished until settle().
  static Ticket open();

  bool isDone() const;
  /// Waits; returns the error of the work, in every call. A callback must not
  /// wait, as later work waits for it: an error there, unless the ticket is
  /// done.
  Status wait() const;
  /// Calls back once: at once if the ticket is done, else on the thread that
  /// settles it, in order of addition and before later work begins. An
  /// exception ends the process.
  void onReady(Callback callback) const;
  /// Settles the ticket, once only: wakes waiting threads, then calls back.
  void settle(Status result) const;

  /// Whether this thread is inside a callback.
  static bool isCallingBack();

private:
  struct State;
  std::shared_ptr<State> state; ///< null: the work is done
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_TICKET_H
