//===- TicketCalls.cpp - tickets in the C ABI -----------------------------===//

#include "weft/runtime/devices/Runtime.h"

using namespace weft::runtime;

extern "C" {

WEFT_EXPORT int weft_ticket_poll(const weft_ticket *ticket) {
  return !ticket || ticket->ticket.isDone();
}

WEFT_EXPORT weft_error *weft_ticket_wait(const weft_ticket *ticket) {
  return guarded([&] { return ticket ? ticket->ticket.wait() : Status(); });
}

WEFT_EXPORT weft_error *weft_ticket_on_ready(const weft_ticket *ticket,
                                             weft_ready_fn ready, void *user) {
  return guarded([&]() -> Status {
    if (!ready)
      return makeError(StatusCode::InvalidArgument, "null argument");
    (ticket ? ticket->ticket : Ticket())
        .onReady([ready, user](const Status &result) {
          weft_error *error = toC(result);
          ready(user, error);
          weft_error_free(error);
        });
    return {};
  });
}

WEFT_EXPORT void weft_ticket_free(weft_ticket *ticket) { delete ticket; }
}
