//===- TileSums.h - tiles of sums whose operands are shared -----*- C++ -*-===//
//
//   %0 = weft.dot %x, %w contract [1] x [0]        #nest.tiles<half, ...>
//   %1 = weft.relu %0
//
//   for tile = block; tile < tiles; tile += blocks of the grid
//     copy the first stages of x and w to shared memory
//     sums = 0
//     for depth in 0, 32, 64, ...
//       wait until this stage is there, and all threads are done with the last
//       copy the stage that comes `stages` - 1 later
//       sums += x * w of this stage
//     for 16 rows of the warp's tile
//       sums to shared memory, from where lanes take them row by row
//       result = relu(sum)                         elementwise ops that follow
//
// With parts, a block has a part of the depth of a tile, and stores the sums.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_GPU_TILESUMS_H
#define WEFT_COMPILER_CODEGEN_GPU_TILESUMS_H

#include "weft/compiler/codegen/gpu/TileStaging.h"
#include "weft/compiler/codegen/gpu/WarpProducts.h"

namespace weft::gpu {

class TileSums {
public:
  /// Takes in `pointers` the addresses of the `stored` values.
  TileSums(elements::ElementEmitter &elements [[clang::lifetimebound]],
           nest::LoopsOp loops, llvm::ArrayRef<mlir::Value> stored,
           llvm::ArrayRef<mlir::Value> pointers, GridPlace grid);
  /// Emits the code. The shared memory is put before `function` and is called
  /// `name` with ".shared".
  llvm::LogicalResult emit(mlir::Operation *function, llvm::StringRef name);

private:
  mlir::Value slotOf(mlir::Value step);
  llvm::LogicalResult copyStage(mlir::Value step);
  void commit();
  void wait(unsigned left);
  void enterTile(mlir::Value tile);
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> addProducts();
  llvm::LogicalResult storeSums(llvm::ArrayRef<mlir::Value> sums);
  llvm::LogicalResult storePatch(unsigned patch, mlir::Value from);
  /// The result's element at a row and column of the warp's tile, clamped to
  /// the result.
  elements::ElementIndex indexOf(mlir::Value rowOfWarp,
                                 mlir::Value columnOfWarp, mlir::Value &exists);
  /// Stores what follows from a sum.
  llvm::LogicalResult storeAt(const elements::ElementIndex &index,
                              mlir::Value sum, mlir::Value exists);

  elements::ElementEmitter &elements;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  nest::LoopsOp loops;
  nest::TilesAttr walk;
  mlir::Operation *sum;
  nest::ProductShape shape;
  llvm::ArrayRef<mlir::Value> stored, pointers;
  GridPlace grid;
  SharedMemory shared;
  mlir::Value lane, warp;
  std::optional<TileStaging> lhs, rhs;
  std::optional<WarpProducts> products;
  // The current tile:
  llvm::SmallVector<mlir::Value> batch;
  mlir::Value firstRow, firstColumn;
  mlir::Value part;             ///< number of the part; null if there is one
  mlir::Value firstStep, steps; ///< steps of the part
};

} // namespace weft::gpu

#endif // WEFT_COMPILER_CODEGEN_GPU_TILESUMS_H
