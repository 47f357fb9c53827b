//===- CombineAllReduces.cpp - one all-reduce where one will do -----------===//

#include "weft/passes/sharding/Passes.h"
#include "weft/passes/sharding/Provenance.h"

#include "llvm/ADT/STLExtras.h"

namespace weft {
#define GEN_PASS_DEF_COMBINEALLREDUCESPASS
#include "weft/passes/sharding/Passes.h.inc"
} // namespace weft

using namespace weft;
using namespace mlir;

namespace {
/// All-reduces that will be one op, in program order.
struct Bundle {
  llvm::SmallVector<coll::AllReduceOp> members;
  /// Everything in the block that needs a member's result, so far.
  llvm::DenseSet<Operation *> dependents;
};
} // namespace

static bool sameCollective(coll::AllReduceOp a, coll::AllReduceOp b) {
  return a.getKind() == b.getKind() && a.getGroup() == b.getGroup() &&
         getElementTypeOrSelf(a.getInputs().front().getType()) ==
             getElementTypeOrSelf(b.getInputs().front().getType());
}

/// The op, or one in its regions, reads a member's result.
static bool needs(Operation *op, const Bundle &bundle) {
  auto isNeeded = [&](Value operand) {
    Operation *def = operand.getDefiningOp();
    return def && (bundle.dependents.contains(def) ||
                   llvm::is_contained(bundle.members, def));
  };
  if (op->getNumRegions() == 0)
    return llvm::any_of(op->getOperands(), isNeeded);
  return op
      ->walk([&](Operation *inner) {
        return llvm::any_of(inner->getOperands(), isNeeded)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Bundles greedily: an all-reduce joins the first bundle whose results it does
/// not need.
static llvm::SmallVector<Bundle> bundleAllReduces(Block &block) {
  llvm::SmallVector<Bundle> bundles;
  for (Operation &op : block) {
    auto reduce = dyn_cast<coll::AllReduceOp>(op);
    bool joined = !reduce || reduce.getInputs().empty();
    for (Bundle &bundle : bundles) {
      if (needs(&op, bundle)) {
        bundle.dependents.insert(&op);
        continue;
      }
      if (!joined && sameCollective(bundle.members.front(), reduce)) {
        bundle.members.push_back(reduce);
        joined = true;
      }
    }
    if (!joined)
      bundles.push_back({{reduce}, {}});
  }
  return bundles;
}

/// Ops before the last member that need an earlier one move behind it.
static void moveDependents(const Bundle &bundle, Operation *last) {
  llvm::SmallVector<Operation *> late;
  for (Operation *op = bundle.members.front(); op != last;
       op = op->getNextNode())
    if (bundle.dependents.contains(op))
      late.push_back(op);
  Operation *after = last;
  for (Operation *op : late) {
    op->moveAfter(after);
    after = op;
  }
}

static void combine(const Bundle &bundle) {
  coll::AllReduceOp last = bundle.members.back();
  moveDependents(bundle, last);
  llvm::SmallVector<Value> inputs;
  llvm::SmallVector<Location> locations;
  llvm::SmallVector<StringAttr> reasons;
  for (coll::AllReduceOp member : bundle.members) {
    llvm::append_range(inputs, member.getInputs());
    locations.push_back(member.getLoc());
    reasons.push_back(member.getReasonAttr());
  }
  OpBuilder builder(last);
  auto all = coll::AllReduceOp::create(
      builder, builder.getFusedLoc(locations), TypeRange(ValueRange(inputs)),
      last.getKind(), inputs, last.getGroup(), joinReasons(reasons));
  unsigned next = 0;
  for (coll::AllReduceOp member : bundle.members) {
    for (Value result : member.getResults())
      result.replaceAllUsesWith(all.getResult(next++));
    member->erase();
  }
}

static bool isCollective(Operation *op) {
  return isa_and_nonnull<coll::CollDialect>(op->getDialect());
}

/// Removes, last first, collectives and pure ops that nobody uses.
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
    getOperation().walk([&](Block *block) {
      if (block->getParentOp() != getOperation())
        runOnBlock(*block);
    });
  }
  void runOnBlock(Block &block) {
    numRemoved += removeUnused(block);
    // Moving one bundle's dependents changes what stands before another's last
    // member, so each round combines one bundle.
    while (true) {
      llvm::SmallVector<Bundle> bundles = bundleAllReduces(block);
      auto it = llvm::find_if(
          bundles, [](const Bundle &b) { return b.members.size() > 1; });
      if (it == bundles.end())
        return;
      numCombined += it->members.size() - 1;
      combine(*it);
    }
  }
};
} // namespace
