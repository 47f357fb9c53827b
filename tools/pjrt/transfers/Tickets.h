//===- Tickets.h - the runtime's errors and tickets -------------*- C++ -*-===//
//
//   weft_ticket *ticket = nullptr;
//   std::string why = takeMessage(weft_device_copy(..., &ticket));
//   whenDone(ticket, [=](const std::string &why) { ... });   // "": all is well
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_PJRT_TRANSFERS_TICKETS_H
#define WEFT_TOOLS_PJRT_TRANSFERS_TICKETS_H

#include "weft/runtime/abi/weft.h"

#include <functional>
#include <string>

namespace weft::pjrt {

/// The message of an error, which is freed; empty for none.
std::string takeMessage(weft_error *error);
/// Frees the ticket, and calls back with its message when it is done: on a
/// thread of the runtime, before later work begins, or here.
void whenDone(weft_ticket *ticket,
              std::function<void(const std::string &)> callback);
/// Whether this thread is inside such a callback.
bool isRunEnding();

} // namespace weft::pjrt

#endif // WEFT_TOOLS_PJRT_TRANSFERS_TICKETS_H
