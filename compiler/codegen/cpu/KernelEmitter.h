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
// What is emitted: arith, math, vector and scf on 64-bit integers and scalars,
// llvm.load and llvm.store on plain pointers.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_CPU_KERNELEMITTER_H
#define WEFT_COMPILER_CODEGEN_CPU_KERNELEMITTER_H

#include "weft/compiler/codegen/cpu/CpuTarget.h"
#include "weft/dialects/weft/Weft.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

#include <map>

namespace weft::coll {
class MakePartialOp;
} // namespace weft::coll

namespace weft::cpu {

/// Internal values above this many bytes cannot live on a kernel's stack; the
/// outlining pass returns them as extra results instead.
inline constexpr int64_t kStackBytes = 64 * 1024;

/// The position of an element: one i64 for each dimension, or the row-major
/// position alone (`linear`) in a flat nest. `depth` is the number of loops
/// around the place where the position is known.
struct ElementIndex {
  llvm::SmallVector<mlir::Value, 4> dims;
  mlir::Value linear;
  unsigned depth = 0;
  unsigned id = 0; ///< equal positions have equal ids within a nest
};

/// A tensor in memory as the dot emitter sees it: strides in elements.
struct StridedView {
  mlir::Value pointer;
  llvm::SmallVector<int64_t, 4> sizes, strides;
};

/// How the rows of a kernel are shared among parts: in units (a tile of rows),
/// at most so many parts; then which of them are those of the part at hand.
/// Rows are positions of a result's first dimension, or of `dim`.
struct KernelSplit {
  KernelSplit(int64_t rows, int64_t unit, int64_t parts)
      : rows(rows), unit(unit), parts(parts) {}
  int64_t rows, unit, parts, dim = 0;
  mlir::Value firstUnit, lastUnit, begin, end, isLast;
};

class KernelEmitter {
public:
  KernelEmitter(mlir::func::FuncOp kernel, const CpuTarget &target);
  /// Appends `void NAME(ptr buffers, ptr coordinates)` to the module of the
  /// kernel, which stays as it is. Errors are reported on the kernel's ops.
  llvm::LogicalResult emit();
  /// How often the code computes an element of the op, all loops taken once.
  unsigned computationsOf(mlir::Operation *op) const {
    return computations.lookup(op);
  }

  // --- for the emitters of single ops ------------------------------------
  mlir::OpBuilder builder;
  mlir::Location loc;
  const CpuTarget &target;

  mlir::Value constant(int64_t value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, int64_t factor);
  /// A loop [0, n) of the current nest; the builder moves into its body, or
  /// stays after it once closeLoops is called.
  mlir::Value openLoop(int64_t n, mlir::ValueRange carried = {});
  mlir::Value openLoop(mlir::Value begin, mlir::Value end,
                       mlir::ValueRange carried = {});
  mlir::Value openStridedLoop(mlir::Value begin, mlir::Value end,
                              mlir::Value step, mlir::ValueRange carried = {});
  /// The part's share of [0, n), n a multiple of the rows that are split.
  mlir::Value openSplitLoop(int64_t n);
  /// [0, n), or the part's share where dimension `dim` is the one that is split.
  mlir::Value openPartLoop(int64_t dim, int64_t n);
  const std::optional<KernelSplit> &rowSplit() const { return split; }
  mlir::scf::ForOp innermostLoop() { return levels.back(); }
  void closeLoops(unsigned depth);
  unsigned depth() const { return levels.size(); }
  /// Starts a nest: forgets positions and elements of the one before.
  void beginNest();
  /// Says that the iterations of the innermost loop do not depend on each
  /// other through memory.
  void markParallel();
  /// Says that the innermost loop is neither to be unrolled nor vectorized.
  void markPlain();

  /// Moves the builder to where `depth` loops are open.
  void enterDepth(unsigned depth);
  /// One loop for each dimension, and the position in them.
  ElementIndex openLoops(llvm::ArrayRef<int64_t> shape);
  /// An integer element as a position: i64, and clamped to [0, last].
  mlir::Value extended(mlir::Value value, mlir::Type elementType);
  mlir::Value clampedPosition(mlir::Value value, mlir::Type elementType,
                              int64_t last);
  /// A position as an element of a tensor of integers.
  mlir::Value narrowed(mlir::Value position, mlir::Value tensor);

  ElementIndex makeIndex(llvm::ArrayRef<mlir::Value> dims, unsigned depth);
  ElementIndex makeFlatIndex(mlir::Value linear, unsigned depth);
  /// The value of one element, in its compute type.
  mlir::FailureOr<mlir::Value> element(mlir::Value tensor,
                                       const ElementIndex &index);
  mlir::Value load(mlir::Value pointer, mlir::Type elementType,
                   mlir::Value linear);
  void store(mlir::Value value, mlir::Value pointer, mlir::Type elementType,
             mlir::Value linear);
  mlir::Value linearIndex(llvm::ArrayRef<int64_t> shape,
                          const ElementIndex &index);
  /// Where a value is stored; null for one that is computed by element.
  mlir::Value memoryOf(mlir::Value tensor) { return memory.lookup(tensor); }
  std::optional<StridedView> viewOf(mlir::Value tensor);
  mlir::Value coordinate(LayoutAttr group);
  /// Memory on the stack, aligned to 64 bytes, that each nest may use anew.
  mlir::Value scratch(int64_t bytes);
  /// The address of read-only data.
  mlir::Value globalData(mlir::DenseElementsAttr flat);

protected:
  // What another processor's loops around the same elements need too.
  // Planning (KernelPlan.cpp).
  bool mustStore(mlir::Operation *op);
  void chooseStored();
  llvm::LogicalResult placeStored();
  bool readsElsewhere(mlir::Value value,
                      const llvm::SetVector<mlir::Value> &of);
  bool isFlat(llvm::ArrayRef<mlir::Value> roots);
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
  llvm::LogicalResult emitReduce(ReduceOp op);
  llvm::LogicalResult emitReduceInRegister(ReduceOp op);
  llvm::LogicalResult emitReduceInMemory(ReduceOp op);
  llvm::LogicalResult emitCopies();
  llvm::LogicalResult emitDot(DotOp op); // DotEmitter.cpp

  // Elements (ElementEmitter.cpp).
  mlir::Value splat(ConstantOp op);
  mlir::FailureOr<mlir::Value> partial(coll::MakePartialOp op,
                                       const ElementIndex &index);
  mlir::FailureOr<mlir::Value> compute(mlir::Operation *op,
                                       const ElementIndex &index);
  mlir::FailureOr<mlir::Value> computeMoved(mlir::Operation *op,
                                            const ElementIndex &index);
  mlir::FailureOr<mlir::Value> reshaped(ReshapeOp op,
                                        const ElementIndex &index);
  mlir::FailureOr<mlir::Value> randomBits(RngBitsOp op,
                                          const ElementIndex &index);
  mlir::FailureOr<mlir::Value> counted(IotaOp op, const ElementIndex &index);
  /// A position from which LLVM cannot see that it counts a loop's rounds. Its
  /// strength reduction tries the sums of every chain of additions that starts
  /// at such a number: 4 s for the rounds of one threefry generator.
  mlir::Value asBits(mlir::Value position);
  mlir::Value unknownZero(mlir::Type type);
  mlir::Value globalConstant(ConstantOp op);
  // Moved elements (MovedElements.cpp).
  mlir::FailureOr<mlir::Value> padded(PadOp op, const ElementIndex &index);
  mlir::FailureOr<mlir::Value> concatenated(ConcatenateOp op,
                                            const ElementIndex &index);
  mlir::FailureOr<mlir::Value> dynamicallySliced(DynamicSliceOp op,
                                                 const ElementIndex &index);
  mlir::FailureOr<mlir::Value> dynamicallyUpdated(DynamicUpdateSliceOp op,
                                                  const ElementIndex &index);
  mlir::Value rolled(mlir::Value position, int64_t size, int64_t shift);
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  clampedStarts(mlir::ValueRange starts, llvm::ArrayRef<int64_t> whole,
                llvm::ArrayRef<int64_t> block);
  /// Loops around the place where a dimension's position is known.
  unsigned depthOf(mlir::Value position, unsigned otherwise);

  mlir::func::FuncOp kernel;
  mlir::LLVM::LLVMFuncOp entry;
  mlir::LLVM::AllocaOp scratchMemory; ///< as large as any nest has asked for
  int64_t scratchBytes = 0;
  mlir::Value coordinates, part, partCount;
  std::optional<KernelSplit> split;
  llvm::SmallVector<mlir::Value> resultPointers;
  llvm::SetVector<mlir::Value> stored;
  llvm::SetVector<mlir::Value>
      current; ///< roots of the nest at hand: not yet in memory
  llvm::DenseMap<mlir::Value, mlir::Value> memory;
  llvm::SmallVector<mlir::scf::ForOp> levels;
  mlir::Operation *nestAnchor = nullptr;
  mlir::LLVM::AccessGroupAttr accessGroup;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, mlir::Value> elements;
  std::map<llvm::SmallVector<void *, 4>, unsigned> indexIds;
  llvm::DenseMap<mlir::Operation *, unsigned> computations;
  unsigned globals = 0;
  mlir::Operation *globalsBefore; ///< constant data goes in front of it
};

/// The type an element has in registers: unsigned integers become signless.
mlir::Type computeType(mlir::Type elementType);
/// An i1 is 0 or 1.
inline bool isUnsigned(mlir::Type elementType) {
  return elementType.isUnsignedInteger() || elementType.isInteger(1);
}
/// The type an element has in memory: i1 is i8.
mlir::Type storageType(mlir::Type elementType);
int64_t elementCount(mlir::Value tensor);
mlir::RankedTensorType tensorType(mlir::Value tensor);

/// Elementwise ops on registers (ScalarOps.cpp). Fails for an op that is not
/// elementwise.
mlir::FailureOr<mlir::Value> emitScalarOp(mlir::OpBuilder &builder,
                                          mlir::Operation *op,
                                          mlir::ValueRange operands);
/// Between element types that are not complex.
mlir::Value convertScalar(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Type from, mlir::Type to, mlir::Value value);
/// combine(a, b) of a reduction; float sums may be reordered into lanes.
mlir::Value emitCombine(mlir::OpBuilder &builder, mlir::Location loc,
                        ReduceKind kind, mlir::Type elementType, mlir::Value a,
                        mlir::Value b);
mlir::Value emitNeutral(mlir::OpBuilder &builder, mlir::Location loc,
                        ReduceKind kind, mlir::Type elementType);
/// out0 ^ out1 of threefry-2x32 on i32 registers.
mlir::Value emitThreefry(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value key0, mlir::Value key1, mlir::Value high,
                         mlir::Value low);
/// Is the op one of emitScalarOp's?
bool isElementwise(mlir::Operation *op);

} // namespace weft::cpu

#endif // WEFT_COMPILER_CODEGEN_CPU_KERNELEMITTER_H
