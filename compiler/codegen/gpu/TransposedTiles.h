//===- TransposedTiles.h - elements that are read the other way -*- C++ -*-===//
//
//   %0 = weft.transpose %x [1, 0]                   #nest.transposed<along = 0>
//   %1 = weft.relu %0                               of 500 x 300
//
//   for tile = block; tile < 16 * 10; tile += blocks of the grid
//     for run in warp, warp + 8, ... of 32
//       shared[run, lane] = %0[first + lane, last + run]     neighbours of x
//     wait for all threads
//     for run in warp, warp + 8, ... of 32
//       %1[first + run, last + lane] = relu(shared[lane, run])
//     wait for all threads: the next tile uses the same memory
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_GPU_TRANSPOSEDTILES_H
#define WEFT_COMPILER_CODEGEN_GPU_TRANSPOSEDTILES_H

#include "weft/compiler/codegen/elements/ElementEmitter.h"
#include "weft/compiler/codegen/gpu/SharedMemory.h"
#include "weft/dialects/nest/TransposedWalk.h"

namespace weft::gpu {

class TransposedTiles {
public:
  /// Takes in `pointers` the addresses of the `stored` values.
  TransposedTiles(elements::ElementEmitter &elements [[clang::lifetimebound]],
                  nest::LoopsOp loops, llvm::ArrayRef<mlir::Value> stored,
                  llvm::ArrayRef<mlir::Value> pointers, GridPlace grid);
  /// Emits the code. The shared memory is put before `function` and is called
  /// `name` with ".shared".
  llvm::LogicalResult emit(mlir::Operation *function, llvm::StringRef name);

private:
  /// Builds a loop over the runs, of 32, that the thread's warp takes.
  llvm::LogicalResult
  eachRun(llvm::function_ref<llvm::LogicalResult(mlir::Value run)> body);
  /// The index of the element at this distance from the tile's first element,
  /// clamped to the shape.
  elements::ElementIndex indexOf(mlir::Value along, mlir::Value last,
                                 mlir::Value &exists);
  llvm::LogicalResult fill();
  llvm::LogicalResult store();

  elements::ElementEmitter &elements;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  nest::LoopsOp loops;
  llvm::ArrayRef<mlir::Value> stored, pointers;
  llvm::ArrayRef<int64_t> shape;
  GridPlace grid;
  SharedMemory shared;
  int64_t along;
  llvm::SetVector<mlir::Value> turned;
  llvm::SmallVector<mlir::Value> patches; ///< tiles of `turned`, shared
  mlir::Value lane, warp;
  llvm::SmallVector<mlir::Value> first; ///< first element of the current tile
};

} // namespace weft::gpu

#endif // WEFT_COMPILER_CODEGEN_GPU_TRANSPOSEDTILES_H
