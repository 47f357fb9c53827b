//===- FetchedOperands.h - window and shift factors -------------*- C++ -*-===//
//
// Fetches positions of a sharded dimension: every device receives, from any
// number of devices, the operand positions from the first to the last that its
// shard of the result needs. Worked example, 8 elements over "x"=2, read by
// windows of 3 with one element of padding (position p needs p - 1, p, p + 1):
//
//   result block of 4 at 4k  needs the 6 elements from 4k - 1 on
//   coll.fetch of 8 at block 4 step 1 offset -1 ... -> tensor<6xf32>
//   select 0 <= 4k - 1 + t < 8, fetched, 0      the padding
//
// A shift needs one element for each element of the result: positions then step
// as in the PositionMap (reverse: -1, stride 2: 2), and the fetched operand has
// the result's layout.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_FETCHEDOPERANDS_H
#define WEFT_PASSES_SHARDING_FETCHEDOPERANDS_H

#include "weft/dialects/weft/Weft.h"

namespace weft {

struct OpBlocks;
class BlockPlacement;

/// Whether the factor can be sharded by fetching: in each operand that has it,
/// it is alone in its dimension and the positions do not depend on data.
bool isFetchable(const ShardingRule &rule, unsigned factor);

/// The position map of a factor in one operand; null if there is none.
const PositionMap *findPositions(const ShardingRule &rule, unsigned operand,
                                 unsigned factor);

/// A range of fetched positions: element t of shard k is the element at q with
/// divisor * q == block * k + step * t + offset (mod modulus), if it exists.
struct FetchedRange {
  int64_t block = 0, step = 1, offset = 0, divisor = 1, modulus = 0;
  int64_t count = 0;
  /// Whether every element that a result reads exists.
  bool complete = false;
};
/// The positions of an operand dimension of size `from` that each of `shards`
/// shards of a result dimension of size `to` needs: one element for each
/// position of a shift factor, else all from the first to the last.
FetchedRange fetchedRange(const PositionMap &map, FactorKind kind, int64_t from,
                          int64_t to, int64_t shards);

/// A dimension of an operand's block: its global size and axes.
struct FetchedDim {
  unsigned dim = 0;
  int64_t size = 0;
  MeshAttr mesh;
  SubAxes axes;
};
/// Replaces the device's shard of the dimension by the range; elements that do
/// not exist are `fill` (one element), or undefined if `fill` is null.
mlir::Value fetchRange(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value block, const FetchedDim &dim,
                       const FetchedRange &range, mlir::Value fill,
                       mlir::StringAttr reason);

/// Whether partitioning fetches the positions of a map before the op; the op
/// itself moves what else it lacks.
bool isFetchedBefore(const ShardingRule &rule, const PositionMap &map);
/// Fetches, for factors with positions (window, shift, some reduced ones), the
/// operand's positions that the device needs. Returns the number of fetches.
unsigned fetchOperand(mlir::OpBuilder &builder, const OpBlocks &blocks,
                      unsigned operand, BlockPlacement &placement,
                      llvm::MutableArrayRef<mlir::Value> operands);

} // namespace weft

#endif // WEFT_PASSES_SHARDING_FETCHEDOPERANDS_H
