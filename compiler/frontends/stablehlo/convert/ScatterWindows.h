//===- ScatterWindows.h - windows that a scatter writes whole ---*- C++ -*-===//
//
// XLA leaves out a window of updates that is partly outside of the tensor, and
// weft.scatter only its elements outside:
//
//   4 rows, a window of 2 rows at row 3:   XLA writes nothing
//                                          weft.scatter writes row 3
//
// Programs of StableHLO are written for XLA, and JAX's mode "drop" relies on
// it. The front end therefore moves the index of such a window to a place where
// the whole window is outside. The form of one device keeps weft.scatter's
// meaning, as a device's part of a tensor cuts windows that are inside.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_SCATTERWINDOWS_H
#define WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_SCATTERWINDOWS_H

#include "weft/compiler/frontends/stablehlo/convert/Converter.h"

namespace weft::stablehlo {

/// The dimension numbers of a scatter.
struct ScatterDims {
  Ints window, inserted, batching, indexBatching, toOperand;
  int64_t vector = 0;

  static ScatterDims of(ForeignOp op);
  /// The extents of a window in the tensor's dimensions; nothing if there are
  /// other than its dimensions in the updates.
  std::optional<Ints> windowSizes(mlir::RankedTensorType tensor,
                                  mlir::RankedTensorType updates) const;
};

/// The indices, for whole windows; the same value if each window is one
/// position of the dimensions that have an index, or the dimension numbers do
/// not fit, which weft.scatter's verifier reports.
Value indicesOfWholeWindows(Converter &c, ForeignOp op, Value tensor,
                            Value indices, Value updates,
                            const ScatterDims &dims);

} // namespace weft::stablehlo

#endif // WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_SCATTERWINDOWS_H
