//===- ElementTypes.h - element types of JAX and of plans -------*- C++ -*-===//
//
//   NumPy      PJRT's number  bytes  a plan's  XLA's number
//   complex64             14      8  c64                 15
//   bool                   1      1  i1                   1
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_PJRT_ELEMENTTYPES_H
#define WEFT_TOOLS_PJRT_ELEMENTTYPES_H

#include "weft/tools/pjrt/Abi.h"

#include "weft/runtime/abi/plan_generated.h"

#include <string>

namespace weft::pjrt {

struct ElementType {
  BufferType type;
  plan::DType planned;
  size_t bytes;
  const char *name; ///< NumPy's name
  int primitive;    ///< XLA's PrimitiveType
};

/// The element type; null if arrays of it are not supported.
const ElementType *elementType(BufferType type);
const ElementType &elementType(plan::DType type);

/// The names of supported types: bool, int8, ...
std::string elementTypeNames();

} // namespace weft::pjrt

#endif // WEFT_TOOLS_PJRT_ELEMENTTYPES_H
