//===- LinearAlgebraOps.h - factorisation and solving -----------*- C++ -*-===//

#ifndef WEFT_DIALECTS_WEFT_OPS_LINEARALGEBRAOPS_H
#define WEFT_DIALECTS_WEFT_OPS_LINEARALGEBRAOPS_H

#include "weft/base/lapack/Call.h"
#include "weft/dialects/weft/Weft.h"

#include "weft/dialects/weft/ops/LinearAlgebraEnums.h.inc"
#define GET_OP_CLASSES
#include "weft/dialects/weft/ops/LinearAlgebraOps.h.inc"

namespace weft {
/// Builds the transform of as many last dimensions as there are lengths, as
/// stablehlo.fft; for RFFT and IRFFT the last of these dimensions is halved.
mlir::Value buildFft(mlir::OpBuilder &builder, mlir::Location loc, FftKind kind,
                     mlir::Value input, llvm::ArrayRef<int64_t> lengths);
} // namespace weft

#endif // WEFT_DIALECTS_WEFT_OPS_LINEARALGEBRAOPS_H
