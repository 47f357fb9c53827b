//===- KernelGroups.cpp - which ops become one kernel ---------------------===//

#include "weft/passes/kernels/KernelGroups.h"

#include "weft/dialects/coll/Coll.h"
#include "weft/dialects/host/Host.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"

#include <set>

using namespace mlir;

namespace weft {

/// Groups between two that may become one; with more the two stay apart.
static constexpr unsigned kSearchLimit = 1024;

bool staysInFunction(Operation *op) {
  if (isa<coll::CollDialect>(op->getDialect()))
    return !isa<coll::CoordinateOp, coll::SliceOp, coll::MakePartialOp>(op);
  return isa<RegionBranchOpInterface, host::CallOp>(op);
}

bool isElementwiseOp(Operation *op) {
  return (op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1) ||
         isa<RngBitsOp, coll::MakePartialOp>(op);
}

static bool isSource(Operation *op) {
  return isa<BroadcastOp, IotaOp, ConstantOp, coll::CoordinateOp, TransposeOp,
             ReshapeOp, SliceOp, coll::SliceOp>(op);
}

bool isCopiedIntoKernels(Operation *op) {
  if (isa<ConstantOp>(op))
    return true;
  return isSource(op) && llvm::none_of(op->getUsers(), [](Operation *user) {
           return staysInFunction(user) ||
                  user->hasTrait<OpTrait::IsTerminator>();
         });
}

static ArrayRef<int64_t> shapeOf(Operation *op) {
  return cast<RankedTensorType>(op->getResult(0).getType()).getShape();
}

static bool isElementwiseGroup(const KernelGroup &group) {
  return !group.isFixed && llvm::all_of(group.ops, [&](Operation *op) {
    return isElementwiseOp(op) && shapeOf(op) == shapeOf(group.ops.front());
  });
}
static bool hasDot(const KernelGroup &group) {
  return llvm::any_of(group.ops, llvm::IsaPred<DotOp>);
}

static bool hasWhole(const KernelGroup &group) {
  return llvm::any_of(
      group.ops, [](Operation *op) { return op->hasTrait<ComputedWhole>(); });
}

KernelGroups::KernelGroups(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (isCopiedIntoKernels(&op))
      continue;
    groupOf[&op] = groups.size();
    KernelGroup &group = groups.emplace_back();
    group.rank = groups.size();
    group.ops.push_back(&op);
    group.isFixed = staysInFunction(&op);
  }
  if (auto function = dyn_cast<func::FuncOp>(block.getParentOp()))
    findDonated(function);
  addDependencies();
  // (a) elementwise chains over one shape.
  mergeNeighbours([&](unsigned producer, unsigned consumer) {
    return isElementwiseGroup(groups[producer]) &&
           isElementwiseGroup(groups[consumer]) &&
           shapeOf(groups[producer].ops.front()) ==
               shapeOf(groups[consumer].ops.front());
  });
  // (b) a dot and the elementwise ops on its result.
  mergeNeighbours([&](unsigned producer, unsigned consumer) {
    const KernelGroup &dot = groups[producer];
    return dot.ops.size() == 1 && hasDot(dot) &&
           isElementwiseGroup(groups[consumer]) &&
           !isDonated(groups[consumer]) &&
           shapeOf(dot.ops.front()) == shapeOf(groups[consumer].ops.front());
  });
  // (c) rows and scalars: everything but dots and ops with loops of their own.
  // What updates donated memory stays elementwise, to work in place.
  mergeNeighbours([&](unsigned producer, unsigned consumer) {
    const KernelGroup &a = groups[producer], &b = groups[consumer];
    return !hasDot(a) && !hasDot(b) && !hasWhole(a) && !hasWhole(b) &&
           !isDonated(a) && !isDonated(b);
  });
}

void KernelGroups::findDonated(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto result = function.getArgAttrOfType<IntegerAttr>(i, kDonatedAttr))
      donatedResults.insert(result.getInt());
}

/// The value, and through copied ops what they read, comes from other groups.
void KernelGroups::depend(unsigned group, Value value) {
  Operation *producer = value.getDefiningOp();
  if (!producer)
    return;
  auto found = groupOf.find(producer);
  if (found == groupOf.end()) {
    for (Value operand : producer->getOperands())
      depend(group, operand);
    return;
  }
  if (found->second == group)
    return;
  groups[group].before.insert(found->second);
  groups[found->second].after.insert(group);
}

void KernelGroups::addDependencies() {
  std::optional<unsigned> last;
  for (auto [i, group] : llvm::enumerate(groups)) {
    for (Value operand : group.ops.front()->getOperands())
      depend(i, operand);
    if (!group.isFixed)
      continue;
    // All devices communicate in the program's order.
    if (last) {
      group.before.insert(*last);
      groups[*last].after.insert(i);
    }
    last = i;
  }
}

bool KernelGroups::isDonated(const KernelGroup &group) const {
  for (Operation *op : group.ops)
    for (OpOperand &use : op->getUses())
      if (isa<func::ReturnOp>(use.getOwner()) &&
          donatedResults.contains(use.getOperandNumber()))
        return cast<RankedTensorType>(use.get().getType()).getRank() > 0;
  return false;
}

bool KernelGroups::findBetween(unsigned producer, unsigned consumer,
                               bool forward,
                               llvm::SetVector<unsigned> &found) const {
  found.clear();
  unsigned low = groups[producer].rank, high = groups[consumer].rank;
  unsigned from = forward ? producer : consumer,
           to = forward ? consumer : producer;
  auto visit = [&](unsigned group) {
    for (unsigned next : forward ? groups[group].after : groups[group].before) {
      if (next == to && group != from)
        return false;
      if (next != to && groups[next].rank > low && groups[next].rank < high)
        found.insert(next);
    }
    return found.size() <= kSearchLimit;
  };
  if (!visit(from))
    return false;
  for (unsigned i = 0; i < found.size(); ++i)
    if (!visit(found[i]))
      return false;
  return true;
}

bool KernelGroups::canMerge(unsigned producer, unsigned consumer) {
  return !groups[producer].isFixed && !groups[consumer].isFixed &&
         findBetween(producer, consumer, /*forward=*/true, needProducer) &&
         (needProducer.empty() ||
          findBetween(producer, consumer, /*forward=*/false, neededByConsumer));
}

/// The ranks of all between the two are dealt out anew: first what the consumer
/// needs, then the two, then what needs the producer.
void KernelGroups::rankTogether(unsigned producer, unsigned consumer) {
  if (needProducer.empty())
    return; // the consumer's rank suits
  SmallVector<unsigned> first = neededByConsumer.takeVector(),
                        last = needProducer.takeVector();
  auto byRank = [&](unsigned a, unsigned b) {
    return groups[a].rank < groups[b].rank;
  };
  llvm::sort(first, byRank);
  llvm::sort(last, byRank);
  first.push_back(consumer);
  llvm::append_range(first, last);
  SmallVector<unsigned> ranks{groups[producer].rank};
  for (unsigned group : ArrayRef(first))
    ranks.push_back(groups[group].rank);
  llvm::sort(ranks);
  for (auto [group, rank] : llvm::zip(first, ranks))
    groups[group].rank = rank;
}

void KernelGroups::merge(unsigned into, unsigned from) {
  KernelGroup &a = groups[into], &b = groups[from];
  for (unsigned other : b.before) {
    groups[other].after.remove(from);
    if (other != into) {
      groups[other].after.insert(into);
      a.before.insert(other);
    }
  }
  for (unsigned other : b.after) {
    groups[other].before.remove(from);
    if (other != into) {
      groups[other].before.insert(into);
      a.after.insert(other);
    }
  }
  a.before.remove(from);
  a.after.remove(from);
  llvm::append_range(a.ops, b.ops);
  llvm::sort(a.ops,
             [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
  for (Operation *op : b.ops)
    groupOf[op] = into;
  b = KernelGroup();
}

void KernelGroups::mergeNeighbours(
    llvm::function_ref<bool(unsigned, unsigned)> condition) {
  for (unsigned consumer = 0; consumer < groups.size(); ++consumer) {
    bool changed = true;
    while (changed && !groups[consumer].ops.empty()) {
      changed = false;
      for (unsigned producer : llvm::to_vector(groups[consumer].before)) {
        if (groups[producer].ops.empty() || !condition(producer, consumer) ||
            !canMerge(producer, consumer))
          continue;
        rankTogether(producer, consumer);
        merge(consumer, producer);
        changed = true;
        break;
      }
    }
  }
}

SmallVector<const KernelGroup *> KernelGroups::inOrder() const {
  // The ready group whose first op comes first in the program.
  auto isBefore = [&](unsigned a, unsigned b) {
    return groups[a].ops.front()->isBeforeInBlock(groups[b].ops.front());
  };
  std::set<unsigned, decltype(isBefore)> ready(isBefore);
  SmallVector<unsigned> missing(groups.size());
  for (unsigned i = 0; i < groups.size(); ++i) {
    missing[i] = groups[i].before.size();
    if (!groups[i].ops.empty() && missing[i] == 0)
      ready.insert(i);
  }
  SmallVector<const KernelGroup *> order;
  while (!ready.empty()) {
    unsigned next = *ready.begin();
    ready.erase(ready.begin());
    order.push_back(&groups[next]);
    for (unsigned user : groups[next].after)
      if (--missing[user] == 0)
        ready.insert(user);
  }
  return order;
}

} // namespace weft
