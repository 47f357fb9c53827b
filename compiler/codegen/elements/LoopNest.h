//===- LoopNest.h - the loops around an element -----------------*- C++ -*-===//
//
//   LoopNest nest(loc, end);                 for i in 16:
//   Value i = nest.openLoop(16);               for j in 8:
//   Value j = nest.openLoop(8);                  <- the builder, depth() is 2
//   nest.closeLoops(1);                          <- after the loop over j
//
// Positions are 64-bit integers. Loops are scf.for; which of them a processor
// shares among its workers or threads is said by a SharedLoops.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_ELEMENTS_LOOPNEST_H
#define WEFT_COMPILER_CODEGEN_ELEMENTS_LOOPNEST_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace weft::elements {

class LoopNest {
public:
  explicit LoopNest(mlir::Location loc);

  mlir::OpBuilder builder;
  mlir::Location loc;

  mlir::Value constant(int64_t value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, int64_t factor);

  /// Where a nest ends that has no open loop.
  void setEnd(mlir::Operation *anchor) { end = anchor; }
  /// A loop [0, n) of the current nest; the builder moves into its body, or
  /// stays after it once closeLoops is called.
  mlir::Value openLoop(int64_t n, mlir::ValueRange carried = {});
  mlir::Value openLoop(mlir::Value begin, mlir::Value end,
                       mlir::ValueRange carried = {});
  mlir::Value openStridedLoop(mlir::Value begin, mlir::Value end,
                              mlir::Value step, mlir::ValueRange carried = {});
  mlir::scf::ForOp innermostLoop() { return levels.back(); }
  void closeLoops(unsigned depth);
  unsigned depth() const { return levels.size(); }
  /// Moves the builder to where `depth` loops are open.
  void enterDepth(unsigned depth);
  /// Loops around the place where a position is known; `otherwise` if it is no
  /// loop's counter.
  unsigned depthOf(mlir::Value position, unsigned otherwise);

  /// Says that the iterations of the innermost loop do not depend on each
  /// other through memory.
  void markParallel();
  /// Says that the innermost loop is neither to be unrolled nor vectorized.
  void markPlain();

protected:
  /// How often loops were closed: what was computed inside them is gone.
  unsigned closings() const { return closed; }
  /// The group of all loads and stores that markParallel marks.
  mlir::LLVM::AccessGroupAttr accessGroup;

private:
  llvm::SmallVector<mlir::scf::ForOp> levels;
  mlir::Operation *end = nullptr;
  unsigned closed = 0;
};

} // namespace weft::elements

#endif // WEFT_COMPILER_CODEGEN_ELEMENTS_LOOPNEST_H
