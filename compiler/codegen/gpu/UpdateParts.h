//===- UpdateParts.h - warps that own parts of a result ---------*- C++ -*-===//
//
//   %r = weft.scatter sum %x at %ids with %u     (UpdateWalk.h)
//
//   for task = warp; task < tasks; task += warps of the grid
//     r of the part = x of the part
//     for u = lane; u < updates; u += 32
//       is mine = ids[u] is a row of the part
//       for each lane i with is mine, in order             (ballot)
//         r[ids[u of i], column] += u[u of i, column]
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_GPU_UPDATEPARTS_H
#define WEFT_COMPILER_CODEGEN_GPU_UPDATEPARTS_H

#include "weft/compiler/codegen/elements/ElementEmitter.h"
#include "weft/compiler/codegen/gpu/SharedMemory.h"
#include "weft/dialects/nest/UpdateWalk.h"

namespace weft::gpu {

class UpdateParts {
public:
  /// Takes in `pointer` the address of the scatter's result.
  UpdateParts(elements::ElementEmitter &elements [[clang::lifetimebound]],
              nest::LoopsOp loops, mlir::Value pointer, GridPlace grid);
  llvm::LogicalResult emit();

private:
  /// Indices of `side` neighbours of the result, or of the updates: positions
  /// in the shared or ordered dimensions, and of the first in the window.
  llvm::SmallVector<elements::ElementIndex>
  neighbours(bool isOfUpdates, mlir::Value position, mlir::Value inWindow);
  void openTasks();
  /// The first of the elements in the window that are `distance` after those
  /// of the task, clamped; and whether they exist.
  mlir::Value inWindow(mlir::Value distance, mlir::Value &exists);
  llvm::LogicalResult copyInput();
  llvm::LogicalResult copyAt(mlir::Value position, mlir::Value distance);
  /// 32 updates from `first` on: the lane's position in the part, and whether
  /// its update is in the part.
  struct Found {
    mlir::Value first, position, isMine;
  };
  mlir::FailureOr<Found> find(mlir::Value first, bool mayEnd);
  llvm::LogicalResult apply(const Found &found, mlir::Value all);
  llvm::LogicalResult combine(mlir::Value update, mlir::Value position);
  void storeIf(mlir::Value exists, llvm::ArrayRef<mlir::Value> values,
               const elements::ElementIndex &at);

  elements::ElementEmitter &elements;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  ScatterOp op;
  nest::UpdatesAttr walk;
  nest::UpdateShape shape;
  mlir::RankedTensorType type;
  mlir::Value pointer;
  GridPlace grid;
  SharedMemory shared;
  int64_t positions, window; ///< sizes of a part, of all
  mlir::Value lane;
  llvm::SmallVector<mlir::Value> batch;
  mlir::Value firstPosition, positionCount, firstInWindow; ///< the task's range
};

} // namespace weft::gpu

#endif // WEFT_COMPILER_CODEGEN_GPU_UPDATEPARTS_H
