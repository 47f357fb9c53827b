//===- ProgramAccess.h - programs as the plugin's Python finds them -*- C++ -*-===//
//
// Functions that jaxlib lacks, which find an executable by its fingerprint.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_PJRT_PROGRAMS_PROGRAMACCESS_H
#define WEFT_TOOLS_PJRT_PROGRAMS_PROGRAMACCESS_H

#include "weft/tools/pjrt/Objects.h"

namespace weft::pjrt {

/// Makes the executable findable by its fingerprint as long as it exists.
void rememberExecutable(const std::shared_ptr<const Executable> &executable);

} // namespace weft::pjrt

#endif // WEFT_TOOLS_PJRT_PROGRAMS_PROGRAMACCESS_H
