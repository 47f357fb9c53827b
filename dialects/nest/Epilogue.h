//===- Epilogue.h - what a nest computes of its sums ------------*- C++ -*-===//
//
// A nest whose op has loops may go on with elementwise ops on what it has summed:
//
//   nest.loops #nest.contraction<packed, ...> to [#nest.place<result 0>] {
//     %0 = weft.dot %x, %w ...            sums, in registers
//     %1 = weft.broadcast %b dims [1]
//     %2 = weft.add %0, %1                the epilogue, on a tile of them
//     %3 = weft.relu %2
//     nest.store %3                       the sums are never in memory
//   }
//
// A nest that adds up block by block stores its sums, too: those of the first
// blocks wait there. They may wait where a value of the epilogue will be.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_NEST_EPILOGUE_H
#define WEFT_DIALECTS_NEST_EPILOGUE_H

#include "weft/dialects/nest/Nest.h"

namespace weft::nest {

/// The values that a nest stores of what it computes behind its op with loops.
llvm::SmallVector<mlir::Value> epilogueOf(LoopsOp loops);
/// Does it store the results of its op with loops?
bool storesSums(LoopsOp loops);

/// Elements of a tile that are side by side in rows of `width`, from a multiple
/// of it on: can `epilogue` be computed at their positions? Either these follow
/// from the row-major one, or all but the last dimension's are those of the row.
bool canFollowTile(mlir::RankedTensorType sums, int64_t columns, int64_t width,
                   llvm::ArrayRef<mlir::Value> epilogue,
                   llvm::function_ref<bool(mlir::Value)> isInMemory);
/// The last dimension of more than one element; -1 for none.
int64_t innermostDim(mlir::RankedTensorType type);

/// Makes one nest of `first`, whose op has loops, and the nest of elements
/// directly behind it, where the walk can compute that as its epilogue. Sums
/// that nothing else needs are stored no more. Null where it cannot.
LoopsOp joinEpilogue(LoopsOp first, LoopsOp elements);

} // namespace weft::nest

#endif // WEFT_DIALECTS_NEST_EPILOGUE_H
