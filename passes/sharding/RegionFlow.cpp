//===- RegionFlow.cpp - values that regions pass on -----------------------===//

#include "weft/passes/sharding/RegionFlow.h"
#include "weft/passes/sharding/FreeRegions.h"

#include "weft/base/Saturating.h"
#include "weft/dialects/weft/CountedLoop.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace weft;
using namespace mlir;

bool weft::hasRegionFlow(Operation *op) {
  return isa<RegionBranchOpInterface>(op) && !isa<ShardingRuleOpInterface>(op);
}

bool weft::isRuledByRegions(Operation *op) {
  return hasRegionFlow(op) || isa<FixedLayoutsOpInterface>(op) ||
         freeRegionEndedBy(op) ||
         (op->hasTrait<OpTrait::IsTerminator>() &&
          hasRegionFlow(op->getParentOp()));
}

Operation *weft::userInBlockOf(Value value, Operation *user) {
  return value.getParentBlock()->findAncestorOpInBlock(*user);
}

void weft::forEachLoop(Operation *root,
                       llvm::function_ref<void(Operation *)> visit) {
  root->walk([&](Operation *op) {
    auto branch = dyn_cast<RegionBranchOpInterface>(op);
    if (branch && hasRegionFlow(op) && branch.hasLoop())
      visit(op);
  });
}

/// Adds the classes of one op. Their members are its results and the arguments
/// of its regions; operands are sources of a class and not members.
void RegionFlow::addOp(Operation *op) {
  RegionBranchSuccessorMapping mapping;
  cast<RegionBranchOpInterface>(op).getSuccessorOperandInputMapping(mapping);
  llvm::EquivalenceClasses<void *> joined;
  for (auto &[operand, inputs] : mapping)
    for (Value input : inputs)
      joined.unionSets(inputs.front().getAsOpaquePointer(),
                       input.getAsOpaquePointer());
  // The order of classes is the program's, as addresses differ from run to run.
  llvm::DenseMap<void *, Value> first;
  auto addMembers = [&](ValueRange values) {
    for (Value value : values) {
      auto it = joined.findLeader(value.getAsOpaquePointer());
      if (it == joined.member_end())
        continue;
      Value lead = first.try_emplace(*it, value).first->second;
      leaders[value] = lead;
      membersOf[lead].push_back(value);
    }
  };
  auto addSources = [&](Operation *user) {
    for (OpOperand &operand : user->getOpOperands()) {
      auto it = mapping.find(&operand);
      if (it == mapping.end() || it->second.empty())
        continue;
      Value lead = leader(it->second.front());
      targets[&operand] = lead;
      sourcesOf[lead].push_back(&operand);
    }
  };
  for (Region &region : op->getRegions())
    addMembers(region.getArguments());
  addMembers(op->getResults());
  addSources(op);
  for (Region &region : op->getRegions())
    addSources(region.front().getTerminator());
}

/// The rounds of a loop that does not know them: the least at which it is one.
static constexpr int64_t kFewRounds = 2;

int64_t weft::executionsWithin(Operation *op, int64_t executions) {
  if (!cast<RegionBranchOpInterface>(op).hasLoop())
    return executions;
  return saturatingMultiply(executions, roundsOf(op).value_or(kFewRounds));
}

int64_t weft::executionsAround(Operation *op) {
  int64_t executions = 1;
  for (Operation *holder = op->getParentOp();
       holder && !isa<func::FuncOp>(holder); holder = holder->getParentOp())
    if (hasRegionFlow(holder))
      executions = executionsWithin(holder, executions);
  return executions;
}

std::optional<LoopInvariant> RegionFlow::invariant(Operation *loop,
                                                   Value leader) const {
  LoopInvariant found;
  found.leaders.insert(leader);
  for (unsigned i = 0; i < found.leaders.size(); ++i)
    for (OpOperand *operand : sources(found.leaders[i])) {
      Value value = operand->get();
      if (operand->getOwner() == loop)
        found.entering.push_back(operand);
      else if (isa<BlockArgument>(value) &&
               !sources(this->leader(value)).empty() &&
               value.getParentRegion()->getParentOp() == loop)
        found.leaders.insert(this->leader(value));
      else
        return std::nullopt;
    }
  return found.entering.empty() ? std::nullopt : std::optional(found);
}

/// The outermost loop that does not change the value; null if there is none.
Operation *RegionFlow::invariantIn(Value value) const {
  Operation *outermost = nullptr;
  for (auto argument = dyn_cast<BlockArgument>(value); argument;) {
    Operation *loop = argument.getOwner()->getParentOp();
    auto branch = dyn_cast<RegionBranchOpInterface>(loop);
    if (!branch || !hasRegionFlow(loop) || !branch.hasLoop())
      break;
    auto found = invariant(loop, leader(argument));
    if (!found || found->entering.size() != 1)
      break;
    outermost = loop;
    argument = dyn_cast<BlockArgument>(found->entering.front()->get());
  }
  return outermost;
}

int64_t RegionFlow::executionsOfMove(Value value, Operation *user,
                                     int64_t executions) const {
  Operation *loop = invariantIn(value);
  return loop && loop->isAncestor(user)
             ? std::min(executions, executionsAround(loop))
             : executions;
}

RegionFlow::RegionFlow(func::FuncOp function) {
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (hasRegionFlow(op))
      addOp(op);
  });
}
