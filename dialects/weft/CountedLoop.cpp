//===- CountedLoop.cpp - loops whose number of rounds is known ------------===//

#include "weft/dialects/weft/CountedLoop.h"
#include "weft/dialects/weft/Weft.h"
#include "weft/dialects/weft/ops/FlowOps.h"

using namespace mlir;

#include "weft/dialects/weft/CountedLoop.cpp.inc"

namespace weft {
namespace {
struct ForRounds : CountedLoopOpInterface::ExternalModel<ForRounds, ForOp> {
  std::optional<int64_t> getRounds(Operation *op) const {
    return static_cast<int64_t>(cast<ForOp>(op).getCount());
  }
};
struct WhileRounds
    : CountedLoopOpInterface::ExternalModel<WhileRounds, WhileOp> {
  std::optional<int64_t> getRounds(Operation *op) const {
    std::optional<uint64_t> count = cast<WhileOp>(op).getTripCount();
    return count ? std::optional<int64_t>(*count) : std::nullopt;
  }
};
} // namespace

void attachCountedLoops(MLIRContext &context) {
  ForOp::attachInterface<ForRounds>(context);
  WhileOp::attachInterface<WhileRounds>(context);
}

std::optional<int64_t> roundsOf(Operation *loop) {
  auto counted = dyn_cast<CountedLoopOpInterface>(loop);
  return counted ? counted.getRounds() : std::nullopt;
}

std::optional<int64_t> roundsAround(Operation *op) {
  Operation *around = op->getParentOp();
  while (isa<AtOp>(around))
    around = around->getParentOp();
  return roundsOf(around);
}

std::optional<TakenRounds> takenRounds(Operation *branch) {
  auto numbers = branch->getAttrOfType<DenseI64ArrayAttr>(kTakenAttr);
  if (!numbers || numbers.size() != 2)
    return std::nullopt;
  return TakenRounds{numbers[0], numbers[1]};
}

void setTakenRounds(Operation *branch, TakenRounds rounds) {
  Builder builder(branch->getContext());
  branch->setAttr(kTakenAttr,
                  builder.getDenseI64ArrayAttr({rounds.first, rounds.count}));
}

} // namespace weft
