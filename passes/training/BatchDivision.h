//===- BatchDivision.h - one op on a part of the batch ----------*- C++ -*-===//
//
// Rows of a batch of 32 flow through an op by the factors of its sharding rule:
//
//   x: rows in dimension 0    weft.dot %x, %w contract [1] x [0]
//   ([b, k], [k, n]) -> ([b, n])              the result has rows in dimension 0
//
//   x, g: rows                weft.dot %x, %g contract [0] x [0]
//   ([b, k], [b, n]) -> ([k, n]) reduce={b}   the result is a summand
//
// A dimension may hold the batch between other factors: a reshape of 32x28x28 to
// 25088 has rows in 1 x 32 x 784.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_TRAINING_BATCHDIVISION_H
#define WEFT_PASSES_TRAINING_BATCHDIVISION_H

#include "weft/dialects/weft/InterleavedRows.h"
#include "weft/dialects/weft/Weft.h"

#include <optional>

namespace weft {

/// What a microbatch has of a value.
struct BatchPart {
  enum Kind : uint8_t {
    Whole,   ///< the value, which does not depend on the batch
    Rows,    ///< the rows of its samples
    Summand, ///< its contribution to a reduction over all samples
    Later,   ///< nothing: the value is known after the last microbatch
  };
  Kind kind = Whole;
  BatchRows rows;
  ReduceKind reduce = ReduceKind::Sum;

  static BatchPart ofRows(BatchRows rows) { return {Rows, rows}; }
  static BatchPart ofSummand(ReduceKind reduce) {
    return {Summand, {}, reduce};
  }
  static BatchPart later() { return {Later, {}, ReduceKind::Sum}; }
  bool operator==(const BatchPart &) const = default;
};

/// An op that computes on rows.
struct OpDivision {
  /// The rows that it takes of each operand; nothing for operands that it takes
  /// as they are.
  llvm::SmallVector<std::optional<BatchRows>> operands;
  llvm::SmallVector<BatchPart> results;
  bool isReduced = false; ///< whether it combines rows, by `reduce`
  ReduceKind reduce = ReduceKind::Sum;
  llvm::SmallVector<unsigned, 1> inits; ///< operands that it accumulates into
};

using PartOf = llvm::function_ref<BatchPart(mlir::Value)>;

/// The division of an op with rows among its operands, or nothing if it
/// combines rows in another way than by a reduction.
std::optional<OpDivision> divideByOperands(mlir::Operation *op, int64_t batch,
                                           PartOf partOf);
/// The division of an op by which it computes rows of a result from rows of
/// operands; nothing if other rows take part in them.
std::optional<OpDivision> divideByResult(mlir::OpResult result,
                                         const BatchRows &rows, int64_t batch);

/// The part of the result of an op with summands among its operands, in which
/// it is linear, or nothing. Whole operands for which `joins` is set are
/// summands, too, of which one microbatch has the value.
struct SummandPassing {
  BatchPart result;
  llvm::SmallVector<bool> joins;
};
std::optional<SummandPassing> passSummands(mlir::Operation *op, PartOf partOf);

/// The type of the rows of one microbatch.
mlir::RankedTensorType typeOfRows(mlir::Type type, const BatchRows &at,
                                  int64_t share);

} // namespace weft

#endif // WEFT_PASSES_TRAINING_BATCHDIVISION_H
