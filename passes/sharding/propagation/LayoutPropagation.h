//===- LayoutPropagation.h - layouts spread from value to value -*- C++ -*-===//
//
//   LayoutPropagation(table).run();
//
// Worked example: x is annotated [data, -], w1 [-, model] and w2 [-, -]:
//
//   %h = dot %x, %w1    data: h gets [data, -]; then weights: [data, model]
//   %r = relu %h        elementwise, so next: [data, model]
//   %y = dot %r, %w2    [data, -]; w2 is closed and stays [-, -], the op
//                       will slice it
//
// Layouts of data and constraints go first, so that no weight's layout takes
// the batch's axis from an activation. A layout only grows, except in
// closeAroundState() and, at the end, of arguments (LayoutTable::asPort()).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_PROPAGATION_LAYOUTPROPAGATION_H
#define WEFT_PASSES_SHARDING_PROPAGATION_LAYOUTPROPAGATION_H

#include "weft/passes/sharding/propagation/LayoutJournal.h"
#include "weft/passes/sharding/propagation/LayoutTable.h"

#include <map>
#include <set>

namespace weft {

/// Spreads the annotations of a table until nothing changes.
class LayoutPropagation {
public:
  explicit LayoutPropagation(LayoutTable &table [[clang::lifetimebound]])
      : table(table), flow(table.flow()), journal(table.kept()) {}

  void run();

private:
  using Changed = llvm::SmallVectorImpl<mlir::Value>;
  /// Elementwise ops first, then in program order: (is not elementwise, op).
  using Worklist = std::set<std::pair<bool, unsigned>>;
  /// The annotations that a round spreads.
  struct Round {
    int64_t priority = 0;
    bool withState = false, elementwiseOnly = false;
    bool includes(const LayoutEntry &entry) const {
      return entry.priority <= priority && (withState || !entry.isState);
    }
  };

  /// Works through a list of ops until nothing changes.
  void runRound(const Round &round);
  void push(mlir::Operation *op, const Round &round, Worklist &worklist) const;
  /// Pushes the ops that read the value, and the one that computes it.
  void pushNeighbours(mlir::Value value, const Round &round,
                      Worklist &worklist) const;
  /// Propagates among an op's tensors by its rule.
  void update(const OpWithRule &op, const Round &round, Changed &changed);
  /// Lists the operands, of ops with regions and of the ends of regions, that
  /// become the value or that it becomes.
  void noteChanged(mlir::Value value, Changed &changed);
  /// Propagates between the values that regions pass on and their destinations,
  /// for listed operands: a loop may have thousands of which few change.
  void updateFlow(mlir::Operation *op, const Round &round, Changed &changed);
  /// Propagates between an op's stated layouts and the free axes of its
  /// operands, its results and the values of its region. `op` is that op, or
  /// its region's end.
  void updateBorder(mlir::Operation *op, const Round &round, Changed &changed);
  /// Appends axes of `wanted` to the layout of a value and of its group, where
  /// it may grow. `by` and `like` are the op and the value that gave them, for
  /// the journal.
  void grow(mlir::Value value, const Layout &wanted, Changed &changed,
            mlir::Operation *by, mlir::Value like);
  void extendGroup(mlir::Value value, Changed &changed);
  /// Closes the layouts of all values that elementwise ops join with annotated
  /// weights, slots or other state: an optimizer's arithmetic is laid out like
  /// its state, even if activations gave a gradient another layout before.
  void closeAroundState();
  void preferResultLayouts();

  LayoutTable &table;
  const RegionFlow &flow;
  LayoutJournal *journal;
  /// The operands of ops that pass values on whose layouts, or those of what they
  /// become, have changed since the op was visited in this round.
  std::map<mlir::Operation *, std::set<unsigned>> changedOperands;
};

} // namespace weft

#endif // WEFT_PASSES_SHARDING_PROPAGATION_LAYOUTPROPAGATION_H
