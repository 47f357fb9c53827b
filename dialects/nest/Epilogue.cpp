//===- Epilogue.cpp - ops on the sums of a loop nest ----------------------===//

#include "weft/dialects/nest/Epilogue.h"

#include "weft/dialects/nest/OpLoops.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace weft::nest {

SmallVector<Value> epilogueOf(LoopsOp loops) {
  SmallVector<Value> values;
  if (Operation *op = loops.getNestOp())
    llvm::copy_if(loops.getStored(), std::back_inserter(values),
                  [&](Value value) { return value.getDefiningOp() != op; });
  return values;
}

bool storesSums(LoopsOp loops) {
  Operation *op = loops.getNestOp();
  return op && llvm::any_of(loops.getStored(), [&](Value value) {
           return value.getDefiningOp() == op;
         });
}

int64_t innermostDim(RankedTensorType type) {
  int64_t dim = type.getRank() - 1;
  while (dim >= 0 && type.getDimSize(dim) == 1)
    --dim;
  return dim;
}

bool canFollowTile(RankedTensorType sums, int64_t columns, int64_t width,
                   ArrayRef<Value> epilogue,
                   llvm::function_ref<bool(Value)> isInMemory) {
  if (isFlat(epilogue, isInMemory))
    return true;
  int64_t dim = innermostDim(sums);
  return dim >= 0 &&
         (sums.getDimSize(dim) % width == 0 || sums.getDimSize(dim) == columns);
}

/// Whether only the epilogue reads the nest's results.
static bool areSumsDropped(LoopsOp first, LoopsOp elements) {
  return llvm::all_of(first->getUsers(), [&](Operation *user) {
    return elements->isProperAncestor(user);
  });
}

LoopsOp joinEpilogue(LoopsOp first, LoopsOp elements) {
  Operation *op = first.getNestOp();
  if (!op || op->getNumResults() != 1 || elements.getNestOp() ||
      first->getNextNode() != elements || !storesSums(first))
    return {};
  SmallVector<Value> sums = {op->getResult(0)}, epilogue(elements.getStored());
  unsigned position =
      llvm::find(first.getStored(), sums[0]) - first.getStored().begin();
  Value stored = first.getResult(position);
  auto isInMemory = [&](Value value) {
    return value.getParentBlock() != &elements.getBody().front();
  };
  auto refuses = [&](bool storesSums) {
    return !first.getWalk()
                .refuseEpilogue(op, stored, epilogue, storesSums, isInMemory)
                .empty();
  };
  bool isDropped = areSumsDropped(first, elements) && !refuses(false);
  if (!isDropped && refuses(true))
    return {};

  SmallVector<Value> values(first.getStored());
  SmallVector<Attribute> places(first.getPlaces().getValue());
  SmallVector<Value> results(first.getResults());
  if (isDropped) {
    values.erase(values.begin() + position);
    places.erase(places.begin() + position);
    results.erase(results.begin() + position);
  }
  llvm::append_range(values, epilogue);
  llvm::append_range(places, elements.getPlaces());
  llvm::append_range(results, elements.getResults());
  OpBuilder builder(elements);
  auto joined = LoopsOp::create(builder, first.getLoc(),
                                llvm::to_vector(ValueRange(values).getTypes()),
                                first.getWalk(), builder.getArrayAttr(places));
  joined.getBody().takeBody(first.getBody());
  Block &body = joined.getBody().front();
  body.getTerminator()->erase();
  body.getOperations().splice(body.end(),
                              elements.getBody().front().getOperations());
  stored.replaceUsesWithIf(sums[0], [&](OpOperand &use) {
    return use.getOwner()->getBlock() == &body;
  });
  body.getTerminator()->setOperands(values);
  for (auto [old, next] : llvm::zip_equal(results, joined.getResults()))
    old.replaceAllUsesWith(next);
  elements.erase();
  first.erase();
  return joined;
}

} // namespace weft::nest
