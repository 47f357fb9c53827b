//===- InterleavedRows.h - every n-th row of a dimension --------*- C++ -*-===//
//
// A batch of 10 in 4 rounds, of which each takes 3 rows:
//
//   round 0: rows 0, 4, 8     round 2: rows 2, 6, -
//   round 1: rows 1, 5, 9     round 3: rows 3, 7, -
//
// Row i of round k is row i * 4 + k of the batch, so that a batch that lies in
// blocks on several devices stays there: each device has rows of every round.
// A dimension may hold a batch between others, as 2 x 10 x 3 = 60, major to
// minor, with `outer` = 2 and `inner` = 3.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_INTERLEAVEDROWS_H
#define WEFT_DIALECTS_WEFT_INTERLEAVEDROWS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

namespace weft {

/// Where a tensor has the batch: dimension `dim` is outer x batch x inner.
struct BatchRows {
  unsigned dim = 0;
  int64_t outer = 1, inner = 1;
  bool operator==(const BatchRows &) const = default;
};

/// The rows of one round.
struct InterleavedRows {
  BatchRows at;
  int64_t batch = 0, rounds = 1;
  mlir::Value round; ///< tensor<i32>

  /// Rows of a round, some of which may be past the batch's end.
  int64_t share() const { return (batch + rounds - 1) / rounds; }
  /// The first round that has one row less; `rounds` if all have equally many.
  int64_t firstShort() const { return batch - (share() - 1) * rounds; }
  bool isEven() const { return firstShort() == rounds; }
};

/// The shape with its batch dimension split in outer, `rows` and inner; of
/// outer and inner only what is not 1. `position` is that of `rows`.
struct SplitShape {
  llvm::SmallVector<int64_t> sizes;
  unsigned position = 0;
};
SplitShape splitAt(llvm::ArrayRef<int64_t> shape, const BatchRows &at,
                   llvm::ArrayRef<int64_t> rows);

} // namespace weft

#include "weft/dialects/weft/InterleavedRows.h.inc"

namespace weft {
/// Attaches the interface to the ops of the dialect that count.
void attachInterleavedRows(mlir::MLIRContext &context);
} // namespace weft

#endif // WEFT_DIALECTS_WEFT_INTERLEAVEDROWS_H
