//===- TransposedWalk.h - elements that are read the other way --*- C++ -*-===//
//
//   %0 = weft.transpose %x [1, 0] : tensor<300x500xf32> -> tensor<500x300xf32>
//   %1 = weft.add %0, %y          : tensor<500x300xf32>
//   #nest.transposed<along = 0>
//
//   Threads that store adjacent elements of %1 load elements of %x that are 500
//   apart. A block takes 32 x 32 positions instead: it loads neighbours of %x,
//   keeps them in shared memory, and then stores neighbours of %1. A CPU walks
//   over the same tiles, whose lines stay in its first cache.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_NEST_TRANSPOSEDWALK_H
#define WEFT_DIALECTS_NEST_TRANSPOSEDWALK_H

#include "weft/dialects/nest/Nest.h"
#include "weft/dialects/nest/OpLoops.h"
#include "weft/dialects/nest/TargetLimits.h"

namespace weft::nest {

/// The positions of a tile along each of both dimensions; the elements from one
/// run in shared memory to the next.
inline constexpr int64_t kTurnedTile = 32, kTurnedStride = kTurnedTile + 1;
/// Positions along the turned dimension that a CPU walks for some columns, and
/// these columns: lines of rows that are far apart are fetched in runs. With
/// columns of one tile 2048 x 2048 numbers took 2.4 ms, with two 1.7, stored
/// without a tile in memory 1.15 (EPYC, one core).
inline constexpr int64_t kTurnedPart = 8 * kTurnedTile,
                         kTurnedColumns = 2 * kTurnedTile;

/// Values from which `stored` follows element by element at its own position
/// and whose elements are contiguous along the dimension `along` and not along
/// the last one. They have the shape of `stored` and are views of values in
/// memory or of values computed by element.
llvm::SetVector<mlir::Value> turnedValues(mlir::ValueRange stored,
                                          int64_t along, IsInMemory isInMemory);
/// The number of tiles in each dimension of the shape: one position of all but
/// two.
llvm::SmallVector<int64_t> turnedTiles(llvm::ArrayRef<int64_t> shape,
                                       int64_t along);
/// Bytes of shared memory for a tile of each value, rounded up to a multiple of
/// 16.
int64_t turnedBytes(mlir::Value value);
/// Whether a CPU transposes tiles of a turned value in registers: it is in
/// memory, and vectors of its elements of 4 or 8 bytes divide a tile.
bool isTurnedByVectors(mlir::Value value, int64_t along, int64_t vectorBytes,
                       IsInMemory isInMemory);
/// Chooses #nest.transposed along the dimension in which most bytes are
/// contiguous, if both dimensions have half a tile at least, the tiles fit in
/// shared memory, and the elements do not fit in a CPU's first cache; else null.
TransposedAttr chooseTransposed(mlir::ValueRange stored,
                                const TargetLimits &limits,
                                IsInMemory isInMemory);

} // namespace weft::nest

#endif // WEFT_DIALECTS_NEST_TRANSPOSEDWALK_H
