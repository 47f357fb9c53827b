//===- Recomputation.cpp - how often a kernel computes a value ------------===//

#include "weft/passes/kernels/Recomputation.h"

#include "weft/base/Saturating.h"
#include "weft/dialects/weft/TensorType.h"
#include "weft/dialects/weft/Weft.h"
#include "weft/passes/kernels/KernelGroups.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <optional>

using namespace mlir;

namespace weft {

namespace {

/// Walks a group from its results back to its arguments.
class ReadCounter {
public:
  /// Takes the group, operands first.
  ReadCounter(ArrayRef<Operation *> ops,
              llvm::function_ref<bool(Operation *)> isResult,
              int64_t mostRecomputed);
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
  bool isComputedTooOften(Operation *op) const;
  void add(Value value, unsigned position);
  void pass(Operation *op, ArrayRef<unsigned> positions);

  llvm::DenseMap<Operation *, Positions> reads;
  /// The ops that compute an element of an op's result; 0 if it is stored.
  llvm::DenseMap<Operation *, int64_t> work;
  int64_t mostRecomputed;
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

/// The work of an op alone. One that finds out from which operand or position
/// its element comes compares integers, and reads elements one by one.
static int64_t workOfElement(Operation *op) {
  constexpr int64_t kSearch = 16;
  bool moves = llvm::any_of(op->getOpOperands(), [](OpOperand &use) {
    return elementsReadElsewhere(use) != 0;
  });
  return moves && !isElementSource(op) ? kSearch : 1;
}

ReadCounter::ReadCounter(ArrayRef<Operation *> ops,
                         llvm::function_ref<bool(Operation *)> isResult,
                         int64_t mostRecomputed)
    : mostRecomputed(mostRecomputed) {
  for (Operation *op : ops) {
    reads.try_emplace(op);
    int64_t own = workOfElement(op);
    for (OpOperand &use : op->getOpOperands())
      own = saturatingAdd(
          own,
          saturatingMultiply(work.lookup(use.get().getDefiningOp()),
                             std::max<int64_t>(elementsReadElsewhere(use), 1)));
    bool isStored = hasLoopNest(op) || isResult(op);
    work[op] = isStored || op->hasTrait<OpTrait::ConstantLike>() ? 0 : own;
  }
}

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

bool ReadCounter::isComputedTooOften(Operation *op) const {
  const Positions &own = reads.find(op)->second;
  llvm::SmallDenseSet<unsigned> readers;
  for (unsigned at : own)
    readers.insert(nests[at]);
  return own.size() > kMostComputed ||
         saturatingMultiply(work.lookup(op), own.size() - readers.size()) >
             mostRecomputed;
}

bool ReadCounter::visitMember(Operation *op, bool isResult) {
  ArrayRef<unsigned> own = reads[op];
  bool hasNest = hasLoopNest(op);
  bool isStored =
      hasNest || isResult || llvm::any_of(own, [&](unsigned position) {
        return isOfLaterKernel(position);
      });
  bool isCut = !isStored && isComputedTooOften(op);
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

SmallVector<Operation *> cutsAgainstRecomputation(
    ArrayRef<Operation *> ops, llvm::function_ref<bool(Operation *)> isMember,
    llvm::function_ref<bool(Operation *)> isResult, int64_t mostRecomputed) {
  ReadCounter counter(ops, isResult, mostRecomputed);
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
