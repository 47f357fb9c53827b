//===- KernelEmitter.h - loops for one kernel function ----------*- C++ -*-===//
//
// A kernel is a function of local weft ops on tensors. The emitter decides
// which of its values are stored in memory (its results, dots, reductions) and
// writes one loop nest for each group of them; everything else is computed
// element by element where it is needed:
//
//   func.func private @k(%x: tensor<16x8xf32>, %b: tensor<8xf32>) -> tensor<16x8xf32> {
//     %0 = weft.broadcast %b dims [1]        for i in 16
//     %1 = weft.add %x, %0            =>       for j in 8
//     %2 = weft.relu %1                          r[i,j] = relu(x[i,j] + b[j])
//     return %2
//   }
//
// All results of one shape share a nest in which every load of an element
// comes before its stores, so that in a kernel "elementwise" a result may have
// the memory of an argument of the same shape and type.
//
// A kernel of much work whose rows do not depend on each other can be shared by
// several workers (KernelSplit.cpp): `k.part(buffers, coordinates, p, n)` does
// the p-th of n shares of them, `k.parts` is the largest n that pays.
//
// Elements are computed by an elements::ElementEmitter; what is decided here is
// which values are stored and where (KernelPlan.cpp), which loops are opened
// (KernelNests.cpp and the nests of single ops), and how they are shared.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_CPU_KERNELEMITTER_H
#define WEFT_COMPILER_CODEGEN_CPU_KERNELEMITTER_H

#include "weft/compiler/codegen/cpu/CpuTarget.h"
#include "weft/compiler/codegen/elements/ElementEmitter.h"

namespace weft::cpu {

/// Internal values above this many bytes cannot live on a kernel's stack; the
/// outlining pass returns them as extra results instead.
inline constexpr int64_t kStackBytes = 64 * 1024;

/// How the rows of a kernel are shared among parts: in units (a tile of rows),
/// at most so many parts; then which of them are those of the part at hand.
/// Rows are positions of a result's first dimension, or of `dim`.
struct KernelSplit {
  KernelSplit(int64_t rows, int64_t unit, int64_t parts)
      : rows(rows), unit(unit), parts(parts) {}
  int64_t rows, unit, parts, dim = 0;
  mlir::Value firstUnit, lastUnit, begin, end, isLast;
};

class KernelEmitter : private elements::ProcessorLoops {
public:
  KernelEmitter(mlir::func::FuncOp kernel, const CpuTarget &target);
  /// Appends `void NAME(ptr buffers, ptr coordinates)` to the module of the
  /// kernel, which stays as it is. Errors are reported on the kernel's ops.
  llvm::LogicalResult emit();

  // --- for the nests of single ops ----------------------------------------
  elements::ElementEmitter elements;
  const CpuTarget &target;
  /// The part's share of [0, n), n a multiple of the rows that are split.
  mlir::Value openSplitLoop(int64_t n);
  const std::optional<KernelSplit> &rowSplit() const { return split; }

private:
  // ProcessorLoops.
  mlir::Value openPartLoop(int64_t dim, int64_t n) override;
  int64_t sharedDim() const override { return split ? split->dim : -1; }
  mlir::Value scratch(int64_t bytes) override;

  // Planning (KernelPlan.cpp).
  void chooseStored();
  llvm::LogicalResult placeStored();
  bool readsElsewhere(mlir::Value value,
                      const llvm::SetVector<mlir::Value> &of);
  bool canShareResult(mlir::Value value, mlir::Value result);

  // Parts (KernelSplit.cpp).
  std::optional<KernelSplit> findSplit();
  std::optional<KernelSplit> splitOfWhole();
  void chooseSplit();
  void exportParts(mlir::LLVM::LLVMFuncOp body);

  // Nests (KernelNests.cpp).
  mlir::LLVM::LLVMFuncOp createBody();
  void createCaller(llvm::StringRef name, mlir::LLVM::LLVMFuncOp body,
                    llvm::ArrayRef<mlir::Type> parameters);
  llvm::LogicalResult checkElements();
  llvm::LogicalResult emitNests();
  llvm::LogicalResult emitElementwise(llvm::ArrayRef<mlir::Value> roots);
  llvm::LogicalResult emitOwnNest(mlir::Operation *op);
  llvm::LogicalResult emitCopies();

  mlir::func::FuncOp kernel;
  mlir::OpBuilder &builder; ///< of `elements`
  mlir::Location loc;
  mlir::LLVM::LLVMFuncOp entry;
  mlir::LLVM::AllocaOp scratchMemory; ///< as large as any nest has asked for
  int64_t scratchBytes = 0;
  mlir::Value part, partCount;
  std::optional<KernelSplit> split;
  llvm::SmallVector<mlir::Value> resultPointers;
  llvm::SetVector<mlir::Value> stored;
};

/// A constant of more than one number, which is in memory from the beginning.
bool isDataConstant(mlir::Operation *op);

/// The nests of a reduction (ReduceNests.cpp) and of a contraction
/// (DotEmitter.cpp).
llvm::LogicalResult emitReduce(elements::ElementEmitter &emitter, ReduceOp op);
llvm::LogicalResult emitDot(KernelEmitter &kernel, DotOp op);

} // namespace weft::cpu

#endif // WEFT_COMPILER_CODEGEN_CPU_KERNELEMITTER_H
