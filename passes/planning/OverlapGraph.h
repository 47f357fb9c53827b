//===- OverlapGraph.h - what a straight piece of a step needs ---*- C++ -*-===//
//
//   %s = coll.all_reduce sum %g      // a collective over links
//   %m = call @moment(%s)  {plan.shared}  // \ one node: devices that share do
//   %w = call @update(%m)  {plan.shared}  // / both after one wait
//
// Nodes keep the order of what they compute for each other, and of reads and
// writes of one port's memory. Ops with regions or effects are in no piece.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_PLANNING_OVERLAPGRAPH_H
#define WEFT_PASSES_PLANNING_OVERLAPGRAPH_H

#include "weft/passes/planning/BufferAssignment.h"
#include "weft/passes/planning/ListSchedule.h"

namespace weft {

/// Consecutive ops of a block that may change places.
using StraightOps = llvm::SmallVector<mlir::Operation *>;
/// The pieces of a block in which a collective is sent over links.
std::vector<StraightOps> straightPieces(mlir::Block &block);

/// Whether the op is a collective that links carry.
bool isSentOverLinks(mlir::Operation *op);

/// The first op of the block that uses one of these values of it, also in a
/// region; null if none does.
mlir::Operation *firstUser(mlir::ValueRange results, mlir::Block &block);

/// The operations of the call of a kernel with loop nests, or of a library.
double operationsOf(mlir::Operation *call);

class OverlapGraph {
public:
  /// `assignment` has the places of ports, `apart` the buffers of a device that
  /// shares nothing. Memory is counted by `apart`.
  OverlapGraph(StraightOps piece, const BufferAssignment &assignment,
               const BufferAssignment &apart, const StepPrices &prices);
  const StraightSteps &steps() const { return graph; }
  /// Puts the ops in the order of a schedule, and a plan.await before the first
  /// op that needs a collective. Returns the number of collectives that are
  /// not awaited at once.
  unsigned apply(const ListSchedule &schedule);

private:
  void addNodes(const StepPrices &prices);
  void addBuffers(const BufferAssignment &apart);
  void addOrder(const BufferAssignment &assignment);
  /// Keeps reads of `other` that are before the op with `written` there.
  void keepBefore(mlir::Value other, mlir::OpResult written);
  void need(unsigned node, unsigned before);
  std::optional<unsigned> nodeOf(mlir::Operation *op) const;

  StraightOps piece;
  StraightSteps graph;
  llvm::SmallVector<mlir::Operation *> data; ///< ops of the plan in no node
  std::vector<llvm::SmallVector<mlir::Operation *, 1>> ops; ///< indexed by node
  llvm::DenseMap<mlir::Operation *, unsigned> nodes;
};

} // namespace weft

#endif // WEFT_PASSES_PLANNING_OVERLAPGRAPH_H
