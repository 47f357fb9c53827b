//===- LayoutJournal.h - where each axis of each layout comes from --------===//
//
// A record of propagation, kept on request only (weft explain --why):
//
//   LayoutJournal journal;
//   LayoutTable table(function, mesh);
//   table.keep(&journal);
//   ... enter annotations, propagate, resolve conflicts ...
//   journal.last(%y, /*dim=*/0, data)     a rule: weft.dot, from dimension 0 of %x
//   journal.last(%x, /*dim=*/0, data)     an annotation
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_PROPAGATION_LAYOUTJOURNAL_H
#define WEFT_PASSES_SHARDING_PROPAGATION_LAYOUTJOURNAL_H

#include "weft/passes/sharding/OpSharding.h"
#include "weft/passes/sharding/resharding/Price.h"

namespace weft {

/// The reason why a dimension of a value got or lost an axis.
struct LayoutReason {
  enum class Kind {
    Annotation, ///< by `op`; for a result the end, for an argument null
    Rule,       ///< `op` has it in dimension `fromDim` of `from`
    SameValue,  ///< `from` is the same value for a loop, or of the same group
    State,      ///< the value updates state, which has this layout
    Price,      ///< at `op`, this saves `saved`
  };
  Kind kind = Kind::Annotation;
  mlir::Value value;
  unsigned dim = 0;
  SubAxis axis = {};
  mlir::Operation *op = nullptr;
  mlir::Value from = {};
  unsigned fromDim = 0;
  Price saved = {};
  bool isLost = false; ///< the dimension lost the axis
};

class LayoutJournal {
public:
  /// Layouts of an op's tensors, if they have any.
  using Snapshot = std::vector<std::optional<Layout>>;
  static Snapshot snapshotOf(const TensorLayouts &layouts);

  /// Records each axis of `after` that `before` lacks; if the kind is Price,
  /// also each lost axis. `like` has all fields of the records except
  /// dimension, axis and isLost.
  void record(const LayoutReason &like, const Layout &before,
              const Layout &after);
  /// Records the new axes that the rule of an op gives its tensors, each with
  /// the tensor that had the axis on the factor.
  void recordRule(const Mesh &mesh, const OpWithRule &op,
                  const Snapshot &before, const TensorLayouts &after);
  /// The last record of the axis; null if there is none, or if it is a loss.
  const LayoutReason *last(mlir::Value value, unsigned dim,
                           const SubAxis &axis) const;
  /// The record of the last axis that the dimension lost, or null.
  const LayoutReason *lastLost(mlir::Value value, unsigned dim) const;

private:
  void recordTensor(const Mesh &mesh, const OpWithRule &op, unsigned tensor,
                    const Snapshot &before, const Layout &after);

  std::vector<LayoutReason> reasons;
};

} // namespace weft

#endif // WEFT_PASSES_SHARDING_PROPAGATION_LAYOUTJOURNAL_H
