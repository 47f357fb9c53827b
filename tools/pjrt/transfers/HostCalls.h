//===- HostCalls.h - programs call Python back ------------------*- C++ -*-===//
//
// jax_plugins/weft/callbacks.py registers one function, which finds Python
// functions by number. That function returns null, or an error in memory of its
// own that is valid until its next call.
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
/// client's current run (HostTransfers.h).
void answerHostCalls(PJRT_Client &client, weft_runtime *runtime);
/// The error of a function that failed in the last run, or empty. Later calls
/// of that run were skipped.
std::string takeHostFailure();
/// Whether this thread is inside a call of Python or a transfer, during which
/// the devices wait.
bool isAnsweringHostCall();

} // namespace weft::pjrt

#endif // WEFT_TOOLS_PJRT_TRANSFERS_HOSTCALLS_H
