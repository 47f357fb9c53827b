//===- ScriptLapack.h - the LAPACK of the script's process ------*- C++ -*-===//
//
// jax_plugins/weft/lapack.py gives the addresses of SciPy's routines when a
// program first needs one, as jaxlib takes them.
//
//   weft_pjrt_set_lapack(source, names, addresses, count);   // once
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_PJRT_PROGRAMS_SCRIPTLAPACK_H
#define WEFT_TOOLS_PJRT_PROGRAMS_SCRIPTLAPACK_H

#include "weft/runtime/abi/weft.h"

namespace weft::pjrt {

/// Gives the runtime the routines, if the script has given any since `given`,
/// which is then set.
void giveLapack(weft_runtime *runtime, bool &given);

} // namespace weft::pjrt

#endif // WEFT_TOOLS_PJRT_PROGRAMS_SCRIPTLAPACK_H
