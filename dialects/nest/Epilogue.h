//===- Epilogue.h - ops on the sums of a loop nest --------------*- C++ -*-===//
//
// A nest whose op has loops may apply elementwise ops to the sums:
//
//   nest.loops #nest.contraction<packed, ...> to [#nest.place<result 0>] {
//     %0 = weft.dot %x, %w ...            sums, in registers
//     %1 = weft.broadcast %b dims [1]
//     %2 = weft.add %0, %1                the epilogue, on a tile of sums
//     %3 = weft.relu %2
//     nest.store %3                       the sums are never in memory
//   }
//
// A nest that adds up block by block stores the sums of the first blocks, too,
// until the last block. They may be in the memory of an epilogue's value.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_NEST_EPILOGUE_H
#define WEFT_DIALECTS_NEST_EPILOGUE_H

#include "weft/dialects/nest/Nest.h"

namespace weft::nest {

/// The stored values that a nest computes from its op with loops.
llvm::SmallVector<mlir::Value> epilogueOf(LoopsOp loops);
/// Whether the nest stores the results of its op with loops.
bool storesSums(LoopsOp loops);

/// Whether `epilogue` can be computed on a tile, whose rows are `width`
/// adjacent elements that start at a multiple of `width`: each value follows
/// from its row-major position, or a row stays within the innermost dimension.
bool canFollowTile(mlir::RankedTensorType sums, int64_t columns, int64_t width,
                   llvm::ArrayRef<mlir::Value> epilogue,
                   llvm::function_ref<bool(mlir::Value)> isInMemory);
/// The last dimension with more than one element; -1 for none.
int64_t innermostDim(mlir::RankedTensorType type);

/// Joins `first`, whose op has loops, with the nest of elements directly after
/// it, if the walk can compute that nest as its epilogue; else returns null.
/// Sums without another use are no longer stored, unless the walk needs them.
LoopsOp joinEpilogue(LoopsOp first, LoopsOp elements);

} // namespace weft::nest

#endif // WEFT_DIALECTS_NEST_EPILOGUE_H
