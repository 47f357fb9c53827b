//===- LayoutAssignment.h - from the table to types and reshards ----------===//

#ifndef WEFT_PASSES_SHARDING_PROPAGATION_LAYOUTASSIGNMENT_H
#define WEFT_PASSES_SHARDING_PROPAGATION_LAYOUTASSIGNMENT_H

#include "weft/passes/sharding/Provenance.h"
#include "weft/passes/sharding/ReshardCost.h"
#include "weft/passes/sharding/propagation/LayoutTable.h"

namespace weft {

/// Sets all types of a function at once and inserts reshards. Every op gets its
/// sharding; its operands are resharded to the required layouts. A source is
/// repeated in each required layout, since that moves nothing. A partial value
/// stays partial through ops that are linear in it, as long as that makes it no
/// larger, or if all uses take summands. A value that has been moved before is
/// moved on from there if that is cheaper: of w[d,-], which is needed whole and
/// as [-,d], the second is a slice of the first.
class LayoutAssignment {
public:
  /// Takes `shardings`, the sharding of each op of the table.
  LayoutAssignment(mlir::func::FuncOp function,
                   const LayoutTable &table [[clang::lifetimebound]],
                   std::vector<OpSharding> shardings);
  void run();

  unsigned reshards() const { return numReshards; }

private:
  void assign(unsigned index);
  void assignConstrain(unsigned index);
  void answerObservers();
  void finish();
  /// Keeps partial operands partial if the op is linear in them.
  void delayReductions(const OpWithRule &op, OpSharding &sharding);
  /// The partial layout that all operands with the numbers `operands` have, or
  /// null. Other uses of an operand are allowed only if `wanted`, the partial
  /// layout that the result must have, is this layout.
  const Layout *commonPartial(const OpWithRule &op, const OpSharding &sharding,
                              llvm::ArrayRef<unsigned> operands,
                              const Layout *wanted) const;
  /// A layout with the partial axes over which all uses take the value, if they
  /// agree on some.
  std::optional<Layout> wantedPartial(mlir::Value value) const;
  /// Replaces an operand by the same value in the layout it must have.
  void require(const OpWithRule &op, unsigned operand, const Layout &layout);
  mlir::Value convert(mlir::Value value, const Layout &to, const OpWithRule &op,
                      unsigned operand);
  /// Moves the value to a layout, from the value itself or from a copy of it.
  mlir::Value moveCopy(mlir::Value value, const Layout &to,
                       const OpWithRule &op, unsigned operand);
  /// The value itself or the copy of it that moves to the layout at the lowest
  /// price.
  mlir::Value cheapestSource(mlir::Value value, const Layout &to);
  /// Whether a copy in layout `from` would move at a lower price.
  bool isCheaperFrom(mlir::Value value, const Layout &from, const Layout &to);
  mlir::Value insertReshard(mlir::Value value, const Layout &to,
                            const OpWithRule &op, unsigned operand);
  mlir::Value repeatSource(mlir::Value value, const Layout &layout);
  llvm::SmallVector<mlir::Value> operandsOn(const OpWithRule &source,
                                            const OpSharding &sharding);
  /// The layout to which a partial value is reduced: the layout that all uses
  /// require, else the table's.
  const Layout &reducedLayout(mlir::Value value);
  Layout chooseReduced(mlir::Value value) const;
  Layout summedLayout(mlir::Value value) const;
  /// Whether no other op with a layout uses the value.
  bool isUsedOnlyBy(mlir::Value value, mlir::Operation *op) const;
  Layout requirement(mlir::OpOperand &use) const;
  void setLayout(mlir::Value value, const Layout &layout);
  const Layout *layoutOf(mlir::Value value) const;

  mlir::func::FuncOp function;
  const LayoutTable &table;
  const Mesh &mesh;
  Provenance provenance;
  llvm::DenseMap<mlir::Operation *, unsigned> indexOf;
  std::vector<OpSharding> shardings;
  llvm::DenseMap<mlir::Value, Layout> actual, reduced;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Attribute>, mlir::Value>
      converted;
  llvm::SmallVector<mlir::Operation *> dead;
  /// The value, not resharded yet, or the source from which a value was made.
  llvm::DenseMap<mlir::Value, mlir::Value> origin;
  /// The reshards of a value, in order.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value, 2>> copies;
  ReshardCost pricing;
  unsigned numReshards = 0;
};

} // namespace weft

#endif // WEFT_PASSES_SHARDING_PROPAGATION_LAYOUTASSIGNMENT_H
