//===- KernelGroups.h - which ops become one kernel -------------*- C++ -*-===//
//
//   %0 = weft.dot %x, %w ...          group 0: dot, broadcast (a copy), add, relu
//   %1 = weft.broadcast %b dims [1]
//   %2 = weft.add %0, %1
//   %3 = weft.relu %2
//   %4 = coll.all_reduce sum %3 ...   group 1: a communication stays by itself
//   %5 = weft.exp %4                  group 2: exp
//
// Ops that only move or generate elements (broadcast, transpose, slice,
// constants, iota, ...) belong to no group, unless an op outside of kernels
// reads them: each consumer has a copy. In a chain of such ops every eighth op
// is in a group, like other ops, so that copying is linear in the program.
// Constants are grouped only if isFilled(). Where a library computes contractions
// of memory only, an op that moves the elements of an operand may be in a group,
// too (LibraryGroups.cpp). An op that changes elements of an
// operand (UpdatedOperand.h) is alone in a group if it may write in that
// operand's memory: then no op that reads the old value is in its group, and
// such ops rank before it unless they need the new value. A group that would
// compute a value too often is cut (Recomputation.h). Groups are convex: no
// path leaves a group and comes back. They have a few hundred ops at most.
// Ranks order the groups. A merge of two examines only groups that rank between
// them, so that the time is linear in the program (Pearce and Kelly, "A dynamic
// topological sort algorithm for directed acyclic graphs", 2006).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_KERNELS_KERNELGROUPS_H
#define WEFT_PASSES_KERNELS_KERNELGROUPS_H

#include "weft/dialects/nest/TargetLimits.h"
#include "weft/passes/kernels/LibraryCall.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

#include <set>

namespace weft {

struct KernelGroup {
  llvm::SmallVector<mlir::Operation *> ops; ///< in program order
  bool isFixed = false; ///< a communication, loop or branch: stays as it is
  unsigned rank = 0;    ///< every group ranks after the groups that it needs
  bool isElementwise = false; ///< all ops are elementwise, over one shape
  bool hasContraction = false;
  bool hasOwnNest = false; ///< an op with the trait OwnLoopNest
  bool isDonated = false;  ///< writes memory that an argument donates
  bool isUpdate = false;   ///< one op that writes in its operand's memory
  /// Operands that another kernel computes (kApartAttr).
  llvm::SmallVector<mlir::Value, 0> apart;
  llvm::SetVector<unsigned> before; ///< groups that this group needs
  std::set<unsigned> after;         ///< groups that need this group
};

/// The ops of a block that are copied into every kernel that uses them.
class CopiedOps {
public:
  explicit CopiedOps(mlir::Block &block);
  bool contains(mlir::Operation *op) const { return depths.contains(op); }
  /// Lets a kernel store the op's result, which others then read.
  void store(mlir::Operation *op) { depths.erase(op); }
  /// Copies an op that moves elements of a stored value.
  void copy(mlir::Operation *op) { depths[op] = 1; }
  /// Copies an op; false if the chain of copied ops would be too long, or if a
  /// copy would read what was overwritten.
  bool tryCopy(mlir::Operation *op);

private:
  /// Whether a copy of the op in one of its users would read a value that is
  /// overwritten by the user, or by an op whose result the user needs.
  bool isReadAfterUpdate(mlir::Operation *op) const;
  llvm::SetVector<mlir::Value> readThroughCopies(mlir::Operation *op) const;
  /// The length of the chain of copied ops that ends at each op.
  llvm::DenseMap<mlir::Operation *, unsigned> depths;
};

class KernelGroups {
public:
  /// Groups the ops of one block; regions are not visited. If a kernel must be
  /// one nest, groups are those that one nest can compute, as far as possible.
  /// A contraction that a library computes is grouped only with ops of its
  /// epilogue.
  KernelGroups(mlir::Block &block, const nest::TargetLimits &limits);
  /// Non-empty groups, each after the groups that it needs.
  llvm::SmallVector<const KernelGroup *> inOrder() const;
  const CopiedOps &copied() const { return copies; }
  /// The number of cuts of groups, made so that no value is computed too often.
  unsigned cuts() const { return numCuts; }

private:
  /// Groups the ops of the block that are not copied.
  void group(mlir::Block &block);
  /// Lets kernels store operands that are then read faster (CopiedOps.cpp).
  void storeReadOften(mlir::Block &block);
  /// Lets kernels compute stored values again that are cheap; false if there are
  /// none (RecomputedValues.cpp).
  bool recomputeStored(mlir::Block &block);
  bool recompute(mlir::Operation *op);
  /// Whether another group reads the op's result.
  bool isStored(mlir::Operation *op) const;
  bool isReadOutside(mlir::Operation *copied, unsigned own) const;
  bool mayBeRecomputed(mlir::Value value, unsigned own, int64_t elements) const;
  void addDependencies();
  void depend(unsigned group, mlir::Value value);
  /// Whether the consumer is not computed together with the producer (kApartAttr).
  bool areApart(unsigned producer, unsigned consumer) const;
  bool canMerge(unsigned producer, unsigned consumer);
  /// Finds the groups after `producer` (before `consumer`) that rank between
  /// the two; false if there are too many, or if another path joins the two.
  bool findBetween(unsigned producer, unsigned consumer, bool forward,
                   llvm::SetVector<unsigned> &found) const;
  /// Ranks a consumer before all groups that need the values producer.
  void rankTogether(unsigned producer, unsigned consumer);
  void merge(unsigned into, unsigned from);
  /// Merges a producer that satisfies the condition into the consumer; false if
  /// there is none.
  bool mergeProducers(
      unsigned consumer,
      llvm::function_ref<bool(unsigned producer, unsigned consumer)> condition);
  /// Merges adjacent groups that satisfy a condition until no such groups are
  /// left.
  void mergeNeighbours(
      llvm::function_ref<bool(unsigned producer, unsigned consumer)> condition);
  /// Decides which operands of contractions a kernel stores, so that a library
  /// computes the contraction.
  void storeOperands(mlir::Block &block);
  void mergeRounded();
  void mergeElementwise();
  void mergeEpilogues();
  void mergeNests();
  void mergeRows();
  /// The kernel that several groups would be, with the ops copied into it.
  KernelValues joined(llvm::ArrayRef<unsigned> of) const;
  /// Whether one nest can compute both groups.
  bool fitOneNest(unsigned producer, unsigned consumer) const;
  /// Whether a library can compute the kernel that the groups would be.
  bool isOfLibrary(llvm::ArrayRef<unsigned> of) const;
  /// Whether a library can compute both groups, if it can compute the producer.
  bool keepLibrary(unsigned producer, unsigned consumer) const;
  /// Whether one nest can compute both groups without a cut, and one of them
  /// has a reduction; if that leaves one row, all results must be scalars.
  bool areRows(unsigned producer, unsigned consumer) const;
  /// The members after which a kernel is cut, so that no value is computed too
  /// often.
  llvm::SmallVector<mlir::Operation *> cutsOf(const KernelValues &kernel) const;
  void cutRecomputation();
  /// Makes the members up to `last` a group before the others.
  void cutAfter(unsigned group, mlir::Operation *last);
  void findDonated(mlir::Block &block);
  /// Whether the memory of the op's updated operand may become its result's.
  bool mayUpdate(mlir::Operation *op, mlir::Block &block) const;
  void findUpdates(mlir::Block &block);
  /// Lets ops that compute large carried values of a loop element by element
  /// stay elementwise, so that they may work in place.
  void findCarried(mlir::Block &block);
  /// Ranks the groups that read an updated operand before the update; those
  /// that need the update are left.
  void readBeforeUpdates();
  /// The groups that read the value, through copied ops, too.
  void addReaders(mlir::Value value, llvm::SetVector<unsigned> &readers) const;

  nest::TargetLimits limits;
  CopiedOps copies;
  unsigned numCuts = 0;
  llvm::SmallVector<KernelGroup> groups;
  llvm::DenseMap<mlir::Operation *, unsigned> groupOf;
  llvm::SetVector<unsigned> needProducer,
      neededByConsumer; ///< groups found by the last canMerge
};

/// Adds an op's copied operands, and the copied ops that these need, before it.
void addCopies(mlir::Operation *op, const CopiedOps &copied,
               llvm::SetVector<mlir::Operation *> &ops);
/// Whether the op stays outside of kernels and reads its operands from memory.
bool staysOutside(mlir::Operation *user);
/// Whether the op is a splat constant that is too large for a plan, and an op
/// outside of kernels reads it.
bool isFilled(mlir::Operation *op);
/// Whether the op stays in the function: it communicates, calls a library, or is
/// a loop or a branch.
bool staysInFunction(mlir::Operation *op);

} // namespace weft

#endif // WEFT_PASSES_KERNELS_KERNELGROUPS_H
