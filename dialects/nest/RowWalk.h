//===- RowWalk.h - kernels that go row by row -------------------*- C++ -*-===//
//
// A softmax of rows
//
//   %0 = weft.reduce max %x dims [1]     : tensor<8x10xf32> -> tensor<8xf32>
//   %1 = weft.broadcast %0 dims [0]      : tensor<8xf32> -> tensor<8x10xf32>
//   %2 = weft.sub %x, %1                 : tensor<8x10xf32>
//   ...                                    rows of 1 dimension
//
// walks over 8 rows: all that a row's results need is in the row itself.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_NEST_ROWWALK_H
#define WEFT_DIALECTS_NEST_ROWWALK_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/ValueRange.h"

#include <optional>
#include <string>

namespace weft::nest {

/// Can `ops`, in program order, be computed row by row, the first `dims`
/// dimensions numbering the rows? The reason in `why` if not.
bool checkRowWalk(llvm::ArrayRef<mlir::Operation *> ops,
                  mlir::ValueRange stored, int64_t dims, std::string &why);
/// How many dimensions number the rows of the reductions among `ops`; nothing
/// where there are none.
std::optional<int64_t> rowDimsOf(llvm::ArrayRef<mlir::Operation *> ops);
/// The op that combines terms, where no other has loops and all that is stored
/// are its sums and what follows from each at its own position: a thread may
/// compute an element. Null, with the reason.
mlir::Operation *sumOf(llvm::ArrayRef<mlir::Operation *> ops,
                       mlir::ValueRange stored, std::string &why);
/// The op with loops of its own whose results are all that is stored, where the
/// others have no loops. Null, with the reason.
mlir::Operation *ownOf(llvm::ArrayRef<mlir::Operation *> ops,
                       mlir::ValueRange stored, std::string &why);
/// How many terms an element of such a sum is combined from.
int64_t termsOf(mlir::Operation *sum);
/// Can one nest compute `ops` and store `stored`: row by row where there are
/// reductions, by terms or by loops of its own where one op has them, by elements
/// otherwise? The reason in `why` if not.
bool fitsOneNest(llvm::ArrayRef<mlir::Operation *> ops, mlir::ValueRange stored,
                 std::string &why);
/// The ops of a block without its terminator.
llvm::SmallVector<mlir::Operation *> opsOf(mlir::Block &block);

} // namespace weft::nest

#endif // WEFT_DIALECTS_NEST_ROWWALK_H
