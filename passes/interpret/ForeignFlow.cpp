//===- ForeignFlow.cpp - the meaning of scf -------------------------------===//

#include "weft/passes/interpret/ForeignMeanings.h"
#include "weft/passes/interpret/Lockstep.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace weft;

/// The number of iterations of a loop, whose bounds may differ by more than
/// INT64_MAX.
static uint64_t timesOf(int64_t from, int64_t to, uint64_t by) {
  uint64_t distance = from < to ? uint64_t(to) - uint64_t(from) : 0;
  return distance / by + (distance % by != 0);
}

Lockstep::Outcome Lockstep::runCountedLoop(Operation &op,
                                           SmallVector<Tensors> carried) {
  SmallVector<int64_t, 3> bounds; // from, to, by
  for (unsigned i = 0; i < 3; ++i) {
    auto bound = takeInteger(op, carried);
    if (failed(bound))
      return failure();
    bounds.push_back(*bound);
  }
  uint64_t times = bounds[2] > 0 ? timesOf(bounds[0], bounds[1], bounds[2]) : 0;
  if (bounds[2] <= 0 || times > uint64_t(kMostTimes))
    return op.emitOpError("runs from ")
           << bounds[0] << " to " << bounds[1] << " by " << bounds[2]
           << "; steps are positive, and no more than " << kMostTimes
           << " are interpreted";
  for (uint64_t time = 0; time < times; ++time) {
    Tensor counter = storedTensor(op.getOperand(0).getType());
    counter.setInteger(
        0, int64_t(uint64_t(bounds[0]) + time * uint64_t(bounds[2])));
    for (Tensors &tensors : carried)
      tensors.insert(tensors.begin(), counter);
    auto next = run(op.getRegion(0).front(), carried);
    if (failed(next))
      return failure();
    carried = std::move(*next);
  }
  return carried;
}

std::optional<Lockstep::Outcome>
Lockstep::foreignFlow(Operation &op, const Operands &operands) {
  if (isa<scf::ForOp>(op))
    return runCountedLoop(op, copied(operands));
  auto choice = dyn_cast<scf::IfOp>(op);
  if (!choice)
    return std::nullopt;
  SmallVector<Tensors> values = copied(operands);
  auto condition = takeInteger(op, values);
  if (failed(condition))
    return Outcome(failure());
  Block *taken = *condition ? choice.thenBlock() : choice.elseBlock();
  return taken ? run(*taken, values) : Outcome(values);
}
