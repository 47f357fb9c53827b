//===- RowWalk.h - kernels that go row by row -------------------*- C++ -*-===//
//
// A softmax of rows
//
//   %0 = weft.reduce max %x dims [1]     : tensor<8x10xf32> -> tensor<8xf32>
//   %1 = weft.broadcast %0 dims [0]      : tensor<8xf32> -> tensor<8x10xf32>
//   %2 = weft.sub %x, %1                 : tensor<8x10xf32>
//   ...                                    rows of 1 dimension
//
// walks over 8 rows: results of a row depend on this row only.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_NEST_ROWWALK_H
#define WEFT_DIALECTS_NEST_ROWWALK_H

#include "weft/dialects/nest/TargetLimits.h"

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/ValueRange.h"

#include <optional>
#include <string>

namespace weft::nest {

class LoopsOp;
class RowsAttr;
class SumsAttr;

/// Whether `ops`, in program order, can be computed row by row; the first
/// `dims` dimensions number the rows. Sets `why` if not.
bool checkRowWalk(llvm::ArrayRef<mlir::Operation *> ops,
                  mlir::ValueRange stored, int64_t dims, std::string &why);
/// The number of dimensions that number the rows of the reductions among `ops`;
/// nothing without reductions.
std::optional<int64_t> rowDimsOf(llvm::ArrayRef<mlir::Operation *> ops);
/// The op that combines terms, if no other op has loops and all stored values
/// are its sums or follow from them at the same position: a thread may compute
/// an element. Null, with the reason in `why`, if there is none.
mlir::Operation *sumOf(llvm::ArrayRef<mlir::Operation *> ops,
                       mlir::ValueRange stored, std::string &why);
/// The op with its own loops whose results are the stored values, if no
/// other op has loops. Null, with the reason in `why`, if there is none.
mlir::Operation *ownOf(llvm::ArrayRef<mlir::Operation *> ops,
                       mlir::ValueRange stored, std::string &why);
/// The number of terms that an element of the op's result combines.
int64_t termsOf(mlir::Operation *sum);
/// The columns side by side that a lane takes of such a row: as many as the walk
/// says of the longest rows, and of shorter ones what divides them.
int64_t columnsSideBySide(RowsAttr walk, llvm::ArrayRef<int64_t> columns);
/// The reason why lanes cannot keep, or take side by side, the walk's number of
/// columns; or empty.
std::string refuseHeld(LoopsOp loops, RowsAttr walk);
/// The terms from which on threads share a sum.
inline constexpr int64_t kManyTerms = 128;
/// #nest.sums for an op that sumOf found: a thread for some elements, or several
/// threads if there are few elements with many terms.
mlir::Attribute chooseTerms(mlir::Operation *sum, const TargetLimits &limits,
                            int64_t manyTerms = kManyTerms);
/// The reason why threads cannot share the terms of the stored values so; or
/// empty.
std::string refuseTerms(SumsAttr walk, mlir::ValueRange stored,
                        const TargetLimits &limits);
/// Whether one nest can compute `ops` and store `stored`: row by row if there
/// are reductions, by terms or by an op's own loops if one op has them, else by
/// elements. Sets `why` if not.
bool fitsOneNest(llvm::ArrayRef<mlir::Operation *> ops, mlir::ValueRange stored,
                 std::string &why);
/// The ops of a block without its terminator.
llvm::SmallVector<mlir::Operation *> opsOf(mlir::Block &block);

} // namespace weft::nest

#endif // WEFT_DIALECTS_NEST_ROWWALK_H
