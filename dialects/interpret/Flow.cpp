//===- Flow.cpp - the meaning of loops and branches ------------------------===//

#include "weft/dialects/interpret/Lockstep.h"
#include "weft/dialects/weft/FlowOps.h"

using namespace mlir;
using namespace weft;

/// A loop that runs more often than this is an error here.
static constexpr int64_t kMostTimes = 1 << 20;

FailureOr<int64_t> Lockstep::takeInteger(Operation &op,
                                         SmallVector<Tensors> &values) {
  int64_t first = values.front().front().integer(0);
  for (auto [device, tensors] : llvm::enumerate(values)) {
    int64_t own = tensors.front().integer(0);
    if (own != first)
      return op.emitOpError("is decided by ")
             << own << " on device " << device << ", but by " << first
             << " on device 0; a predicate must be the same on all";
    tensors.erase(tensors.begin());
  }
  return first;
}

Lockstep::Outcome Lockstep::runWhile(Operation &op,
                                     SmallVector<Tensors> carried) {
  auto loop = cast<WhileOp>(op);
  for (int64_t times = 0; times <= kMostTimes; ++times) {
    auto decided = run(loop.getCondition().front(), carried);
    if (failed(decided))
      return failure();
    auto goesOn = takeInteger(op, *decided);
    if (failed(goesOn))
      return failure();
    if (!*goesOn)
      return decided;
    auto next = run(loop.getBody().front(), *decided);
    if (failed(next))
      return failure();
    carried = std::move(*next);
  }
  return op.emitOpError("runs more than ")
         << kMostTimes << " times; the interpreter gives up";
}

Lockstep::Outcome Lockstep::runFor(Operation &op,
                                   SmallVector<Tensors> carried) {
  auto loop = cast<ForOp>(op);
  int64_t count = loop.getCount();
  if (count > kMostTimes)
    return op.emitOpError("runs ")
           << count << " times, more than the " << kMostTimes
           << " that are interpreted";
  for (int64_t time = 0; time < count; ++time) {
    Tensor counter({}, IntegerType::get(op.getContext(), 32));
    counter.setInteger(0, time);
    for (Tensors &tensors : carried)
      tensors.insert(tensors.begin(), counter);
    auto next = run(loop.getBody().front(), carried);
    if (failed(next))
      return failure();
    carried = std::move(*next);
  }
  return carried;
}

Lockstep::Outcome Lockstep::runCase(Operation &op,
                                    SmallVector<Tensors> operands) {
  auto choice = cast<CaseOp>(op);
  auto selector = takeInteger(op, operands);
  if (failed(selector))
    return failure();
  int64_t branches = choice.getBranches().size(), branch = *selector;
  auto type = cast<RankedTensorType>(choice.getSelector().getType());
  if (type.getElementType().isInteger(1))
    branch = *selector ? 0 : 1;
  else if (branch < 0 || branch >= branches)
    branch = branches - 1;
  return run(choice.getBranches()[branch].front(), operands);
}

Lockstep::Outcome Lockstep::runManual(Operation &op,
                                      const Operands &operands) {
  auto manual = cast<ManualOp>(op);
  Mesh inside = manual.getMesh().getMesh();
  if (devices != 1)
    return op.emitOpError("is run by each of ")
           << devices << " devices; partition it first";
  SmallVector<Tensors> blocks(inside.size());
  for (auto [index, tensor] : llvm::enumerate(operands.front())) {
    Layout layout = manual.getOperandLayout(index).getLayout();
    for (auto [device, block] : llvm::enumerate(shardTensor(inside, layout, *tensor)))
      blocks[device].push_back(std::move(block));
  }
  auto outcome = Lockstep(inside).run(manual.getBody().front(), blocks);
  if (failed(outcome))
    return failure();
  SmallVector<Tensors> results(1);
  for (OpResult result : op.getResults()) {
    unsigned index = result.getResultNumber();
    auto ofDevices = llvm::map_to_vector(*outcome, [&](Tensors &all) { return all[index]; });
    std::string why = gatherTensor(
        inside, manual.getResultLayout(index).getLayout(),
        cast<RankedTensorType>(result.getType()).getShape(), ofDevices,
        results.front().emplace_back());
    if (!why.empty())
      return op.emitOpError("result ") << index << ": " << why;
  }
  return results;
}

std::optional<Lockstep::Outcome> Lockstep::flow(Operation &op,
                                                const Operands &operands) {
  if (isa<WhileOp>(op))
    return runWhile(op, copied(operands));
  if (isa<ForOp>(op))
    return runFor(op, copied(operands));
  if (isa<CaseOp>(op))
    return runCase(op, copied(operands));
  if (auto checkpoint = dyn_cast<CheckpointOp>(op))
    return run(checkpoint.getBody().front(), copied(operands));
  if (isa<ManualOp>(op))
    return runManual(op, operands);
  if (isa<OptimizationBarrierOp>(op))
    return copied(operands);
  return std::nullopt;
}
