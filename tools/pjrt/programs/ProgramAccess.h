//===- ProgramAccess.h - programs as the plugin's Python finds them -*- C++ -*-===//
//
// What jaxlib has no function for is asked of this library, by the fingerprint of
// an executable.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_PJRT_PROGRAMS_PROGRAMACCESS_H
#define WEFT_TOOLS_PJRT_PROGRAMS_PROGRAMACCESS_H

#include "weft/tools/pjrt/Objects.h"

namespace weft::pjrt {

/// Found by its fingerprint as long as it lives.
void rememberExecutable(const std::shared_ptr<const Executable> &executable);

} // namespace weft::pjrt

#endif // WEFT_TOOLS_PJRT_PROGRAMS_PROGRAMACCESS_H
