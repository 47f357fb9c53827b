//===- RegionFlow.h - values that regions pass on ---------------*- C++ -*-===//
//
// A loop's initial value, the body's argument, what the body yields and the
// result are one value at different times:
//
//   %y = weft.for 10 (%x) { ^bb0(%i, %v): ... weft.yield %w }
//
// %v and %y have one layout, their leader's (%v); %x and %w are brought to it.
// MLIR's RegionBranchOpInterface says which, so that foreign loops are known
// too. No op is known by name here.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_REGIONFLOW_H
#define WEFT_PASSES_SHARDING_REGIONFLOW_H

#include "weft/dialects/weft/Weft.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace weft {

/// Does the op hold regions that pass values on, instead of having a rule?
bool hasRegionFlow(mlir::Operation *op);
/// Such an op, the end of one of its regions, or an op that says layouts itself
/// and the end of its region with free axes.
bool isRuledByRegions(mlir::Operation *op);
/// Where a value that an op of `user`'s kind needs can be made: the op of the
/// value's own block that is, or holds, the user.
mlir::Operation *userInBlockOf(mlir::Value value, mlir::Operation *user);

/// Every loop with flow, inner ones first: what leaves them may leave the outer.
void forEachLoop(mlir::Operation *root,
                 llvm::function_ref<void(mlir::Operation *)> visit);

class RegionFlow {
public:
  /// Looks at all ops with flow in the function.
  explicit RegionFlow(mlir::func::FuncOp function);

  /// The value that stands for all with the same layout; itself if alone.
  mlir::Value leader(mlir::Value value) const {
    auto it = leaders.find(value);
    return it == leaders.end() ? value : it->second;
  }
  /// The leader of the arguments or results that an operand becomes; null where
  /// it becomes none (a predicate, an operand of an op without flow).
  mlir::Value target(mlir::OpOperand &operand) const {
    return targets.lookup(&operand);
  }
  /// Does any operand of the op become another value?
  bool passesOn(mlir::Operation *op) const {
    return llvm::any_of(op->getOpOperands(), [&](mlir::OpOperand &operand) {
      return bool(target(operand));
    });
  }
  /// All values with this leader; none where a value stands alone.
  llvm::ArrayRef<mlir::Value> members(mlir::Value leader) const {
    auto it = membersOf.find(leader);
    return it == membersOf.end() ? llvm::ArrayRef<mlir::Value>() : it->second;
  }
  /// Operands that become the value with this leader.
  llvm::ArrayRef<mlir::OpOperand *> sources(mlir::Value leader) const {
    auto it = sourcesOf.find(leader);
    return it == sourcesOf.end() ? llvm::ArrayRef<mlir::OpOperand *>()
                                 : it->second;
  }

private:
  void addOp(mlir::Operation *op);

  llvm::DenseMap<mlir::Value, mlir::Value> leaders;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value, 4>> membersOf;
  llvm::DenseMap<mlir::OpOperand *, mlir::Value> targets;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::OpOperand *, 2>>
      sourcesOf;
};

} // namespace weft

#endif // WEFT_PASSES_SHARDING_REGIONFLOW_H
