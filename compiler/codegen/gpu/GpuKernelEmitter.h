//===- GpuKernelEmitter.h - loops of one kernel over threads ----*- C++ -*-===//
//
//   func.func private @k(%x: tensor<8x10xf32>) -> tensor<8xf32> {
//     %0 = weft.reduce sum %x dims [1]
//
//   gpu.func @k(%x, %result, %coordinates: !llvm.ptr) kernel block 256 {
//     for row = warp; row < 8; row += warps of the grid
//       sum = 0
//       for column = lane; column < 10; column += 32
//         sum += x[row, column]            // neighbours read neighbours
//       for distance in 16, 8, 4, 2, 1
//         sum += sum of lane ^ distance    // gpu.shuffle: all lanes have it
//       if lane == 0: result[row] = sum
//
// Any number of blocks is correct: loops step by the size of the grid.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_GPU_GPUKERNELEMITTER_H
#define WEFT_COMPILER_CODEGEN_GPU_GPUKERNELEMITTER_H

#include "weft/compiler/codegen/elements/ElementEmitter.h"
#include "weft/compiler/codegen/gpu/KernelWalk.h"
#include "weft/compiler/codegen/gpu/SharedMemory.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace weft::gpu {

class GpuKernelEmitter : private elements::ProcessorLoops {
public:
  /// Takes one of the kernel's nests, and the name of its function.
  GpuKernelEmitter(mlir::func::FuncOp kernel, nest::LoopsOp loops,
                   llvm::StringRef name);
  /// Appends a gpu.func with that name. Its arguments are pointers to
  /// the kernel's arguments, its results, its planned memory, if it has any, and
  /// the device's coordinates.
  llvm::LogicalResult emit(mlir::gpu::GPUModuleOp module);

private:
  // ProcessorLoops for ops with their own loops (ThreadLoops.cpp).
  mlir::Value openSharedLoop(int64_t dim, int64_t n) override;
  bool isShared(int64_t dim) const override { return ofThread.contains(dim); }
  mlir::Value scratch() override { return {}; }

  mlir::gpu::GPUFuncOp createFunction(mlir::gpu::GPUModuleOp module);
  void placeMemory(mlir::Block &block);
  bool hasPlanned() const;
  mlir::Value threadInBlock();
  mlir::Value isBelow(mlir::Value position, int64_t size);
  mlir::Value blockInGrid();
  mlir::Value blocksOfGrid();
  /// Opens a loop over a thread's elements, `side` at a time; returns the
  /// position of the first.
  mlir::Value openElements(int64_t side = 1);
  /// The positions of `side` adjacent elements of a shape, the first at
  /// `linear`, after those of the outer dimensions.
  llvm::SmallVector<elements::ElementIndex>
  neighboursOf(llvm::ArrayRef<mlir::Value> front, mlir::Value linear,
               llvm::ArrayRef<int64_t> shape, int64_t side, bool isFlat);
  llvm::LogicalResult emitElements();
  /// ThreadLoops.cpp
  llvm::LogicalResult emitOwn();
  /// ThreadSums.cpp
  llvm::LogicalResult emitSums(nest::SumsAttr walk);
  using Values = llvm::SmallVector<mlir::Value>;
  /// Combines terms in order, for each of some adjacent positions.
  mlir::FailureOr<Values> emitTerms(mlir::Operation *op,
                                    llvm::ArrayRef<Values> positions,
                                    mlir::Value begin, mlir::Value end,
                                    nest::SumsAttr walk);
  /// Combines terms in a loop, `together` at once, starting from the given
  /// values. Requires a number of terms that `together` divides.
  mlir::FailureOr<Values> emitTermLoop(mlir::Operation *op,
                                       llvm::ArrayRef<Values> positions,
                                       mlir::Value begin, mlir::Value end,
                                       int64_t together,
                                       llvm::ArrayRef<mlir::Value> from);
  mlir::FailureOr<Values> emitShare(mlir::Operation *op,
                                    llvm::ArrayRef<Values> positions,
                                    mlir::Value begin, mlir::Value end,
                                    nest::SumsAttr walk);
  /// Combines the values of a block's threads, of which `lanes` share an
  /// element; each thread gets the results.
  Values combineShares(ReduceKind kind, mlir::Type element, Values values,
                       int64_t lanes);
  llvm::LogicalResult storeSums(mlir::Operation *op,
                                llvm::ArrayRef<elements::ElementIndex> all,
                                llvm::ArrayRef<mlir::Value> sums,
                                mlir::Value linear, mlir::Value exists,
                                int64_t lanes);
  mlir::Value openSharedElements(int64_t lanes, int64_t side,
                                 mlir::Value &exists);
  // RowSums.cpp
  llvm::LogicalResult emitRows(nest::RowsAttr walk);
  void openRow();
  /// Columns of a row that a lane keeps in registers, and whether they exist.
  struct HeldColumns {
    mlir::Value first, exists;
    llvm::SmallVector<elements::ElementIndex> all;
  };
  llvm::ArrayRef<HeldColumns> heldColumns(llvm::ArrayRef<int64_t> columns);
  /// Columns that lanes read one beside the other, from `first` on; those that
  /// may be beyond the row are clamped.
  llvm::SmallVector<HeldColumns> columnsFrom(mlir::Value first,
                                             llvm::ArrayRef<int64_t> columns,
                                             int64_t number, bool mayEnd,
                                             unsigned depth);
  mlir::FailureOr<mlir::Value>
  reduceColumns(ReduceOp op, llvm::ArrayRef<HeldColumns> columns,
                mlir::Value from);
  llvm::LogicalResult storeColumns(llvm::ArrayRef<unsigned> results,
                                   llvm::ArrayRef<HeldColumns> columns);
  mlir::FailureOr<mlir::Value> reduceHeld(ReduceOp op);
  mlir::FailureOr<mlir::Value> reduceAgain(ReduceOp op);
  llvm::LogicalResult emitRowReduce(ReduceOp op);
  mlir::Value otherLane(mlir::Value value, int64_t distance);
  /// Combines the lanes' values; every lane gets the result.
  mlir::Value combineLanes(ReduceOp op, mlir::Value value);
  /// Stores the results with one element a row; lane 0 writes.
  llvm::LogicalResult storeRowElements();
  /// Stores the results with columns in a row.
  llvm::LogicalResult storeRowColumns(llvm::ArrayRef<unsigned> results);
  llvm::LogicalResult storeHeld(llvm::ArrayRef<unsigned> results);

  mlir::func::FuncOp kernel;
  std::string name;
  elements::ElementEmitter elements;
  mlir::OpBuilder &builder; ///< builder of `elements`
  mlir::Location loc;
  nest::LoopsOp loops;
  llvm::SmallVector<mlir::Value> stored; ///< value stored to each result
  llvm::SmallVector<int64_t> shape; ///< elements, rows or independent loops
  llvm::SmallVector<mlir::Value> resultPointers;
  SharedMemory shared;
  nest::RowsAttr rows; ///< the walk, if it is over rows
  mlir::Value lane, row;
  llvm::SmallVector<mlir::Value> rowDims;
  unsigned rowDepth = 0; ///< loops around a row
  unsigned rowReduces = 0;
  std::map<llvm::SmallVector<int64_t>, llvm::SmallVector<HeldColumns>> held;
  llvm::DenseMap<int64_t, mlir::Value> ofThread; ///< positions, by dimension
};

} // namespace weft::gpu

#endif // WEFT_COMPILER_CODEGEN_GPU_GPUKERNELEMITTER_H
