//===- AbsentElement.h - the summand that changes no sum --------*- C++ -*-===//
//
// A value that one device of a group has becomes a sum over the group: the
// others contribute a number whose addition changes no bit of it. For floats
// that is -0:
//
//   x = -0 on device 0, 0 on device 1:     -0 + 0 = 0
//   x = -0 on device 0, -0 on device 1:    -0 + -0 = -0, and x + -0 = x
//
// The initial value of a reduction, which is its result for no elements, stays
// 0 (neutralElement).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_LOCAL_ABSENTELEMENT_H
#define WEFT_DIALECTS_WEFT_LOCAL_ABSENTELEMENT_H

#include "weft/dialects/weft/Weft.h"

namespace weft {

/// The contribution of a device without elements to a reduction across devices:
/// the neutral element, except that sums of floats have -0, or 0 if the type
/// has no -0; complex numbers have the contribution of each component.
mlir::TypedAttr absentElement(ReduceKind kind, mlir::Type elementType);
/// Data whose every element is absent.
mlir::DenseElementsAttr absentData(ReduceKind kind,
                                   mlir::RankedTensorType type);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_LOCAL_ABSENTELEMENT_H
