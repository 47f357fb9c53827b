//===- MergeCollectives.cpp - reuses the result of an equal collective ----===//
//
// A convolution and its kernel's gradient need the same rows of other devices:
//
//   %h = coll.fetch %x dim 1 ... reason "rows for y"
//   %g = coll.fetch %x dim 1 ... reason "rows for dk"
//
// become the first, with both reasons.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/weft/LayoutBorder.h"
#include "weft/passes/collectives/Passes.h"
#include "weft/passes/sharding/Provenance.h"

#include "llvm/ADT/Hashing.h"

namespace weft {
#define GEN_PASS_DEF_MERGECOLLECTIVESPASS
#include "weft/passes/collectives/Passes.h.inc"
} // namespace weft

using namespace weft;
using namespace mlir;

static constexpr llvm::StringLiteral kReason = "reason";

/// All attributes except the reason: those that change the communication.
static DictionaryAttr meaningOf(Operation *op) {
  NamedAttrList attributes(op->getAttrDictionary());
  attributes.erase(kReason);
  return attributes.getDictionary(op->getContext());
}

static bool areEqual(Operation *a, Operation *b) {
  return a->getName() == b->getName() &&
         llvm::equal(a->getOperands(), b->getOperands()) &&
         llvm::equal(a->getResultTypes(), b->getResultTypes()) &&
         meaningOf(a) == meaningOf(b);
}

static llvm::hash_code hashOf(Operation *op) {
  llvm::hash_code hash = llvm::hash_combine(op->getName(), meaningOf(op));
  for (Value operand : op->getOperands())
    hash = llvm::hash_combine(hash, operand.getAsOpaquePointer());
  return hash;
}

/// Replaces the second op by the first and joins their reasons.
static void merge(Operation *first, Operation *second) {
  if (StringAttr why =
          joinReasons({first->getAttrOfType<StringAttr>(kReason),
                       second->getAttrOfType<StringAttr>(kReason)}))
    first->setAttr(kReason, why);
  first->setLoc(FusedLoc::get({first->getLoc(), second->getLoc()}, Attribute(),
                              first->getContext()));
  second->replaceAllUsesWith(first);
  second->erase();
}

namespace {
struct MergeCollectives
    : weft::impl::MergeCollectivesPassBase<MergeCollectives> {
  void runOnOperation() override {
    if (failed(verifyPartitioned(*this, getOperation())))
      return signalPassFailure();
    getOperation().walk([&](Block *block) { runOnBlock(*block); });
  }
  void runOnBlock(Block &block) {
    llvm::DenseMap<size_t, llvm::SmallVector<Operation *, 1>> seen;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (!isa_and_nonnull<coll::CollDialect>(op.getDialect()))
        continue;
      auto &alike = seen[hashOf(&op)];
      auto known = llvm::find_if(
          alike, [&](Operation *other) { return areEqual(other, &op); });
      if (known == alike.end()) {
        alike.push_back(&op);
        continue;
      }
      merge(*known, &op);
      ++numMerged;
    }
  }
};
} // namespace
