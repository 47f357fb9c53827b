//===- HostCalls.h - programs call Python back ------------------*- C++ -*-===//
//
// jax_plugins/weft/callbacks.py registers one function, which finds Python
// functions by number and sets the text of an exception (ScriptFailure.h). The
// first failure of a run belongs to the run (HostTransfers.h).
//
//   weft_pjrt_set_host(function);           // once
//   host_call 7 of a program                // function(7, operands, ...)
//   weft_pjrt_end_host_calls();             // before the interpreter ends
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
/// Whether this thread is inside a call of Python or a transfer, during which
/// the devices wait.
bool isAnsweringHostCall();

} // namespace weft::pjrt

#endif // WEFT_TOOLS_PJRT_TRANSFERS_HOSTCALLS_H
