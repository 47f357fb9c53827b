//===- LayoutTable.h - the layout every value should have -------*- C++ -*-===//
//
//   LayoutTable table(function, mesh);          every value is replicated
//   Annotations(table).enter();                 Annotations.h
//   LayoutPropagation(table).run();             LayoutPropagation.h
//   table.get(%y)
//
// Decisions are made here; no type changes.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_PROPAGATION_LAYOUTTABLE_H
#define WEFT_PASSES_SHARDING_PROPAGATION_LAYOUTTABLE_H

#include "weft/passes/sharding/OpSharding.h"
#include "weft/passes/sharding/RegionFlow.h"
#include "weft/passes/sharding/propagation/GrowingLayout.h"
#include "weft/passes/sharding/propagation/OpPlaces.h"
#include "weft/passes/sharding/resharding/TargetRates.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseMap.h"

namespace weft {

class LayoutJournal;

/// The layout and annotations of a value, and of all region arguments and
/// results that carry it.
struct LayoutEntry : GrowingLayout {
  bool isState = false; ///< weight, slot or other state: propagates later
  int64_t priority = 0;
  mlir::StringAttr group;
  /// Layouts that the value is moved to once, if uses start from there at a lower
  /// price (LayoutQuestion.h).
  llvm::SmallVector<Layout, 1> copies;
  /// Whether no annotation, group or forbidden axis restricts the value.
  bool isUnannotated() const {
    return !fixed && !group && forbiddenAxes.empty();
  }
};

class LayoutTable {
public:
  using Entries = llvm::DenseMap<mlir::Value, LayoutEntry>;

  /// Prices are those of a target's links and devices (TargetRates.h), unless
  /// the mesh states its links.
  LayoutTable(mlir::func::FuncOp function, MeshAttr mesh,
              const TargetRates &rates = ratesOfCpus());
  /// The table of a copy of the function, with the layouts of this one.
  LayoutTable of(mlir::func::FuncOp copy, mlir::IRMapping &mapping) const;

  /// Records in the journal, from now on, the reasons for layouts.
  void keep(LayoutJournal *record) { journal = record; }
  LayoutJournal *kept() const { return journal; }

  //===--- the function ---===//
  mlir::func::FuncOp func() const { return function; }
  const Mesh &mesh() const { return meshValue; }
  const TargetRates &rates() const { return *targetRates; }
  MeshAttr meshAttr() const { return meshAttribute; }
  const RegionFlow &flow() const { return regionFlow; }
  /// The part of the mesh on which an op runs.
  MeshPart placeOf(mlir::Operation *op) const { return places.of(op); }
  llvm::ArrayRef<OpWithRule> ops() const { return ruled; }
  /// The place of an op in ops().
  std::optional<unsigned> indexOf(mlir::Operation *op) const {
    auto it = indices.find(op);
    return it == indices.end() ? std::nullopt : std::optional(it->second);
  }
  /// How often the op of that place is run; a loop that does not know its rounds
  /// is taken to run twice.
  int64_t executionsOf(unsigned index) const { return executed[index]; }
  /// How often a value is moved for the op of that place: once for a loop that
  /// does not change it.
  int64_t executionsOfMove(mlir::Value value, unsigned index) const {
    return flow().executionsOfMove(value, ruled[index].op, executed[index]);
  }
  /// Whether the value is computed by a source, so that any layout is free.
  bool isSource(mlir::Value value) const { return sources.contains(value); }

  //===--- layouts of values ---===//
  /// Whether the value is a ranked tensor of the function that the table was
  /// made of, and not in one device's program or the body of an op with a rule.
  bool knows(mlir::Value value) const { return find(value) != nullptr; }
  /// The layout decided for a ranked tensor that the table knows.
  const Layout &get(mlir::Value value) const { return find(value)->layout; }
  /// Gives a free value another layout.
  void set(mlir::Value value, const Layout &layout) {
    entryOf(value).layout = layout;
  }
  /// Whether propagation alone decided the layout, so that another one is
  /// possible. Arguments of functions and of regions with free axes, sources,
  /// and values of a group are not free.
  bool isFree(mlir::Value value) const;
  /// Whether a loop carries the value from one round to the next.
  bool isCarried(mlir::Value value) const;
  /// Whether a value may have the layout as far as the memory of a loop goes: what
  /// a loop carries has no fewer shards than propagation gave it, unless no round
  /// changes it and a device receives all of it in the time of one latency.
  bool mayCarry(mlir::Value value, const Layout &layout) const;
  /// The layout, with the partial axes of the annotation (of an argument, a
  /// constraint or an op that states layouts). Propagation sees dimensions
  /// only.
  Layout annotated(mlir::Value value) const;
  void setPartial(mlir::Value value, const Layout &layout) {
    partials[value] = layout;
  }
  /// Null for a value that the table does not know.
  const LayoutEntry *find(mlir::Value value) const {
    auto it = entries.find(regionFlow.leader(value));
    return it == entries.end() ? nullptr : &it->second;
  }
  LayoutEntry *find(mlir::Value value) {
    return const_cast<LayoutEntry *>(std::as_const(*this).find(value));
  }
  /// The entry of a ranked tensor that the table knows.
  LayoutEntry &entryOf(mlir::Value value) { return *find(value); }
  /// The entries, by the leader of each class of values (RegionFlow.h).
  Entries &all() { return entries; }

  //===--- layouts of ops ---===//
  /// Layouts of an op's tensors; null for non-tensors and sources' results.
  TensorLayouts layoutsOf(const OpWithRule &op) const;
  /// The layouts that an op with regions, or the end of one, requires and
  /// produces: the table's for values that regions pass on; predicates are
  /// replicated; axes that an op states come before the free axes of its
  /// region.
  OpSharding regionSharding(mlir::Operation *op) const;
  /// The layouts that a constraint or the return requires: the annotation of
  /// the constraint, or the results' layouts.
  OpSharding borderSharding(const OpWithRule &op) const;

  //===--- ports ---===//
  /// The layout that a result of the function must have.
  Layout resultLayout(unsigned result) const;
  /// The annotation of a result of the function, if there is one.
  const std::optional<Layout> &annotationOfResult(unsigned result) const {
    return annotatedResults[result];
  }
  void annotateResult(unsigned result, const Layout &layout) {
    annotatedResults[result] = layout;
  }
  /// The argument whose memory a result of the function reuses, or null.
  mlir::Value donatedArgument(unsigned result) const {
    return donatedArguments[result];
  }
  void donate(mlir::Value argument, unsigned result) {
    donatedArguments[result] = argument;
  }
  /// The layout of a port that is not annotated, as seen from outside: where
  /// ports are full (Ports.h), full axes that divide the dimension.
  Layout asPort(Layout layout, mlir::Type type) const;

  //===--- groups: values that are laid out alike ---===//
  void addToGroup(mlir::StringAttr group, mlir::Value value) {
    groups[group].push_back(value);
  }
  llvm::ArrayRef<mlir::Value> group(mlir::StringAttr name) {
    return groups[name];
  }

private:
  /// Adds the values and ops of a block that is run `executions` times; axes in
  /// `bound` are forbidden.
  void addBlock(mlir::Block &block, llvm::ArrayRef<SubAxis> bound,
                int64_t executions);

  mutable mlir::func::FuncOp function;
  LayoutJournal *journal = nullptr;
  RegionFlow regionFlow;
  OpPlaces places;
  MeshAttr meshAttribute;
  const TargetRates *targetRates;
  Mesh meshValue; ///< with the target's links
  std::vector<OpWithRule> ruled;
  std::vector<int64_t> executed;
  llvm::DenseMap<mlir::Operation *, unsigned> indices;
  Entries entries;
  llvm::DenseMap<mlir::Value, Layout> partials; ///< only of annotated values
  llvm::DenseSet<mlir::Value> sources;
  std::vector<std::optional<Layout>> annotatedResults;
  std::vector<mlir::Value> donatedArguments; ///< for each result, or null
  llvm::DenseMap<mlir::Attribute, llvm::SmallVector<mlir::Value>> groups;
};
/// Whether the op computes nothing and states the layouts of its operands.
bool isBorder(const OpWithRule &op);
/// The number of shards of a value.
int64_t shardsOf(const Layout &layout);
/// The layout after its summands are reduced.
Layout withoutSummands(Layout layout);

} // namespace weft

#endif // WEFT_PASSES_SHARDING_PROPAGATION_LAYOUTTABLE_H
