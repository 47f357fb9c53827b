//===- Observations.h - the script asks where values lie --------*- C++ -*-===//
//
// For jax.debug.inspect_array_sharding, jax_plugins/weft/observations.py
// registers one function, which finds the observer by a name. The function is
// called whenever JAX gets a program, compiled or found in memory or on disk;
// it sets the text of an exception (ScriptFailure.h).
//
//   weft_pjrt_set_observer(function);         // once
//   [{"data"}, {}] of 8 devices, two a tile   // function("3:f.py:12", {4,1,2}, 3, {0,1,...}, 8, 1)
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_PJRT_PROGRAMS_OBSERVATIONS_H
#define WEFT_TOOLS_PJRT_PROGRAMS_OBSERVATIONS_H

#include "weft/tools/pjrt/Objects.h"

namespace weft::pjrt {

/// Reports the observations of a program. Returns the error of a function of
/// the script, or null.
PJRT_Error *reportObservations(const LoadedProgram &program);

} // namespace weft::pjrt

#endif // WEFT_TOOLS_PJRT_PROGRAMS_OBSERVATIONS_H
