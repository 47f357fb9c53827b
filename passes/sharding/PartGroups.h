//===- PartGroups.h - ops in the order in which parts run them --*- C++ -*-===//
//
// Ops on parts of the mesh become regions of the local program. So that there
// are few, ops of one part stand together:
//
//   %a = relu %x   "branch"=0          "branch"=0: relu, exp
//   %b = relu %y   "branch"=1     ->   "branch"=1: relu
//   %c = exp %a    "branch"=0          whole mesh: reshard, add
//   %d = reshard %c ; add
//
// Constants, iota and broadcast scalars are repeated in each region that reads
// them, so that no array of them is kept between regions.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_PARTGROUPS_H
#define WEFT_PASSES_SHARDING_PARTGROUPS_H

#include "weft/dialects/weft/Weft.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace weft {

/// Ops that run one after the other on one part of the mesh; on the whole mesh
/// if it has no coordinates.
struct PartGroup {
  MeshPart part;
  llvm::SetVector<mlir::Operation *> ops;
  /// Those of `ops` that cost nothing and are in each group that reads them.
  llvm::DenseSet<mlir::Operation *> repeated;

  /// Values from outside that the ops read, also in their regions.
  llvm::SetVector<mlir::Value> inputs() const;
  /// Results that other groups read.
  llvm::SetVector<mlir::Value> outputs() const;

private:
  bool isReadOutside(mlir::Value value) const;
};

/// Replaces a reshard between parts by reshards that each are on one part or
/// one exchange (stopsBetween). Requires layouts in types.
void splitMovesBetweenParts(mlir::Block &block);

/// Whether a block's ops are on several parts of the mesh, or on one that the op
/// around the block is not on. Requires layouts in types.
bool hasOpsOnParts(mlir::Block &block);

/// On a loop (unit): its ops stay in their order, as a schedule has ordered them,
/// but for those that compute scalars only. What a branch of the body gives other
/// parts of the mesh is read for rounds in which it is taken (weft.taken) only.
inline constexpr llvm::StringLiteral kOrderedAttr = "weft.ordered";

/// Groups the ops of a block, without its terminator, in an order in which each
/// value is computed before it is used. Ops of the whole mesh keep their order.
std::vector<PartGroup> groupByPart(mlir::Block &block);

} // namespace weft

#endif // WEFT_PASSES_SHARDING_PARTGROUPS_H
