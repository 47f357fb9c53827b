//===- ElementTypes.h - element types by PJRT's numbers ---------*- C++ -*-===//
//
//   elementType(BufferType(14))->numpy    // complex64
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_PJRT_ELEMENTTYPES_H
#define WEFT_TOOLS_PJRT_ELEMENTTYPES_H

#include "weft/base/ElementTypes.h"
#include "weft/tools/pjrt/Abi.h"

#include <string>

namespace weft::pjrt {

/// The element type; null if arrays of it are not supported.
const ElementFacts *elementType(BufferType type);

/// The names of supported types: float32, int8, ...
std::string elementTypeNames();

} // namespace weft::pjrt

#endif // WEFT_TOOLS_PJRT_ELEMENTTYPES_H
