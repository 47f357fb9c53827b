//===- HostCalls.h - programs call Python back ------------------*- C++ -*-===//
//
// jax_plugins/weft/callbacks.py hands in one function, which knows all Python
// functions by number. It returns null, or what went wrong, in memory of its
// own that lasts until its next call.
//
//   weft_pjrt_set_host(function);           // once
//   host_call 7 of a program                // function(7, operands, ...)
//   takeHostFailure()                       // after the run
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_PJRT_TRANSFERS_HOSTCALLS_H
#define WEFT_TOOLS_PJRT_TRANSFERS_HOSTCALLS_H

#include "weft/runtime/abi/weft.h"

#include <string>

struct PJRT_Client;

namespace weft::pjrt {

/// Lets programs of a client's runtime call Python, and the callbacks of the
/// client's run at hand (HostTransfers.h).
void answerHostCalls(PJRT_Client &client, weft_runtime *runtime);
/// The message of a function that failed in the last run, or empty. Later calls of
/// that run were left out.
std::string takeHostFailure();
/// Is this thread inside such a call? The devices are busy with it.
bool isAnsweringHostCall();

} // namespace weft::pjrt

#endif // WEFT_TOOLS_PJRT_TRANSFERS_HOSTCALLS_H
