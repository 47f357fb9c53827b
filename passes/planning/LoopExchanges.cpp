//===- LoopExchanges.cpp - what a loop's rounds exchange ------------------===//

#include "weft/dialects/weft/CountedLoop.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/passes/planning/BufferAssignment.h"

using namespace mlir;
using namespace weft;

/// The most instructions of a loop whose body is in the plan several times.
static constexpr int64_t kMostInstructions = 1024;

static int64_t bytesInMemory(Value value) {
  return bufferBytes(cast<RankedTensorType>(value.getType()));
}

/// The carried value that an iteration passes on unchanged as the next `index`.
static std::optional<unsigned> passedOnAs(PlannedLoopOpInterface loop,
                                          unsigned index) {
  Value yielded = loop.getBodyBlock().getTerminator()->getOperand(index);
  auto argument = dyn_cast<BlockArgument>(yielded);
  if (!argument || argument.getOwner() != &loop.getBodyBlock())
    return std::nullopt;
  auto carried =
      dyn_cast<BlockArgument>(loop.getPassedOn()[argument.getArgNumber()]);
  return carried ? std::optional(carried.getArgNumber()) : std::nullopt;
}

std::optional<unsigned>
BufferAssignment::firstOfShifted(PlannedLoopOpInterface loop,
                                 unsigned index) const {
  if (bytesInMemory(loop->getOperands()[index]) < BufferExchange::kLeastBytes)
    return std::nullopt;
  unsigned count = loop->getOperands().size(), first = index;
  for (unsigned step = 1; step < BufferExchange::kMostRounds; ++step) {
    auto others = llvm::seq(0u, count);
    auto other = llvm::find_if(others, [&](unsigned to) {
      return to != first && passedOnAs(loop, to) == first;
    });
    if (other == others.end())
      return first == index ? std::nullopt : std::optional(first);
    first = *other;
  }
  return std::nullopt;
}

int64_t BufferAssignment::instructions(Operation *op) const {
  int64_t count = 1;
  for (Region &region : op->getRegions())
    for (Operation &inner : region.front())
      count += instructions(&inner);
  auto found = exchanges.find(op);
  return found == exchanges.end() ? count : count * found->second.rounds();
}

void BufferAssignment::findExchange(PlannedLoopOpInterface loop) {
  Operation *end = loop.getBodyBlock().getTerminator();
  SmallVector<CarriedPlaces> carried;
  for (auto [before, after] : llvm::zip_equal(
           loop.getConditionBlock().getArguments(), end->getOperands()))
    carried.push_back({place(before), place(after), bytesInMemory(before)});
  auto isOfLoop = [&](Place where) {
    return llvm::any_of(carried,
                        [&](const CarriedPlaces &value) {
                          return value.before == where && value.after != where;
                        }) ||
           (where.kind == PlaceKind::Arena &&
            llvm::all_of(arena[where.index].values, [&](Value value) {
              return loop->isAncestor(value.getParentBlock()->getParentOp());
            }));
  };
  BufferExchange exchange(carried, isOfLoop);
  std::optional<int64_t> rounds = roundsOf(loop);
  if ((rounds && *rounds < exchange.rounds()) ||
      exchange.rounds() * instructions(loop) > kMostInstructions)
    exchange = BufferExchange();
  for (Place where : exchange.places())
    if (where.kind == PlaceKind::Arena)
      arena[where.index].exchanging = loop;
  exchanges[loop] = std::move(exchange);
}
