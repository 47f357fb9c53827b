//===- CombineAllReduces.cpp - one all-reduce where one will do -----------===//

#include "weft/dialects/weft/LayoutBorder.h"
#include "weft/passes/collectives/CollectiveBundles.h"
#include "weft/passes/collectives/Passes.h"
#include "weft/passes/sharding/Provenance.h"

#include "llvm/ADT/STLExtras.h"

namespace weft {
#define GEN_PASS_DEF_COMBINEALLREDUCESPASS
#include "weft/passes/collectives/Passes.h.inc"
} // namespace weft

using namespace weft;
using namespace mlir;

/// The properties that all-reduces of one combined op share.
using ReduceClass = std::tuple<ReduceKind, LayoutAttr, Type>;

static ReduceClass classOf(coll::AllReduceOp op) {
  return {op.getKind(), op.getGroup(),
          getElementTypeOrSelf(op.getInputs().front().getType())};
}

/// The block's ops, each with the ops whose results are used by the op or by an
/// op in its regions.
static std::vector<DependentOp> dependencesIn(ArrayRef<Operation *> ops) {
  llvm::DenseMap<Operation *, unsigned> numbers;
  llvm::DenseMap<ReduceClass, int> kinds;
  std::vector<DependentOp> result(ops.size());
  for (auto [number, op] : llvm::enumerate(ops)) {
    DependentOp &node = result[number];
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *def = operand.getDefiningOp())
          if (auto known = numbers.find(def); known != numbers.end())
            node.needs.push_back(known->second);
    });
    numbers[op] = number;
    auto reduce = dyn_cast<coll::AllReduceOp>(op);
    if (reduce && !reduce.getInputs().empty())
      node.kind =
          kinds.try_emplace(classOf(reduce), kinds.size()).first->second;
  }
  return result;
}

/// Combines adjacent all-reduces to one op.
static void combine(ArrayRef<coll::AllReduceOp> members) {
  coll::AllReduceOp last = members.back();
  llvm::SmallVector<Value> inputs;
  llvm::SmallVector<Location> locations;
  llvm::SmallVector<StringAttr> reasons;
  for (coll::AllReduceOp member : members) {
    llvm::append_range(inputs, member.getInputs());
    locations.push_back(member.getLoc());
    reasons.push_back(member.getReasonAttr());
  }
  OpBuilder builder(last);
  auto all = coll::AllReduceOp::create(
      builder, builder.getFusedLoc(locations), TypeRange(ValueRange(inputs)),
      last.getKind(), inputs, last.getGroup(), joinReasons(reasons));
  unsigned next = 0;
  for (coll::AllReduceOp member : members) {
    for (Value result : member.getResults())
      result.replaceAllUsesWith(all.getResult(next++));
    member->erase();
  }
}

static bool isCollective(Operation *op) {
  return isa_and_nonnull<coll::CollDialect>(op->getDialect());
}

/// Removes, last first, unused collectives and pure ops.
static unsigned removeUnused(Block &block) {
  unsigned removed = 0;
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (!op.use_empty() || op.hasTrait<OpTrait::IsTerminator>())
      continue;
    if (isCollective(&op))
      ++removed;
    else if (!isMemoryEffectFree(&op))
      continue;
    op.erase();
  }
  return removed;
}

namespace {
struct CombineAllReduces
    : weft::impl::CombineAllReducesPassBase<CombineAllReduces> {
  void runOnOperation() override {
    if (failed(verifyPartitioned(*this, getOperation())))
      return signalPassFailure();
    getOperation().walk([&](Block *block) {
      if (block->getParentOp() != getOperation())
        runOnBlock(*block);
    });
  }
  void runOnBlock(Block &block) {
    numRemoved += removeUnused(block);
    SmallVector<Operation *> ops =
        llvm::map_to_vector(block, [](Operation &op) { return &op; });
    std::vector<OpBundle> bundles = bundleCollectives(dependencesIn(ops));
    if (bundles.size() == ops.size())
      return;
    for (const OpBundle &bundle : bundles) {
      SmallVector<coll::AllReduceOp> members;
      for (unsigned number : bundle) {
        ops[number]->moveBefore(&block, block.end());
        if (bundle.size() > 1)
          members.push_back(cast<coll::AllReduceOp>(ops[number]));
      }
      if (members.empty())
        continue;
      numCombined += members.size() - 1;
      combine(members);
    }
  }
};
} // namespace
