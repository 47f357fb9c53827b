//===- UpdatedOperand.h - ops that change a part of an operand --*- C++ -*-===//
//
//   %c2 = weft.dynamic_update_slice %c, %row at (%i, %zero)
//
// is a copy of %c in which a row is replaced. Alone in a kernel, it writes that
// row and nothing else, in the memory of the argument with weft.updated:
//
//   func.func private @update(%c: tensor<64x8xf32> {weft.updated = 0 : i64},
//                             %row: ..., %i: ...) -> tensor<64x8xf32>
//
// A launch passes one buffer as argument %c and as result 0. If a later op
// needs the old %c, the plan copies it to the result's buffer before the
// launch.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_UPDATEDOPERAND_H
#define WEFT_DIALECTS_WEFT_UPDATEDOPERAND_H

#include "mlir/IR/OpDefinition.h"

#include <optional>

#include "weft/dialects/weft/UpdatedOperand.h.inc"

namespace weft {

/// On an argument of a kernel: the number of the result that is written in its
/// memory (i64).
inline constexpr llvm::StringLiteral kUpdatedAttr = "weft.updated";

/// The operand of which the op's result is a copy with changed elements; null
/// for other ops.
mlir::OpOperand *updatedOperand(mlir::Operation *op);
/// Whether the op writes its result in the memory of its kernel's argument.
bool updatesInPlace(mlir::Operation *op);
/// Whether the op's own loops compute its results: the op has the trait
/// OwnLoopNest, or updates in place.
bool hasLoopsOfItsOwn(mlir::Operation *op);
/// The kernel's argument in whose memory the kernel writes a result.
std::optional<unsigned> updatedArgument(mlir::Operation *kernel,
                                        unsigned result);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_UPDATEDOPERAND_H
