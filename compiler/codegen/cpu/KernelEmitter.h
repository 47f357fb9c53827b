//===- KernelEmitter.h - loops for one kernel function ----------*- C++ -*-===//
//
// A kernel is a function whose loop nests are chosen (dialects/nest). The
// emitter decides nothing: for each nest it opens the loops of the walk, places
// and stores the nest's stored values, and computes everything else element by
// element where it is needed:
//
//   %0 = nest.loops #nest.elements<dimensions> to [#nest.place<result 0>] {
//     %1 = weft.broadcast %b dims [1]        for i in 16
//     %2 = weft.add %x, %1            =>       for j in 8
//     %3 = weft.relu %2                          r[i,j] = relu(x[i,j] + b[j])
//     nest.store %3
//   }
//
// A kernel that workers share becomes `k.share(buffers, coordinates, p, n)`
// too, which computes the p-th of n shares of the kernel. `k.shares` is the
// largest useful n (KernelSplit.cpp).
//
// Elements are computed by an elements::ElementEmitter.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_CPU_KERNELEMITTER_H
#define WEFT_COMPILER_CODEGEN_CPU_KERNELEMITTER_H

#include "weft/compiler/codegen/cpu/CpuTarget.h"
#include "weft/compiler/codegen/elements/ElementEmitter.h"
#include "weft/dialects/nest/Nest.h"
#include "weft/dialects/weft/ops/WindowOps.h"

namespace weft::cpu {

/// The rows of a kernel that workers share, in units (a tile of rows), and the
/// rows of the current share. Rows are positions in dimension `dim` of a
/// result, or row-major positions in a flat nest.
struct KernelSplit {
  int64_t dim, rows, unit;
  mlir::Value firstUnit, lastUnit, begin, end, isLast;
};

class KernelEmitter : private elements::ProcessorLoops {
public:
  KernelEmitter(mlir::func::FuncOp kernel,
                const CpuTarget &target [[clang::lifetimebound]]);
  /// Inserts `void NAME.entry(ptr buffers, ptr coordinates)` before the kernel,
  /// which is not changed. Errors are reported on the kernel or its ops.
  llvm::LogicalResult emit();

  // --- for the nests of single ops ----------------------------------------
  elements::ElementEmitter elements;
  const CpuTarget &target;
  /// Opens a loop over the kernel share's elements of [0, n), n a multiple of
  /// the rows that are split.
  mlir::Value openSplitLoop(int64_t n);
  /// Builds such a loop, with the body at the position, and closes it.
  void eachSplit(int64_t n, llvm::function_ref<void(mlir::Value i)> body) {
    unsigned outer = elements.depth();
    body(openSplitLoop(n));
    elements.closeLoops(outer);
  }
  const std::optional<KernelSplit> &rowSplit() const { return split; }
  /// Computes and stores the elements at a position (ElementNests.cpp).
  llvm::LogicalResult storeElements(llvm::ArrayRef<mlir::Value> roots,
                                    const elements::ElementIndex &index);

private:
  // ProcessorLoops.
  mlir::Value openSharedLoop(int64_t dim, int64_t n) override;
  bool isShared(int64_t dim) const override {
    return split && split->dim == dim;
  }
  bool hasVectors() const override { return true; }
  int64_t vectorBytes() const override { return target.vectorBytes; }
  mlir::Value scratch() override { return working; }

  // Shares (KernelSplit.cpp).
  void openSplit(nest::ShareAttr share);
  void openBlocks(nest::ShareAttr share);
  void exportShare(mlir::LLVM::LLVMFuncOp body, nest::ShareAttr share);

  // Nests (KernelNests.cpp).
  mlir::LLVM::LLVMFuncOp createBody();
  void createCaller(llvm::StringRef name, mlir::LLVM::LLVMFuncOp body,
                    llvm::ArrayRef<mlir::Type> parameters);
  llvm::LogicalResult checkTarget();
  llvm::LogicalResult checkElements();
  void placeStored();
  llvm::LogicalResult emitNest(nest::LoopsOp loops);
  llvm::LogicalResult emitOwnNest(mlir::Operation *op);
  llvm::LogicalResult emitCopies();

  // Elements (ElementNests.cpp).
  mlir::Value openPiece(int64_t dim, int64_t begin, int64_t end, int64_t size);
  llvm::LogicalResult emitElements(nest::LoopsOp loops,
                                   nest::ElementOrder order);

  mlir::func::FuncOp kernel;
  mlir::OpBuilder &builder; ///< builder of `elements`
  mlir::Location loc;
  nest::KernelAttr decisions;
  mlir::LLVM::LLVMFuncOp entry;
  mlir::Value working; ///< temporary memory of the current nest
  mlir::Value shareNumber, shareCount;
  std::optional<KernelSplit> split;
  llvm::SmallVector<mlir::Value> resultPointers;
  /// The regions of planned memory, by their first bytes.
  llvm::SmallVector<std::pair<int64_t, mlir::Value>> plannedMemory;
};

/// The nests of transposed elements (TransposedNest.cpp), of a reduction
/// (ReduceNests.cpp), of a contraction (DotEmitter.cpp) and of a convolution in registers (ConvolutionNest.cpp).
llvm::LogicalResult emitTransposed(KernelEmitter &kernel, nest::LoopsOp loops,
                                   nest::TransposedAttr walk);
llvm::LogicalResult emitReduce(KernelEmitter &kernel, ReduceOp op,
                               nest::ReductionAttr walk);
llvm::LogicalResult emitDot(KernelEmitter &kernel, nest::LoopsOp loops,
                            nest::ContractionAttr walk);
llvm::LogicalResult emitTiledConvolution(KernelEmitter &kernel,
                                         ConvolutionOp op,
                                         nest::ConvolutionAttr walk);

} // namespace weft::cpu

#endif // WEFT_COMPILER_CODEGEN_CPU_KERNELEMITTER_H
