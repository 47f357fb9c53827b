//===- Tape.h - inlines calls, records ops for reverse mode -----*- C++ -*-===//

#ifndef WEFT_PASSES_TRAINING_TAPE_H
#define WEFT_PASSES_TRAINING_TAPE_H

#include "weft/dialects/weft/Weft.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

namespace weft {

/// Expands func.call and weft.value_and_grad at an insertion point. The ops
/// that inlining a body creates, in order, are its tape; walked backwards it
/// gives the gradients (ReverseMode.h). Calls in regions of inlined ops are
/// expanded at once.
class Expander {
public:
  Expander(mlir::SymbolTable &symbols [[clang::lifetimebound]],
           mlir::OpBuilder &builder [[clang::lifetimebound]])
      : symbols(symbols), builder(builder) {}

  using Tape = llvm::SmallVectorImpl<mlir::Operation *>;
  using Values = llvm::SmallVector<mlir::Value>;

  /// Whether expand() replaces the op.
  static bool isExpandable(mlir::Operation *op);
  /// Expands ops in the regions of `op`.
  llvm::LogicalResult expandWithin(mlir::Operation *op);
  /// Creates the ops that replace `op`, a call or a value_and_grad, at the
  /// insertion point with these operands; returns the values of its results.
  llvm::FailureOr<Values> expand(mlir::Operation *op, mlir::ValueRange operands,
                                 Tape &tape);

  unsigned differentiated = 0;
  unsigned gradientOps = 0;
  /// The number of created ops, which is limited: 30 functions that each call
  /// the previous function twice would make 2^30 ops.
  uint64_t created = 0;

private:
  llvm::LogicalResult count(mlir::Operation *at, uint64_t ops);
  llvm::FailureOr<Values> inlineBody(mlir::func::FuncOp callee,
                                     mlir::ValueRange operands, Tape &tape);
  llvm::FailureOr<Values> differentiate(ValueAndGradOp op,
                                        mlir::func::FuncOp callee,
                                        mlir::ValueRange operands, Tape &tape);

  mlir::SymbolTable &symbols;
  mlir::OpBuilder &builder;
  /// Functions being inlined, outermost first.
  llvm::SetVector<mlir::Operation *> stack;
};

} // namespace weft

#endif // WEFT_PASSES_TRAINING_TAPE_H
