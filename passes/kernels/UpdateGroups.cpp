//===- UpdateGroups.cpp - ops that write in an operand's memory -----------===//
//
//   %row = weft.dynamic_slice %c ...          group 0: reads the old %c
//   %c2 = weft.dynamic_update_slice %c, %v    group 1: an update, by itself
//   %s = weft.reduce sum %c dims [0, 1]       group 2: ranks before group 1, as
//                                             it does not need %c2
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/UpdatedOperand.h"
#include "weft/passes/kernels/KernelGroups.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;

namespace weft {

/// The most groups that may need an update while its readers are ordered.
static constexpr unsigned kMostNeeding = 1024;
/// The least bytes of a carried value whose copy costs more than a launch.
static constexpr int64_t kLeastCarried = 16 * 1024;

bool KernelGroups::mayUpdate(Operation *op, Block &block) const {
  OpOperand *updated = updatedOperand(op);
  if (!updated || llvm::count(op->getOperands(), updated->get()) != 1)
    return false;
  auto function = dyn_cast<func::FuncOp>(block.getParentOp());
  if (auto argument = dyn_cast<BlockArgument>(updated->get()))
    return !function || op->hasTrait<OwnLoopNest>() ||
           function.getArgAttr(argument.getArgNumber(), kDonatedAttr);
  auto found = groupOf.find(updated->get().getDefiningOp());
  if (found == groupOf.end())
    return false; // The kernel generates the operand's elements.
  const KernelGroup &made = groups[found->second];
  return op->hasTrait<OwnLoopNest>() || made.isFixed || made.hasContraction ||
         made.hasOwnNest || made.isUpdate;
}

void KernelGroups::findUpdates(Block &block) {
  for (KernelGroup &group : groups)
    if (!group.isFixed && mayUpdate(group.ops.front(), block)) {
      group.isUpdate = true;
      group.isElementwise = false;
    }
}

void KernelGroups::findCarried(Block &block) {
  auto loop = dyn_cast<RegionBranchOpInterface>(block.getParentOp());
  auto end = dyn_cast<RegionBranchTerminatorOpInterface>(block.getTerminator());
  if (!loop || !end ||
      !loop.isRepetitiveRegion(block.getParent()->getRegionNumber()))
    return;
  for (Value value : end->getOperands()) {
    auto found = groupOf.find(value.getDefiningOp());
    if (found != groupOf.end() && groups[found->second].isElementwise &&
        bufferBytes(cast<RankedTensorType>(value.getType())) >= kLeastCarried)
      groups[found->second].isDonated = true;
  }
}

void KernelGroups::addReaders(Value value,
                              llvm::SetVector<unsigned> &readers) const {
  for (Operation *user : value.getUsers()) {
    if (copies.contains(user))
      addReaders(user->getResult(0), readers);
    else if (auto found = groupOf.find(user); found != groupOf.end())
      readers.insert(found->second);
  }
}

void KernelGroups::readBeforeUpdates() {
  bool isOrdered = false;
  for (unsigned update = 0; update < groups.size(); ++update) {
    if (!groups[update].isUpdate)
      continue;
    Operation *op = groups[update].ops.front();
    llvm::SetVector<unsigned> readers, needUpdate;
    addReaders(updatedOperand(op)->get(), readers);
    readers.remove(update);
    if (readers.empty())
      continue;
    needUpdate.insert(update);
    for (unsigned i = 0; i < std::min<size_t>(needUpdate.size(), kMostNeeding);
         ++i)
      needUpdate.insert(groups[needUpdate[i]].after.begin(),
                        groups[needUpdate[i]].after.end());
    for (unsigned reader : readers) {
      if (needUpdate.contains(reader) || needUpdate.size() > kMostNeeding) {
        // The old value is copied; an op without its own loops does that
        // while it computes.
        groups[update].isUpdate &= groups[update].hasOwnNest;
        continue;
      }
      groups[update].before.insert(reader);
      groups[reader].after.insert(update);
      isOrdered = true;
    }
  }
  if (!isOrdered)
    return;
  unsigned rank = 0;
  for (const KernelGroup *group : inOrder())
    groups[group - groups.data()].rank = ++rank;
}

} // namespace weft
