//===- FetchedOperands.h - window and shift factors -------------*- C++ -*-===//
//
// A sharded dimension whose positions move: every device receives the operand
// positions that its part of the result needs, and no others, whatever number
// of devices hold them. 8 elements over "x"=2 seen by windows of 3 with one
// element of padding (position p needs p - 1, p, p + 1):
//
//   result block of 4 at 4k  needs the 6 elements from 4k - 1 on
//   coll.fetch of 8 at block 4 step 1 offset -1 ... -> tensor<6xf32>
//   select 0 <= 4k - 1 + t < 8, fetched, 0      the padding
//
// A shift needs one element for each element of the result: positions then
// step as the PositionMap says (reverse: -1, stride 2: 2), and the fetched
// operand lies as the result does.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_FETCHEDOPERANDS_H
#define WEFT_PASSES_SHARDING_FETCHEDOPERANDS_H

#include "weft/dialects/weft/Weft.h"

namespace weft {

/// Can the factor be sharded by fetching: does the rule say which positions of
/// every operand are needed, without knowing data?
bool isFetchable(const ShardingRule &rule, unsigned factor);

/// The positions of one operand's factor; null where it has none.
const PositionMap *findPositions(const ShardingRule &rule, unsigned operand,
                                 unsigned factor);

/// Element t of shard k is the element at q with
/// divisor * q == block * k + step * t + offset (mod modulus), if it exists.
struct FetchedRange {
  int64_t block = 0, step = 1, offset = 0, divisor = 1, modulus = 0;
  int64_t count = 0;
  /// Every element that a result looks at exists.
  bool complete = false;
};
/// The positions of an operand dimension of size `from` that each of `shards`
/// shards of a result dimension of size `to` needs: one element for each position
/// of a shift factor, else all from the first to the last.
FetchedRange fetchedRange(const PositionMap &map, FactorKind kind, int64_t from,
                          int64_t to, int64_t shards);

/// Elements along the dimension that a device in the middle does not hold.
int64_t missingElements(const FetchedRange &range, int64_t from,
                        int64_t shards);

/// One dimension of an operand's block: its global size and axes.
struct FetchedDim {
  unsigned dim = 0;
  int64_t size = 0;
  MeshAttr mesh;
  SubAxes axes;
};
/// The block with the range in place of its own part of the dimension; what
/// does not exist is `fill` (one element), or undefined where that is null.
mlir::Value fetchRange(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value block, const FetchedDim &dim,
                       const FetchedRange &range, mlir::Value fill,
                       mlir::StringAttr reason);

} // namespace weft

#endif // WEFT_PASSES_SHARDING_FETCHEDOPERANDS_H
