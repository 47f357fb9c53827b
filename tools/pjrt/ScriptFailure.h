//===- ScriptFailure.h - exceptions of the script's functions ---*- C++ -*-===//
//
// A function of the script that the plugin calls, by jax_plugins/weft, sets the
// text of its exception before it returns, on the thread that called it:
//
//   weft_pjrt_set_failure("Traceback ...");   // Python
//   takeScriptFailure()                       // the caller, on this thread
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_PJRT_SCRIPTFAILURE_H
#define WEFT_TOOLS_PJRT_SCRIPTFAILURE_H

#include <string>

namespace weft::pjrt {

/// The text that was set on this thread since the last call; empty for none.
std::string takeScriptFailure();

} // namespace weft::pjrt

#endif // WEFT_TOOLS_PJRT_SCRIPTFAILURE_H
