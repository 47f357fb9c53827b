//===- ConflictResolution.h - the cheaper side of each conflict ----*- C++ -*-===//
//
// An axis shards one factor of an op only. If an op's tensors need it for two,
// propagation gives it to the first, everywhere. Worked example: h is [data,
// model], w2 [model, -] and the bias b [model]:
//
//   %y = dot %h, %w2      wants "model" for the summed factor
//   %z = add %y, %b       b wants it for the columns of y and z, and so for
//   %l = softmax loss     all of the loss and its gradient
//
// Each op alone would cut and gather y again and again. Here the conflict is
// resolved for all affected ops: y is tried in the layout that the dot
// produces, z and the ops that share y's columns get matching axes, and all ops
// with one of these values are priced before and after. The price is the time
// and bytes of movements (a value that several ops need arrives once) and of
// repeated work. The cheaper one is kept: b is gathered, 30 bytes, and the loss
// is not split.
//
// A constraint, or another op that states the layout of an operand, is tried in
// the same way, with the operand in that layout. A value that a loop carries is
// one value, outside and inside; what moves in a loop counts once a round. A
// carried value does not give up axes for less traffic, as it would take more
// memory for as long as the loop runs.
//
// Annotated values, arguments and groups never change. A change is followed over
// at most 512 values; the order is the program's. Conflicts with equal
// surroundings, as in layers, are tried until three tries in a row have failed.
// LayoutSearch.h says when conflicts are resolved so, and not all at once.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_PROPAGATION_CONFLICTRESOLUTION_H
#define WEFT_PASSES_SHARDING_PROPAGATION_CONFLICTRESOLUTION_H

#include "weft/passes/sharding/propagation/ChooseSharding.h"
#include "weft/passes/sharding/propagation/LayoutTable.h"

#include "llvm/ADT/BitVector.h"

namespace weft {

/// A sum, and a price that is paid this many times.
Price plusTimes(const Price &sum, const Price &price, int64_t times);

class ConflictResolution {
public:
  explicit ConflictResolution(LayoutTable &table [[clang::lifetimebound]]);
  /// Chooses the sharding of each op by itself. Returns whether one is in
  /// conflict, disagrees with the table or sends messages of its own.
  bool chooseAll();
  /// Resolves the conflicts, one after the other.
  void resolve();

  /// The sharding of each op of the table; for constraints and the return, the
  /// layouts that they require of their operands.
  const std::vector<OpSharding> &shardings() const { return chosen; }
  /// The number of ops whose tensors want an axis for two factors, or other
  /// axes for one.
  unsigned conflicts() const;

private:
  struct Change {
    mlir::Value value;
    Layout before, after;
  };
  struct Settlement {
    Price saved;
    std::vector<Change> changes;
  };
  using Ops = llvm::SmallVector<unsigned>;

  void choose(unsigned op);
  const OpPrice &price(unsigned op);
  /// Whether an op produces or requires a layout of a free value that differs
  /// from the table's.
  bool disagrees(const OpWithRule &op, const OpSharding &sharding) const;
  /// Whether an op that states the layout of a free operand differs from the
  /// table.
  bool wantsOtherwise(const OpWithRule &op, unsigned operand) const;
  /// Whether an operand becomes a free value of another layout.
  bool becomesOther(const OpWithRule &op, unsigned operand) const;
  /// Whether the op is in conflict, disagrees with the table, or sends messages
  /// of its own or for look-ups, which another sharding may do without.
  bool isOpen(unsigned op);
  llvm::hash_code hashOp(const OpWithRule &op) const;
  /// The hash of the op and of those that share a value with it, up to eight
  /// for each value.
  size_t hashSurroundings(const OpWithRule &op) const;
  unsigned sweep(size_t limit);
  bool settle(unsigned op, size_t limit);
  /// Resolves a conflict of an op by the best of all candidates.
  bool settleOp(unsigned op, size_t limit);
  /// Tries each operand in the layout that the op states, and the value that it
  /// becomes in the operand's layout, and keeps what is cheaper.
  bool settleBorder(unsigned op, size_t limit);
  /// The savings if the op runs with these axes and all values that share them
  /// follow.
  Settlement attemptSharding(const OpWithRule &piece, const FactorAxes &axes,
                             size_t limit);
  /// The savings if an operand has the layout that the op states.
  Settlement attemptOperand(unsigned op, unsigned operand, size_t limit);
  /// The savings if the value that an operand becomes has the operand's layout.
  Settlement attemptTarget(unsigned op, unsigned operand, size_t limit);
  /// Makes the changes that follow from those made, prices all of them, and
  /// reverts them.
  Settlement followChanges(size_t limit);
  /// Applies the changes of a settlement if they are cheaper.
  bool adopt(Settlement settlement, unsigned op);
  void change(mlir::Value value, const Layout &layout);
  /// Makes tensors of the op that share a factor with a changed one take its
  /// axes too.
  void follow(const OpWithRule &op, const Change &change);
  void followPiece(const OpWithRule &piece, const Change &change);
  /// Makes the values that become a changed one take its layout too, and those
  /// that it becomes.
  void followFlow(mlir::Operation *op, const Change &change);
  /// The ops of the table, except sources, that make or use a value, or pass on
  /// one of its class, at most about `most`.
  Ops around(mlir::Value value, size_t most = SIZE_MAX) const;
  /// All ops with a changed value, each once.
  Ops concerned() const;
  /// The price of the ops together, each as often as it is run; a value that
  /// several of them need is moved once.
  Price totalPrice(llvm::ArrayRef<unsigned> ops);
  void forget(llvm::ArrayRef<unsigned> ops);

  LayoutTable &table;
  ShardingPrices pricing;
  std::vector<OpSharding> chosen;
  std::vector<std::optional<OpPrice>> prices;
  llvm::BitVector inConflict;
  size_t open = 0; ///< ops that were in conflict or disagreed at first
  std::vector<Change> changes; ///< changes of the current attempt
  llvm::DenseSet<mlir::Value> changed;
  llvm::DenseMap<size_t, unsigned> inVain; ///< failed tries by surroundings
};

} // namespace weft

#endif // WEFT_PASSES_SHARDING_PROPAGATION_CONFLICTRESOLUTION_H
