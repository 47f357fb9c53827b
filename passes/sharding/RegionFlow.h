//===- RegionFlow.h - values that regions pass on ---------------*- C++ -*-===//
//
// A loop's initial value, the body's argument, the yielded value and the result
// are one value at different times:
//
//   %y = weft.for 10 (%x) { ^bb0(%i, %v): ... weft.yield %w }
//
// %v and %y have one layout, their leader's (%v); %x and %w are brought to it.
// MLIR's RegionBranchOpInterface defines them, so foreign loops are included.
// No op is known by name here.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_REGIONFLOW_H
#define WEFT_PASSES_SHARDING_REGIONFLOW_H

#include "weft/dialects/weft/Weft.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

#include <optional>

namespace weft {

/// Whether the op has regions that pass values on, instead of a rule.
bool hasRegionFlow(mlir::Operation *op);
/// Whether the op has region flow, ends a region of such an op, states layouts
/// itself, or ends the region of such an op that has free axes.
bool isRuledByRegions(mlir::Operation *op);
/// The op before which a value for `user` can be inserted: in the block of
/// `value`, the user or the op that contains it.
mlir::Operation *userInBlockOf(mlir::Value value, mlir::Operation *user);

/// Visits every loop with region flow, inner ones first: a reshard that moves
/// out of the inner loop may move out of the outer one as well.
void forEachLoop(mlir::Operation *root,
                 llvm::function_ref<void(mlir::Operation *)> visit);

/// How often the regions of an op are run, if the op is run `executions` times;
/// a loop that does not know its rounds is taken to run twice.
int64_t executionsWithin(mlir::Operation *op, int64_t executions);
/// How often an op is run.
int64_t executionsAround(mlir::Operation *op);

/// Carried values of a loop that are the same in every iteration, as the regions
/// pass them on unchanged.
struct LoopInvariant {
  llvm::SetVector<mlir::Value> leaders;
  llvm::SmallVector<mlir::OpOperand *> entering; ///< operands of the loop
};

class RegionFlow {
public:
  /// Collects all ops with flow in the function.
  explicit RegionFlow(mlir::func::FuncOp function);

  /// The value that represents all values of its class, which have one layout;
  /// the value itself if it has no class.
  mlir::Value leader(mlir::Value value) const {
    auto it = leaders.find(value);
    return it == leaders.end() ? value : it->second;
  }
  /// The leader of the arguments or results that an operand becomes; null if it
  /// becomes none (a predicate, an operand of an op without flow).
  mlir::Value target(mlir::OpOperand &operand) const {
    return targets.lookup(&operand);
  }
  /// Whether any operand of the op becomes another value.
  bool passesOn(mlir::Operation *op) const {
    return llvm::any_of(op->getOpOperands(), [&](mlir::OpOperand &operand) {
      return bool(target(operand));
    });
  }
  /// All values with this leader; none for a value that is alone.
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

  /// The parts of the value with this leader that no iteration changes.
  std::optional<LoopInvariant> invariant(mlir::Operation *loop,
                                         mlir::Value leader) const;
  /// How often a value is moved for an op that is run `executions` times: once
  /// for a loop that does not change it, as it is moved before the loop
  /// (HoistReshards.cpp).
  int64_t executionsOfMove(mlir::Value value, mlir::Operation *user,
                           int64_t executions) const;

private:
  void addOp(mlir::Operation *op);
  mlir::Operation *invariantIn(mlir::Value value) const;

  llvm::DenseMap<mlir::Value, mlir::Value> leaders;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value, 4>> membersOf;
  llvm::DenseMap<mlir::OpOperand *, mlir::Value> targets;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::OpOperand *, 2>>
      sourcesOf;
};

} // namespace weft

#endif // WEFT_PASSES_SHARDING_REGIONFLOW_H
