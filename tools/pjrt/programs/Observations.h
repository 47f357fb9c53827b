//===- Observations.h - the script asks where values lie --------*- C++ -*-===//
//
// jax.debug.inspect_array_sharding: jax_plugins/weft/observations.py hands in one
// function, which knows who asked under a name. It is told whenever JAX gets a
// program, compiled or found again in memory or on disk; it returns null, or
// what went wrong, in memory of its own that lasts until its next call.
//
//   weft_pjrt_set_observer(function);         // once
//   [{"data"}, {}] of 8 devices, two a tile   // function("3:f.py:12", {4,1,2}, 3, {0,1,...}, 8, 1)
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_PJRT_PROGRAMS_OBSERVATIONS_H
#define WEFT_TOOLS_PJRT_PROGRAMS_OBSERVATIONS_H

#include "weft/tools/pjrt/Objects.h"

namespace weft::pjrt {

/// An error of a function of the script, or null.
PJRT_Error *reportObservations(const LoadedProgram &program);

} // namespace weft::pjrt

#endif // WEFT_TOOLS_PJRT_PROGRAMS_OBSERVATIONS_H
