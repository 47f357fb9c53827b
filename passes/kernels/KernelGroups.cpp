//===- KernelGroups.cpp - which ops become one kernel ---------------------===//

#include "weft/passes/kernels/KernelGroups.h"

#include "weft/dialects/coll/Coll.h"
#include "weft/dialects/nest/RowWalk.h"
#include "weft/dialects/plan/PlanInstruction.h"
#include "weft/dialects/weft/PlannedFlow.h"
#include "weft/dialects/weft/Ports.h"
#include "weft/passes/kernels/Recomputation.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

#include <algorithm>
#include <functional>
#include <set>

using namespace mlir;

namespace weft {

/// The most groups that are examined between two groups that may be merged;
/// with more groups between, the two stay apart.
static constexpr unsigned kSearchLimit = 1024;
/// The most ops of one kernel, besides copied ops: code generators and the
/// merges below are superlinear in the number of ops.
static constexpr size_t kMostOps = 256;
bool staysInFunction(Operation *op) {
  return isa<RegionBranchOpInterface, plan::PlanInstructionOpInterface,
             PlannedCallOpInterface>(op);
}

bool staysOutside(Operation *user) {
  return staysInFunction(user) || user->hasTrait<OpTrait::IsTerminator>();
}

static ArrayRef<int64_t> shapeOf(Operation *op) {
  return cast<RankedTensorType>(op->getResult(0).getType()).getShape();
}

KernelGroups::KernelGroups(Block &block, const nest::TargetLimits &limits)
    : limits(limits), copies(block) {
  if (limits.hasLibraries)
    storeOperands(block);
  else
    storeReadOften(block);
  group(block);
  if (!limits.hasSeveralNests && recomputeStored(block))
    group(block);
}

void KernelGroups::group(Block &block) {
  groups.clear();
  groupOf.clear();
  numCuts = 0;
  for (Operation &op : block.without_terminator()) {
    if (copies.contains(&op))
      continue;
    groupOf[&op] = groups.size();
    KernelGroup &group = groups.emplace_back();
    group.rank = groups.size();
    group.ops.push_back(&op);
    group.isFixed = staysInFunction(&op);
    // A nest over elements computes other elements of operands too, so one
    // nest may have a pad or a concatenation beside the ops that read it.
    bool hasElements = limits.hasSeveralNests
                           ? keepsPositions(&op)
                           : op.getNumResults() == 1 && !hasLoopNest(&op);
    group.isElementwise = !group.isFixed && hasElements;
    group.hasContraction = op.hasTrait<ContractionNest>();
    group.hasOwnNest = op.hasTrait<OwnLoopNest>();
    if (auto apart = op.getAttrOfType<DenseI64ArrayAttr>(kApartAttr))
      for (int64_t number : apart.asArrayRef())
        if (number >= 0 && number < op.getNumOperands())
          group.apart.push_back(op.getOperand(unsigned(number)));
  }
  findDonated(block);
  findCarried(block);
  findUpdates(block);
  addDependencies();
  readBeforeUpdates();
  if (limits.hasLibraries)
    mergeRounded();
  mergeElementwise();
  mergeEpilogues();
  if (limits.hasSeveralNests)
    mergeNests();
  else
    mergeRows();
  cutRecomputation();
}

/// Merges elementwise chains over one shape. If a kernel must be one nest, no
/// stored value may be read at other positions (through a slice, for instance).
void KernelGroups::mergeElementwise() {
  mergeNeighbours([&](unsigned producer, unsigned consumer) {
    return groups[producer].isElementwise && groups[consumer].isElementwise &&
           shapeOf(groups[producer].ops.front()) ==
               shapeOf(groups[consumer].ops.front()) &&
           (limits.hasSeveralNests || fitOneNest(producer, consumer));
  });
}

/// Merges a contraction with the elementwise ops on its result; if a kernel is
/// one nest, also other ops whose elements a thread combines from terms.
void KernelGroups::mergeEpilogues() {
  mergeNeighbours([&](unsigned producer, unsigned consumer) {
    const KernelGroup &made = groups[producer];
    bool combines =
        made.hasContraction || (made.hasOwnNest && !limits.hasSeveralNests);
    return made.ops.size() == 1 && combines && groups[consumer].isElementwise &&
           !groups[consumer].isDonated && !made.isUpdate &&
           shapeOf(made.ops.front()) == shapeOf(groups[consumer].ops.front()) &&
           (limits.hasSeveralNests || fitOneNest(producer, consumer)) &&
           (!limits.hasLibraries || keepLibrary(producer, consumer));
  });
}

void KernelGroups::mergeNests() {
  // Groups of any shapes merge, except contractions and ops with their own
  // loops. Updates of donated memory stay alone or elementwise, to work in
  // place.
  mergeNeighbours([&](unsigned producer, unsigned consumer) {
    const KernelGroup &a = groups[producer], &b = groups[consumer];
    return !a.hasContraction && !b.hasContraction && !a.hasOwnNest &&
           !b.hasOwnNest && !a.isDonated && !b.isDonated && !a.isUpdate &&
           !b.isUpdate;
  });
}

/// Merges reductions and the ops around them, as long as they are one walk over
/// rows.
void KernelGroups::mergeRows() {
  mergeNeighbours([&](unsigned producer, unsigned consumer) {
    const KernelGroup &a = groups[producer], &b = groups[consumer];
    return !a.isDonated && !b.isDonated && !a.isUpdate && !b.isUpdate &&
           areRows(producer, consumer);
  });
}

KernelValues KernelGroups::joined(ArrayRef<unsigned> of) const {
  SmallVector<Operation *> members;
  for (unsigned group : of)
    llvm::append_range(members, groups[group].ops);
  llvm::sort(members,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  llvm::SetVector<Operation *> all;
  for (Operation *op : members) {
    addCopies(op, copies, all);
    all.insert(op);
  }
  std::function<bool(Operation *)> isStored = [&](Operation *op) {
    return llvm::any_of(op->getUsers(), [&](Operation *user) {
      return !llvm::is_contained(members, user) &&
             (!copies.contains(user) || isStored(user));
    });
  };
  KernelValues kernel;
  llvm::SetVector<Value> inputs;
  for (Operation *op : all)
    for (Value operand : op->getOperands())
      if (Operation *def = operand.getDefiningOp(); !def || !all.contains(def))
        inputs.insert(operand);
  for (Operation *op : members)
    if (isStored(op))
      llvm::append_range(kernel.results, op->getResults());
  kernel.inputs = inputs.takeVector();
  kernel.ops = all.takeVector();
  return kernel;
}

bool KernelGroups::fitOneNest(unsigned producer, unsigned consumer) const {
  KernelValues kernel = joined({producer, consumer});
  std::string why;
  return nest::fitsOneNest(kernel.ops, kernel.results, why);
}

bool KernelGroups::areRows(unsigned producer, unsigned consumer) const {
  auto isReduction = [](Operation *op) {
    return op->hasTrait<ReductionNest>();
  };
  if (llvm::none_of(groups[producer].ops, isReduction) &&
      llvm::none_of(groups[consumer].ops, isReduction))
    return false;
  KernelValues kernel = joined({producer, consumer});
  // Few lanes share a tensor that is one row, so ops that more threads could
  // compute stay outside.
  bool isOneRow = nest::rowDimsOf(kernel.ops) == 0;
  if (isOneRow && llvm::any_of(kernel.results, [](Value value) {
        return cast<RankedTensorType>(value.getType()).getRank() > 0;
      }))
    return false;
  std::string why;
  return nest::fitsOneNest(kernel.ops, kernel.results, why) &&
         cutsOf(kernel).empty(); // The ops before a cut may be two nests.
}

void KernelGroups::findDonated(Block &block) {
  // Results of the code of a part of the mesh may be those of the function.
  Operation *around = block.getParentOp();
  auto part = dyn_cast<PlannedPartOpInterface>(around);
  auto function = dyn_cast<func::FuncOp>(part ? part->getParentOp() : around);
  if (!function)
    return;
  Operation *end = function.getBody().front().getTerminator();
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto result = donatedResult(function, i);
    if (!result)
      continue;
    Value value = end->getOperand(*result);
    if (part && value.getDefiningOp() == around)
      value = block.getTerminator()->getOperand(
          cast<OpResult>(value).getResultNumber());
    auto found = groupOf.find(value.getDefiningOp());
    if (found != groupOf.end() &&
        cast<RankedTensorType>(value.getType()).getRank() > 0)
      groups[found->second].isDonated = true;
  }
}

/// Adds dependences of the group on the groups that compute the value, and the
/// values that copied ops read.
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
    // All devices communicate in the program's order, so each collective, loop
    // or branch depends on the previous of these.
    if (last) {
      group.before.insert(*last);
      groups[*last].after.insert(i);
    }
    last = i;
  }
}

bool KernelGroups::findBetween(unsigned producer, unsigned consumer,
                               bool forward,
                               llvm::SetVector<unsigned> &found) const {
  found.clear();
  unsigned low = groups[producer].rank, high = groups[consumer].rank;
  unsigned from = forward ? producer : consumer,
           to = forward ? consumer : producer;
  auto visit = [&](unsigned group) {
    auto isAllowed = [&](unsigned next) {
      if (next == to)
        return group == from;
      if (groups[next].rank > low && groups[next].rank < high)
        found.insert(next);
      return found.size() <= kSearchLimit;
    };
    return forward ? llvm::all_of(groups[group].after, isAllowed)
                   : llvm::all_of(groups[group].before, isAllowed);
  };
  if (!visit(from))
    return false;
  for (unsigned i = 0; i < found.size(); ++i)
    if (!visit(found[i]))
      return false;
  return true;
}

bool KernelGroups::areApart(unsigned producer, unsigned consumer) const {
  return llvm::any_of(groups[consumer].apart, [&](Value value) {
    return llvm::is_contained(groups[producer].ops, value.getDefiningOp());
  });
}

bool KernelGroups::canMerge(unsigned producer, unsigned consumer) {
  return !groups[producer].isFixed && !groups[consumer].isFixed &&
         !areApart(producer, consumer) &&
         groups[producer].ops.size() + groups[consumer].ops.size() <=
             kMostOps &&
         findBetween(producer, consumer, /*forward=*/true, needProducer) &&
         (needProducer.empty() ||
          findBetween(producer, consumer, /*forward=*/false, neededByConsumer));
}

/// Assigns the ranks between the two groups again: first groups that the
/// consumer needs, then the two groups, then groups that need the producer.
void KernelGroups::rankTogether(unsigned producer, unsigned consumer) {
  if (needProducer.empty())
    return; // The consumer already ranks after the producer.
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
    groups[other].after.erase(from);
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
  a.after.erase(from);
  a.isElementwise &=
      b.isElementwise && shapeOf(a.ops.front()) == shapeOf(b.ops.front());
  a.hasContraction |= b.hasContraction;
  a.hasOwnNest |= b.hasOwnNest;
  a.isDonated |= b.isDonated;
  llvm::append_range(a.apart, b.apart);
  size_t own = a.ops.size();
  llvm::append_range(a.ops, b.ops);
  std::inplace_merge(
      a.ops.begin(), a.ops.begin() + own, a.ops.end(),
      [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
  b = KernelGroup();
}

bool KernelGroups::mergeProducers(
    unsigned consumer, llvm::function_ref<bool(unsigned, unsigned)> condition) {
  for (unsigned producer : llvm::to_vector(groups[consumer].before)) {
    if (groups[producer].ops.empty() || !condition(producer, consumer) ||
        !canMerge(producer, consumer))
      continue;
    rankTogether(producer, consumer);
    merge(consumer, producer);
    return true;
  }
  return false;
}

void KernelGroups::mergeNeighbours(
    llvm::function_ref<bool(unsigned, unsigned)> condition) {
  std::set<unsigned> left;
  for (unsigned consumer = 0; consumer < groups.size(); ++consumer)
    left.insert(consumer);
  while (!left.empty()) {
    unsigned consumer = *left.begin();
    left.erase(left.begin());
    bool changed = false;
    while (!groups[consumer].ops.empty() && mergeProducers(consumer, condition))
      changed = true;
    // What joined the consumer may have been between it and an earlier group
    // that reads both.
    if (changed)
      left.insert(groups[consumer].after.begin(), groups[consumer].after.end());
  }
}

SmallVector<Operation *>
KernelGroups::cutsOf(const KernelValues &kernel) const {
  return cutsAgainstRecomputation(
      kernel.ops, [&](Operation *op) { return !copies.contains(op); },
      [&](Operation *op) {
        return llvm::any_of(op->getResults(), [&](Value result) {
          return llvm::is_contained(kernel.results, result);
        });
      },
      limits.hasSeveralNests ? kMostRecomputed
                             : std::numeric_limits<int64_t>::max());
}

void KernelGroups::cutRecomputation() {
  // Merges do not update groupOf.
  for (auto [i, group] : llvm::enumerate(groups))
    for (Operation *op : group.ops)
      groupOf[op] = i;
  for (unsigned group = 0, end = groups.size(); group < end; ++group) {
    if (groups[group].isFixed || groups[group].ops.size() < 2)
      continue;
    SmallVector<Operation *> cuts = cutsOf(joined(group));
    numCuts += cuts.size();
    // The first cut comes first: cutAfter() leaves the later members in the
    // group.
    for (Operation *last : llvm::reverse(cuts))
      cutAfter(group, last);
  }
}

void KernelGroups::cutAfter(unsigned group, Operation *last) {
  unsigned first = groups.size();
  KernelGroup &front = groups.emplace_back();
  KernelGroup &back = groups[group];
  auto isFront = [&](Operation *op) {
    return op == last || op->isBeforeInBlock(last);
  };
  auto *middle = llvm::partition_point(back.ops, isFront);
  front.ops.assign(back.ops.begin(), middle);
  back.ops.erase(back.ops.begin(), middle);
  for (Operation *op : front.ops)
    groupOf[op] = first;
  for (unsigned other : back.before) {
    groups[other].after.erase(group);
    groups[other].after.insert(first);
  }
  std::swap(front.before, back.before);
  back.before.insert(first);
  front.after.insert(group);
}

SmallVector<const KernelGroup *> KernelGroups::inOrder() const {
  // Ready groups are ordered by their first op in the program.
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
