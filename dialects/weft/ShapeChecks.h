//===- ShapeChecks.h - checks of shapes for verifiers of ops ----*- C++ -*-===//
//
//   checkEntries(op, "low", 1, 2)   'weft.pad' op low has 1 entries for 2 dimensions
//   checkShape(op, {4, 6})          ... the result's shape should be [4, 6], not [4, 5]
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_SHAPECHECKS_H
#define WEFT_DIALECTS_WEFT_SHAPECHECKS_H

#include "weft/dialects/weft/TensorType.h"
#include "weft/dialects/weft/rules/ShardingRule.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace weft {

/// The value's element type in another shape, without a layout.
mlir::RankedTensorType withShape(mlir::Value value,
                                 llvm::ArrayRef<int64_t> shape);

/// The sizes of the dimensions that are not in `dims`.
llvm::SmallVector<int64_t> withoutDims(llvm::ArrayRef<int64_t> shape,
                                       llvm::ArrayRef<int64_t> dims);

/// Checks that the result has this shape, in any layout.
llvm::LogicalResult checkShape(mlir::Operation *op,
                               llvm::ArrayRef<int64_t> expected,
                               unsigned result = 0);
/// Checks that there is one entry for each dimension of the input.
llvm::LogicalResult checkEntries(mlir::Operation *op, llvm::StringRef what,
                                 size_t entries, size_t rank);
/// Checks that `dim` is one of `rank` dimensions.
llvm::LogicalResult checkDim(mlir::Operation *op, int64_t dim, int64_t rank);
/// Checks that dims are in ascending order and in the rank.
llvm::LogicalResult checkRisingDims(mlir::Operation *op,
                                    llvm::ArrayRef<int64_t> dims, int64_t rank);

/// Checks the kind of reduction, or of scatter: complex numbers have sums and
/// products, but no order; only integers have `and` and `or`.
llvm::LogicalResult checkCombines(mlir::Operation *op, llvm::StringRef kind,
                                  mlir::Type elementType);
/// Checks that the result's element type is that of every operand or, for sums
/// and products, represents all of its numbers.
llvm::LogicalResult checkAccumulates(mlir::Operation *op);
/// The linearity of an op whose result is a sum of multiples of the operand. A
/// result of other integers is not linear: summands wrap at the operand's
/// width.
Linearity linearityOfSum(mlir::Value operand, mlir::Value result);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_SHAPECHECKS_H
