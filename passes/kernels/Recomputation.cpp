//===- Recomputation.cpp - how often a kernel computes a value ------------===//

#include "weft/passes/kernels/Recomputation.h"

#include "weft/dialects/weft/TensorType.h"
#include "weft/dialects/weft/Weft.h"
#include "weft/passes/kernels/KernelGroups.h"

#include "llvm/ADT/DenseMap.h"

#include <optional>

using namespace mlir;

namespace weft {

namespace {

/// Walks a group from its results back to its arguments.
class ReadCounter {
public:
  explicit ReadCounter(ArrayRef<Operation *> ops) {
    for (Operation *op : ops)
      reads.try_emplace(op);
  }
  /// Visits a member; returns whether the group must be cut after it.
  bool visitMember(Operation *op, bool isResult);
  /// Visits an op that is copied into every kernel.
  void visitCopy(Operation *op) { pass(op, reads[op]); }

private:
  /// Positions at which a value is read, as indices of `nests`.
  using Positions = SmallVector<unsigned, 2>;

  unsigned position(unsigned nest) {
    nests.push_back(nest);
    return nests.size() - 1;
  }
  /// The position that all scalars of a nest share.
  unsigned scalar(unsigned nest) {
    auto [found, isNew] = scalars.try_emplace(nest);
    if (isNew)
      found->second = position(nest);
    return found->second;
  }
  bool isOfLaterKernel(unsigned position) const { return position < firstHere; }
  bool joinsNest(Operation *op) const;
  void add(Value value, unsigned position);
  void pass(Operation *op, ArrayRef<unsigned> positions);

  llvm::DenseMap<Operation *, Positions> reads;
  SmallVector<unsigned> nests; ///< nest of each position
  llvm::DenseMap<unsigned, unsigned> scalars;
  unsigned numNests = 0;
  /// The first position of the present kernel. Smaller positions belong to the
  /// kernels of later ops, after a cut.
  unsigned firstHere = 0;
  /// The position of the nest that the next stored value may join.
  std::optional<unsigned> current;
  ArrayRef<int64_t> currentShape;
};

} // namespace

void ReadCounter::add(Value value, unsigned position) {
  Operation *producer = value.getDefiningOp();
  auto found = producer ? reads.find(producer) : reads.end();
  // Positions are counted up to one more than the limit.
  if (found != reads.end() && found->second.size() <= kMostComputed &&
      !llvm::is_contained(found->second, position))
    found->second.push_back(position);
}

void ReadCounter::pass(Operation *op, ArrayRef<unsigned> positions) {
  Positions own(positions); // Copied, as `positions` may be the same list.
  for (OpOperand &use : op->getOpOperands())
    for (unsigned at : own) {
      int64_t elsewhere = elementsReadElsewhere(use);
      if (isOfLaterKernel(at) || (elsewhere == 0 && keepsPositions(op)))
        add(use.get(), at);
      else if (typeOf(use.get()).getRank() == 0)
        add(use.get(), scalar(nests[at]));
      else
        for (int64_t i = 0; i < std::max<int64_t>(elsewhere, 1); ++i)
          add(use.get(), position(nests[at]));
    }
}

/// Whether a stored value may join the present nest: it has the shape of the
/// nest, and the nest reads it only at the position that it writes.
bool ReadCounter::joinsNest(Operation *op) const {
  const Positions &own = reads.find(op)->second;
  return current && typeOf(op->getResult(0)).getShape() == currentShape &&
         own.size() <= kMostComputed && llvm::all_of(own, [&](unsigned at) {
           return at == *current || nests[at] != nests[*current];
         });
}

bool ReadCounter::visitMember(Operation *op, bool isResult) {
  ArrayRef<unsigned> own = reads[op];
  bool hasNest = hasLoopNest(op);
  bool isStored =
      hasNest || isResult || llvm::any_of(own, [&](unsigned position) {
        return isOfLaterKernel(position);
      });
  bool isCut = !isStored && own.size() > kMostComputed;
  if (isCut) {
    firstHere = nests.size();
    current.reset();
  }
  if (hasNest) {
    current.reset();
    unsigned at = position(numNests++);
    pass(op, at);
  } else if (isStored || isCut) {
    if (!joinsNest(op)) {
      current = position(numNests++);
      currentShape = typeOf(op->getResult(0)).getShape();
    }
    pass(op, *current);
  } else {
    pass(op, own);
  }
  return isCut;
}

SmallVector<Operation *>
cutsAgainstRecomputation(ArrayRef<Operation *> ops,
                         llvm::function_ref<bool(Operation *)> isMember,
                         llvm::function_ref<bool(Operation *)> isResult) {
  ReadCounter counter(ops);
  SmallVector<Operation *> cuts;
  for (Operation *op : llvm::reverse(ops)) {
    if (!isMember(op))
      counter.visitCopy(op);
    else if (counter.visitMember(op, isResult(op)))
      cuts.push_back(op);
  }
  return cuts;
}

} // namespace weft
