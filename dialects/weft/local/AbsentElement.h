//===- AbsentElement.h - what adds nothing to others' sums ------*- C++ -*-===//
//
// A value that one device of a group has becomes a sum over the group: the
// others contribute what changes none of its bits. Of floats that is -0:
//
//   x = -0 on device 0, 0 on device 1:     -0 + 0 = 0
//   x = -0 on device 0, -0 on device 1:    -0 + -0 = -0, and x + -0 = x
//
// What a reduction starts from, and gives of nothing, stays 0 (neutralElement).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_LOCAL_ABSENTELEMENT_H
#define WEFT_DIALECTS_WEFT_LOCAL_ABSENTELEMENT_H

#include "weft/dialects/weft/Weft.h"

namespace weft {

/// The contribution of a device that has nothing of a reduction across
/// devices: the neutral element, but -0 to a sum of floats, or 0 where the type has no
/// -0; of complex numbers that of each part of a sum.
mlir::TypedAttr absentElement(ReduceKind kind, mlir::Type elementType);
/// Data of which every element is absent.
mlir::DenseElementsAttr absentData(ReduceKind kind,
                                   mlir::RankedTensorType type);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_LOCAL_ABSENTELEMENT_H
