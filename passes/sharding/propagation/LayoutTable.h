//===- LayoutTable.h - the layout every value should have -------*- C++ -*-===//
//
// The table in which propagation decides layouts; types do not change. Worked
// example: x is annotated [data, -], w1 [-, model] and w2 [-, -]:
//
//   %h = dot %x, %w1    data: h gets [data, -]; then weights: [data, model]
//   %r = relu %h        elementwise, so next: [data, model]
//   %y = dot %r, %w2    [data, -]; w2 is closed and stays [-, -], the op
//                       will slice it
//
// Layouts of data and constraints are propagated first, so that no weight's
// layout takes the batch's axis from an activation. A layout only ever grows.
//
// An annotated layout is closed. An argument, or a `weft.constrain`, may say
// more about its value:
//
//   weft.open = array<i64: 1>     dimension 1 may take further axes
//   weft.replicated = ["model"]   "model" shards no dimension of it
//   weft.priority = 1             what it says counts after those of 0 (none
//                                 said: 0) have spread everywhere
//   weft.group = "embedding"      all values of the group have one layout
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_PROPAGATION_LAYOUTTABLE_H
#define WEFT_PASSES_SHARDING_PROPAGATION_LAYOUTTABLE_H

#include "weft/passes/sharding/FreeRegions.h"
#include "weft/passes/sharding/OpSharding.h"
#include "weft/passes/sharding/RegionFlow.h"
#include "weft/passes/sharding/propagation/GrowingLayout.h"
#include "weft/passes/sharding/propagation/LayoutJournal.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

#include <set>

namespace weft {

class LayoutTable {
public:
  LayoutTable(mlir::func::FuncOp function, MeshAttr mesh);

  /// Records in the journal, from now on, the reasons for layouts.
  void keep(LayoutJournal *record) { journal = record; }
  LayoutJournal *kept() const { return journal; }
  /// Enters all annotations except those of `without`. An error names the
  /// argument and both values.
  llvm::LogicalResult seed(mlir::Value without = {});
  void propagate();

  const Mesh &mesh() const { return meshValue; }
  MeshAttr meshAttr() const { return meshAttribute; }
  llvm::ArrayRef<OpWithRule> ops() const { return ruled; }
  /// Whether the value is in the function that the table was made of.
  bool knows(mlir::Value value) const {
    return entries.contains(flow.leader(value));
  }
  /// The value that represents all values that a loop passes on as one.
  mlir::Value leader(mlir::Value value) const { return flow.leader(value); }
  /// The layout decided for a ranked tensor that the table knows.
  const Layout &get(mlir::Value value) const {
    return entries.find(flow.leader(value))->second.layout;
  }
  /// The layout with the axes along which the value is annotated as partial:
  /// for arguments, constraints and ops that state layouts. Propagation uses
  /// dimensions only.
  Layout annotated(mlir::Value value) const;
  /// The layouts that an op with regions, or the end of one, requires and produces:
  /// the table's for values that regions pass on; predicates are replicated; axes that
  /// an op states come before the free axes of its region.
  OpSharding regionSharding(mlir::Operation *op) const;
  /// Layouts of an op's tensors; null for non-tensors and sources' results.
  TensorLayouts layoutsOf(const OpWithRule &op) const;
  /// The layout that a result of the function must have.
  Layout resultLayout(unsigned result) const;
  /// Whether the value is computed by a source, so that any layout is free.
  bool isSource(mlir::Value value) const { return sources.contains(value); }
  /// Whether propagation alone decided the layout, and another is possible.
  /// Arguments are visible outside, and members of groups have one layout.
  bool isFree(mlir::Value value) const;
  /// Gives a free value another layout.
  void set(mlir::Value value, const Layout &layout) {
    entries.find(value)->second.layout = layout;
  }
  /// The external layout of a port that is not annotated: if ports are full
  /// (Ports.h), whole axes that divide the dimension.
  Layout asPort(Layout layout, mlir::Type type) const;
  /// The index of an op in ops().
  std::optional<unsigned> indexOf(mlir::Operation *op) const {
    auto it = indices.find(op);
    return it == indices.end() ? std::nullopt : std::optional(it->second);
  }

private:
  struct Entry : GrowingLayout {
    bool isState = false; ///< a weight or a slot: after data and constraints
    int64_t priority = 0;
    mlir::StringAttr group;
    /// Whether no annotation names the value.
    bool isUnannotated() const {
      return !fixed && !group && forbiddenAxes.empty();
    }
  };
  /// The annotations that a round of propagation spreads.
  struct Round {
    int64_t priority = 0;
    bool withState = false, elementwiseOnly = false;
    bool includes(const Entry &entry) const {
      return entry.priority <= priority && (withState || !entry.isState);
    }
  };
  /// Adds the ops of a block, in which no value is sharded over a bound axis.
  void addBlock(mlir::Block &block, llvm::ArrayRef<SubAxis> bound);
  Entry &entryOf(mlir::Value value) { return entries[flow.leader(value)]; }
  std::optional<Layout> annotation(mlir::Attribute attribute, mlir::Type type,
                                   const llvm::Twine &what);
  llvm::LogicalResult seedArguments();
  llvm::LogicalResult seedResults();
  llvm::LogicalResult seedConstraints();
  llvm::LogicalResult seedFixedLayouts();
  llvm::LogicalResult checkBound(mlir::Operation *op, const Layout &layout);
  void openToFreeAxes(mlir::Value value, llvm::ArrayRef<SubAxis> free);
  llvm::LogicalResult seedOptions(mlir::Value value);
  llvm::LogicalResult seedReplicated(mlir::Value value, Entry &entry);
  llvm::LogicalResult joinGroups();
  llvm::LogicalResult joinGroup(mlir::Value first);
  /// Annotates a value: `by` is the op that states the layout, the function's
  /// end for a result, null for an argument.
  void fix(mlir::Value value, const Layout &layout, bool isState,
           mlir::Operation *by);
  /// Annotates the value itself, not its uses, as partial.
  void leavePartial(mlir::Value value, const Layout &layout);
  /// Extends the layout of a value, and of its group, if it may grow: with the
  /// axes that another value has for `by`, or by its rule.
  void grow(mlir::Value value, const Layout &wanted,
            llvm::SmallVectorImpl<mlir::Value> &changed, mlir::Operation *by,
            mlir::Value like);
  /// Runs the worklist over ops until nothing changes.
  void run(const Round &round);
  bool update(const OpWithRule &op, const Round &round,
              llvm::SmallVectorImpl<mlir::Value> &changed);
  /// Propagates between values that regions pass on.
  void updateFlow(mlir::Operation *op, const Round &round,
                  llvm::SmallVectorImpl<mlir::Value> &changed);
  /// Propagates between an op's stated layouts and the free axes of its operands, its
  /// results and the values of its region. `op` is that op, or its region's end.
  void updateBorder(mlir::Operation *op, const Round &round,
                    llvm::SmallVectorImpl<mlir::Value> &changed);
  void extendGroup(mlir::Value value,
                   llvm::SmallVectorImpl<mlir::Value> &changed);
  /// Closes the layouts of all values that elementwise ops join with an
  /// annotated weight or slot: an optimizer's arithmetic is laid out like its
  /// state, whatever the activations asked of a gradient before.
  void closeAroundState();

  mutable mlir::func::FuncOp function;
  LayoutJournal *journal = nullptr;
  mlir::Value ignored; ///< the value whose annotation is not entered
  RegionFlow flow;
  MeshAttr meshAttribute;
  Mesh meshValue;
  std::vector<OpWithRule> ruled;
  llvm::DenseMap<mlir::Operation *, unsigned> indices;
  llvm::DenseMap<mlir::Value, Entry> entries;
  llvm::DenseMap<mlir::Value, Layout> partials; ///< of annotated values
  llvm::DenseSet<mlir::Value> sources;
  std::vector<std::optional<Layout>> results;
  llvm::SmallVector<mlir::Value>
      donatedArguments; ///< argument per result, or null
  llvm::DenseMap<mlir::Attribute, llvm::SmallVector<mlir::Value>> groups;
};

} // namespace weft

#endif // WEFT_PASSES_SHARDING_PROPAGATION_LAYOUTTABLE_H
