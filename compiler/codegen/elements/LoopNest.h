//===- LoopNest.h - the loops around an element -----------------*- C++ -*-===//
//
//   LoopNest nest(loc);
//   nest.setEnd(end);                          for i in 16:
//   (void)nest.loop(16, [&](Value i) {           for j in 8:
//     return nest.loop(8, [&](Value j) {           <- the builder
//       return success();
//     });
//   });
//
// A walk whose loops stay open for callers opens them by openLoop().
//
// Positions are 64-bit integers, except where a code generator for GPUs knows that
// 32 bits suffice. Loops are scf.for; a ProcessorLoops defines
// which of them a processor shares among its workers or threads.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_ELEMENTS_LOOPNEST_H
#define WEFT_COMPILER_CODEGEN_ELEMENTS_LOOPNEST_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace weft::elements {

class LoopNest {
public:
  explicit LoopNest(mlir::Location loc);

  mlir::OpBuilder builder;
  mlir::Location loc;

  mlir::Value constant(int64_t value);
  /// A constant of an integer type.
  mlir::Value constant(int64_t value, mlir::Type type);
  /// The position as this integer type: cut, or with zeros in front.
  mlir::Value resized(mlir::Value position, mlir::Type type);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, int64_t factor);
  /// The position, clamped to `size` - 1. If tiles of `tile` positions do not
  /// divide `size`, the condition that this position is below `size` is added
  /// to `exists` (null at first).
  mlir::Value clampedToSize(mlir::Value position, int64_t size, int64_t tile,
                            mlir::Value &exists);

  /// Sets the op before which code outside of all loops is inserted.
  void setEnd(mlir::Operation *anchor) { end = anchor; }
  /// Builds a loop from `begin` on in steps, with the body at the counter, and
  /// closes it. Fails if the body does.
  llvm::LogicalResult
  loop(mlir::Value begin, mlir::Value end, mlir::Value step,
       llvm::function_ref<llvm::LogicalResult(mlir::Value i)> body);
  llvm::LogicalResult
  loop(int64_t n, llvm::function_ref<llvm::LogicalResult(mlir::Value i)> body);
  /// Builds a loop over [0, n) whose body does not fail.
  void each(int64_t n, llvm::function_ref<void(mlir::Value i)> body);
  void each(mlir::Value begin, mlir::Value end,
            llvm::function_ref<void(mlir::Value i)> body);
  void each(mlir::Value begin, mlir::Value end, mlir::Value step,
            llvm::function_ref<void(mlir::Value i)> body);
  /// Like each(); the body at 0, without a loop, if n is 1.
  void eachOrOnce(int64_t n, llvm::function_ref<void(mlir::Value i)> body);
  /// A loop over [0, n) in steps.
  void eachOf(int64_t n, int64_t step,
              llvm::function_ref<void(mlir::Value i)> body);
  /// A loop that carries values: the body returns the next values, the call the
  /// last ones.
  using Carried = llvm::FailureOr<llvm::SmallVector<mlir::Value>>;
  Carried
  loop(mlir::Value begin, mlir::Value end, mlir::Value step,
       mlir::ValueRange first,
       llvm::function_ref<Carried(mlir::Value i, mlir::ValueRange)> body);
  Carried
  loop(int64_t n, mlir::ValueRange first,
       llvm::function_ref<Carried(mlir::Value i, mlir::ValueRange)> body);
  /// Such loops over [0, n) for each of the sizes, one in the other.
  Carried loops(
      llvm::ArrayRef<int64_t> sizes, mlir::ValueRange first,
      llvm::function_ref<Carried(mlir::ValueRange at, mlir::ValueRange)> body);
  /// Such a loop whose body does not fail.
  using Values = llvm::SmallVector<mlir::Value>;
  Values fold(mlir::Value begin, mlir::Value end, mlir::Value step,
              mlir::ValueRange first,
              llvm::function_ref<Values(mlir::Value i, mlir::ValueRange)> body);
  /// Opens a loop [0, n) of the current nest; the builder moves into its body,
  /// or stays after it once closeLoops is called.
  mlir::Value openLoop(int64_t n, mlir::ValueRange carried = {});
  mlir::Value openLoop(mlir::Value begin, mlir::Value end,
                       mlir::ValueRange carried = {});
  mlir::Value openStridedLoop(mlir::Value begin, mlir::Value end,
                              mlir::Value step, mlir::ValueRange carried = {});
  mlir::scf::ForOp innermostLoop() { return levels.back(); }
  void closeLoops(unsigned depth);
  unsigned depth() const { return levels.size(); }
  /// Moves the builder to the place with `depth` open loops.
  void enterDepth(unsigned depth);
  /// The number of loops around the place where a position is known;
  /// `otherwise` if the position is no loop's counter.
  unsigned depthOf(mlir::Value position, unsigned otherwise);

  /// Constant bounds of a position in the current nest: [first, second).
  void setRange(mlir::Value position, int64_t begin, int64_t end) {
    ranges[position] = {begin, end};
  }
  /// The bounds of a position in a dimension of that size.
  std::pair<int64_t, int64_t> rangeOf(mlir::Value position,
                                      int64_t size) const {
    auto found = ranges.find(position);
    return found == ranges.end() ? std::pair<int64_t, int64_t>(0, size)
                                 : found->second;
  }

  /// Marks the iterations of the innermost loop as independent in memory.
  void markParallel();
  /// Marks the innermost loop as one of which vectors compute `chains` of the
  /// carried values side by side.
  void markInterleaved(int64_t chains);
  /// Marks the innermost loop as not to be unrolled or vectorized.
  void markPlain();

protected:
  /// The number of times that loops were closed: values computed before may be
  /// out of scope.
  unsigned closings() const { return closed; }
  /// The access group of ElementEmitter's loads and stores. markParallel
  /// declares that a loop's iterations have independent accesses.
  mlir::LLVM::AccessGroupAttr accessGroup;

private:
  llvm::SmallVector<mlir::scf::ForOp> levels;
  llvm::DenseMap<mlir::Value, std::pair<int64_t, int64_t>> ranges;
  mlir::Operation *end = nullptr;
  unsigned closed = 0;
};

} // namespace weft::elements

#endif // WEFT_COMPILER_CODEGEN_ELEMENTS_LOOPNEST_H
