//===- TileStaging.h - an operand's way to shared memory --------*- C++ -*-===//
//
//   TileStaging lhs(elements, shared, sum, walk, 0, thread, isInMemory);
//   lhs.enter(batch digits, first row of the tile, end);   // same for all depths
//   lhs.copy(stage pointer, first depth);               // 128 x 32 elements
//
// Rows past the last read the last row, and their sums are not stored. Elements
// at depths from `end` on, and in the padding of windows, are zeros.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_GPU_TILESTAGING_H
#define WEFT_COMPILER_CODEGEN_GPU_TILESTAGING_H

#include "weft/compiler/codegen/elements/ElementEmitter.h"
#include "weft/compiler/codegen/gpu/Placement.h"
#include "weft/compiler/codegen/gpu/SharedMemory.h"
#include "weft/dialects/nest/TileWalk.h"

namespace weft::gpu {

class TileStaging {
public:
  TileStaging(elements::ElementEmitter &elements [[clang::lifetimebound]],
              SharedMemory &shared [[clang::lifetimebound]],
              mlir::Operation *sum, nest::TilesAttr walk, unsigned operand,
              mlir::Value thread, nest::IsInMemory isInMemory);
  /// Whether copies are asynchronous, so that a wait completes them.
  bool isAsync() const { return staging.getBytes() > 0; }
  bool isNarrow() const;
  const nest::TileOperand &tile() const { return operandTile; }
  void enter(llvm::ArrayRef<mlir::Value> batch, mlir::Value firstRow,
             mlir::Value end);
  llvm::LogicalResult copy(mlir::Value stage, mlir::Value firstDepth);

private:
  /// The first element that a thread copies in an iteration: a row and a depth
  /// of the tile.
  struct Place {
    mlir::Value row, depth;
  };
  Placement placeThreads();
  Place placeOf(mlir::Value round);
  /// A constant of the type of positions.
  mlir::Value number(int64_t value) { return elements.constant(value, index); }
  mlir::Value clamped(mlir::Value position, int64_t size, int64_t run);
  mlir::Value isBefore(mlir::Value position, mlir::Value limit);
  mlir::Value isBelow(mlir::Value position, int64_t size);
  mlir::Value offsetOf(const nest::DotPath &path, mlir::Value position);
  mlir::Value inStage(mlir::Value stage, const Place &place);
  /// Emits the code in an `if` if some threads copy nothing.
  template <typename Emit> void ifTaking(Emit emit);
  void copyRuns(mlir::Value stage, mlir::Value firstDepth);
  /// Whether windows have an element at this depth, in the row of this
  /// iteration; adds its offset in dilated dimensions.
  mlir::Value isInBounds(size_t round, mlir::Value depth, mlir::Value exists,
                         mlir::Value &offset);
  mlir::FailureOr<mlir::Value> factorAt(mlir::Value row, mlir::Value depth);
  llvm::LogicalResult copyElements(mlir::Value stage, mlir::Value firstDepth);

  elements::ElementEmitter &elements;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  SharedMemory &shared;
  mlir::Operation *sum;
  nest::ProductShape shape;
  nest::StagingAttr staging;
  nest::TileOperand operandTile;
  unsigned operand;
  int64_t run, rounds, taking; ///< taking: threads that copy
  Placement threads; ///< the row and depth that a thread copies in a round
  mlir::Value thread;
  mlir::Type element; ///< type in shared memory
  /// The type of positions and offsets: i32 if all of them fit.
  mlir::Type index;
  std::optional<nest::OperandPaths> paths;
  // The current tile:
  llvm::SmallVector<mlir::Value> batch;
  mlir::Value firstRow, end, pointer, front;
  llvm::SmallVector<mlir::Value> rowOffsets; ///< one each round
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> rowDigits; ///< if bounded
};

} // namespace weft::gpu

#endif // WEFT_COMPILER_CODEGEN_GPU_TILESTAGING_H
