//===- TicketLog.h - the enqueued work of a runtime -------------*- C++ -*-===//
//
//   uint64_t number = log.add(ticket);      // 1, 2, 3, ...
//   log.of(number).wait();                  // done, if it is forgotten by now
//   log.last().wait();                      // and so all that was added
//
// Work ends in the order of its numbers, so one number of a buffer is enough to
// know when its use is over. Shared by a runtime and its buffers, which may
// outlive it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_TICKETLOG_H
#define WEFT_RUNTIME_DEVICES_TICKETLOG_H

#include "weft/runtime/devices/Ticket.h"

#include <cstdint>
#include <deque>
#include <mutex>

namespace weft::runtime {

class TicketLog {
public:
  uint64_t add(const Ticket &ticket) {
    std::lock_guard<std::mutex> guard(mutex);
    for (; !tickets.empty() && tickets.front().isDone(); ++first)
      tickets.pop_front();
    tickets.push_back(ticket);
    return first + tickets.size() - 1;
  }
  /// The ticket of a number; a finished one for 0, which is no number.
  Ticket of(uint64_t number) const {
    std::lock_guard<std::mutex> guard(mutex);
    return number < first ? Ticket() : tickets[size_t(number - first)];
  }
  Ticket last() const {
    std::lock_guard<std::mutex> guard(mutex);
    return tickets.empty() ? Ticket() : tickets.back();
  }

private:
  mutable std::mutex mutex;
  uint64_t first = 1; ///< the number of the first in `tickets`
  std::deque<Ticket> tickets;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_TICKETLOG_H
