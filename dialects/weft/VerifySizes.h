//===- VerifySizes.h - programs whose sizes can be counted ------*- C++ -*-===//
//
//   func.func @main(%x: tensor<4611686018427387904x4xf32> ...)
//
//   error: argument "x" of shape [4611686018427387904, 4] has
//          73786976294838206464 bytes, but a tensor has at most
//          9007199254740992; make a dimension smaller
//
// Front ends check the programs that they read, and each stage border checks
// again, so that no pass adds or multiplies sizes beyond 64 bits.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_VERIFYSIZES_H
#define WEFT_DIALECTS_WEFT_VERIFYSIZES_H

#include "mlir/IR/Operation.h"

namespace weft {

/// Emits an error at the first value under the op that has more than
/// kMostBytes, or with which the sum of all bytes exceeds kMostProgramBytes.
llvm::LogicalResult verifySizes(mlir::Operation *root);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_VERIFYSIZES_H
