//===- PartGroups.cpp - ops in the order in which parts run them ----------===//

#include "weft/passes/sharding/PartGroups.h"

#include "weft/passes/sharding/OpSharding.h"
#include "weft/passes/sharding/RegionFlow.h"
#include "weft/passes/sharding/resharding/Resharding.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <map>
#include <optional>
#include <set>

using namespace weft;
using namespace mlir;

static Layout layoutOf(Value value) {
  return getLayout(value.getType()).getLayout();
}

/// The part that all tensors of an op and of the ops in it are on; the whole mesh
/// if there are several.
static MeshPart commonPart(Operation *op) {
  std::optional<MeshPart> common;
  auto isOther = [&](Type type) {
    LayoutAttr layout = getLayout(type);
    if (!layout)
      return false;
    if (!common)
      common = layout.getLayout().part;
    return layout.getLayout().part != *common;
  };
  WalkResult walked = op->walk([&](Operation *inner) {
    return llvm::any_of(inner->getOperandTypes(), isOther) ||
                   llvm::any_of(inner->getResultTypes(), isOther)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return common && !walked.wasInterrupted() ? *common : MeshPart();
}

/// The part of the mesh that runs an op with layouts.
static MeshPart partOf(Operation *op) {
  if (auto reshard = dyn_cast<ReshardOp>(op))
    return moversBetween(layoutOf(reshard.getInput()), layoutOf(reshard));
  return hasRegionFlow(op) ? commonPart(op) : placeByTypes(op);
}

bool weft::hasOpsOnParts(Block &block) {
  Operation *around = block.getParentOp();
  if (!isa<func::FuncOp>(around) && !commonPart(around).empty())
    return false;
  auto isOnPart = [](Type type) {
    LayoutAttr layout = getLayout(type);
    return layout && !layout.getLayout().part.empty();
  };
  return llvm::any_of(block, [&](Operation &op) {
    return llvm::any_of(op.getOperandTypes(), isOnPart) ||
           llvm::any_of(op.getResultTypes(), isOnPart);
  });
}

llvm::SetVector<Value> PartGroup::inputs() const {
  llvm::SetVector<Value> values;
  auto isOutside = [&](Value value) {
    Operation *def = value.getDefiningOp();
    return !def || !ops.contains(def);
  };
  for (Operation *op : ops) {
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    for (Value value : llvm::concat<const Value>(
             llvm::to_vector(op->getOperands()), captured.getArrayRef()))
      if (isOutside(value))
        values.insert(value);
  }
  return values;
}

/// Whether other groups read the value, or repeat an op that reads it.
bool PartGroup::isReadOutside(Value value) const {
  Block *block = value.getParentBlock();
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    Operation *op = block->findAncestorOpInBlock(*user);
    return !ops.contains(op) ||
           (repeated.contains(op) &&
            llvm::any_of(op->getResults(),
                         [&](Value result) { return isReadOutside(result); }));
  });
}

llvm::SetVector<Value> PartGroup::outputs() const {
  llvm::SetVector<Value> values;
  for (Operation *op : ops)
    for (Value result : op->getResults())
      if (!repeated.contains(op) && isReadOutside(result))
        values.insert(result);
  return values;
}

void weft::splitMovesBetweenParts(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto reshard = dyn_cast<ReshardOp>(op);
    if (!reshard)
      continue;
    MeshAttr mesh = getLayout(reshard.getType()).getMesh();
    Layout from = layoutOf(reshard.getInput()), to = layoutOf(reshard);
    if (from.part == to.part)
      continue;
    OpBuilder builder(reshard);
    Value value = reshard.getInput();
    for (const Layout &stop : stopsBetween(mesh.getMesh(), from, to)) {
      auto type = withLayout(cast<RankedTensorType>(reshard.getType()),
                             LayoutAttr::get(mesh, stop));
      value = ReshardOp::create(builder, reshard.getLoc(), type, value,
                                reshard.getReasonAttr());
    }
    reshard.replaceAllUsesWith(value);
    reshard.erase();
  }
}

namespace {
/// Takes ops whose operands are ready, as long as possible of one part.
class PartSchedule {
public:
  explicit PartSchedule(Block &block [[clang::lifetimebound]]) : block(block) {}
  std::vector<PartGroup> run();

private:
  /// The part that runs an op; for ops with regions it is found once.
  const MeshPart &partOf(Operation *op);
  bool mayRepeat(Operation &op);
  void count();
  /// Adds the ops that compute what an op reads; for sources, what these read.
  void addBefore(Operation *op, std::set<unsigned> &before) const;
  void addSources(Operation *op, PartGroup &group) const;
  void take(unsigned op, PartGroup &group);
  unsigned firstReady() const;

  Block &block;
  std::vector<Operation *> ops;
  std::vector<MeshPart> parts;
  llvm::DenseMap<Operation *, MeshPart> partsOfOps;
  llvm::DenseMap<Operation *, unsigned> numbers;
  llvm::DenseSet<Operation *> sources;      ///< repeated where they are read
  std::vector<std::vector<unsigned>> users; ///< users of each op, once each
  std::vector<unsigned> missing;            ///< operands that are not ready
  std::map<MeshPart, std::set<unsigned>> ready;
};
} // namespace

const MeshPart &PartSchedule::partOf(Operation *op) {
  auto [found, isNew] = partsOfOps.try_emplace(op);
  if (isNew)
    found->second = ::partOf(op);
  return found->second;
}

/// Whether the op computes an array, or a constant, at no cost, for ops of its
/// part only.
bool PartSchedule::mayRepeat(Operation &op) {
  bool isArray = llvm::any_of(op.getResultTypes(), [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getRank() > 0;
  });
  auto isOfPart = [this, part = placeByTypes(&op)](Operation *user) {
    return !user->hasTrait<OpTrait::IsTerminator>() && partOf(user) == part;
  };
  return OpWithRule::get(&op).source &&
         (isArray || op.hasTrait<OpTrait::ConstantLike>()) &&
         llvm::all_of(op.getUsers(), isOfPart);
}

/// Whether the op computes scalars only, as counters and conditions.
static bool isScalar(Operation &op) {
  return op.getNumRegions() == 0 && !isa<ReshardOp>(op) &&
         llvm::all_of(op.getResultTypes(), [](Type type) {
           auto tensor = dyn_cast<RankedTensorType>(type);
           return tensor && tensor.getRank() == 0;
         });
}

void PartSchedule::addBefore(Operation *op, std::set<unsigned> &before) const {
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (def && sources.contains(def))
        addBefore(def, before);
      else if (auto known = numbers.find(def); known != numbers.end())
        before.insert(known->second);
    }
  });
}

void PartSchedule::addSources(Operation *op, PartGroup &group) const {
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (Operation *def = operand.getDefiningOp();
          def && sources.contains(def)) {
        addSources(def, group);
        group.ops.insert(def);
        group.repeated.insert(def);
      }
  });
}

/// Counts for each op the ops that it waits for; those of the whole mesh wait
/// for each other.
void PartSchedule::count() {
  users.resize(ops.size());
  missing.resize(ops.size());
  std::optional<unsigned> last, ordered;
  bool isOrdered = block.getParentOp()->hasAttr(kOrderedAttr);
  for (unsigned number = 0; number < ops.size(); ++number) {
    std::set<unsigned> before;
    addBefore(ops[number], before);
    before.erase(number);
    if (parts[number].empty()) {
      if (last)
        before.insert(*last);
      last = number;
    }
    if (isOrdered && !isScalar(*ops[number])) {
      if (ordered)
        before.insert(*ordered);
      ordered = number;
    }
    for (unsigned other : before)
      users[other].push_back(number);
    missing[number] = before.size();
    if (before.empty())
      ready[parts[number]].insert(number);
  }
}

void PartSchedule::take(unsigned op, PartGroup &group) {
  addSources(ops[op], group);
  group.ops.insert(ops[op]);
  ready[parts[op]].erase(op);
  for (unsigned user : users[op])
    if (--missing[user] == 0)
      ready[parts[user]].insert(user);
}

/// The first op that is ready; one of the whole mesh only if there is no other,
/// as all devices may have to wait for it.
unsigned PartSchedule::firstReady() const {
  std::optional<unsigned> first;
  for (const auto &[part, some] : ready)
    if (!some.empty() && !part.empty() && (!first || *some.begin() < *first))
      first = *some.begin();
  return first ? *first : *ready.at({}).begin();
}

std::vector<PartGroup> PartSchedule::run() {
  for (Operation &op : block.without_terminator()) {
    if (mayRepeat(op)) {
      sources.insert(&op);
      continue;
    }
    numbers[&op] = ops.size();
    ops.push_back(&op);
    parts.push_back(partOf(&op));
  }
  count();
  std::vector<PartGroup> groups;
  for (size_t taken = 0; taken < ops.size();) {
    PartGroup &group = groups.emplace_back();
    group.part = parts[firstReady()];
    std::set<unsigned> &own = ready[group.part];
    for (; !own.empty(); ++taken)
      take(*own.begin(), group);
  }
  return groups;
}

std::vector<PartGroup> weft::groupByPart(Block &block) {
  return PartSchedule(block).run();
}
