//===- Flow.cpp - the meaning of loops and branches -----------------------===//

#include "weft/dialects/weft/ops/FlowOps.h"
#include "weft/passes/interpret/Lockstep.h"

using namespace mlir;
using namespace weft;

FailureOr<int64_t> Lockstep::takeInteger(Operation &op,
                                         SmallVector<Tensors> &values) {
  // In a region of a part, other devices may have no value.
  auto at = op.getParentOfType<AtOp>();
  std::optional<std::pair<int64_t, size_t>> first;
  for (auto [device, tensors] : llvm::enumerate(values)) {
    int64_t own = tensors.front().integer(0);
    tensors.erase(tensors.begin());
    if (at && !isIn(mesh.axes, at.getPart(), device))
      continue;
    if (!first)
      first = {own, device};
    if (own != first->first)
      return op.emitOpError("is decided by ")
             << own << " on device " << device << ", but by " << first->first
             << " on device " << first->second
             << "; a predicate must be the same on all";
  }
  return first->first;
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
    return op.emitOpError("runs ") << count << " times, more than the "
                                   << kMostTimes << " that are interpreted";
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

/// The device of the part with the other coordinates of `position`.
static int64_t memberLike(const Mesh &mesh, const MeshPart &part,
                          int64_t position) {
  for (auto [axis, coordinate] : part)
    position += (coordinate - mesh.coordinate(position, axis)) *
                strideOf(mesh.axes, axis);
  return position;
}

Lockstep::Outcome Lockstep::runAt(Operation &op,
                                  SmallVector<Tensors> operands) {
  auto at = cast<AtOp>(op);
  if (at.getPlace().getMesh().getMesh().axes != mesh.axes)
    return op.emitOpError("is over another mesh than the one of ")
           << mesh.size() << " devices that the program runs on";
  MeshPart part = at.getPart();
  // Other devices follow one of the part, so that all take the same branches.
  for (int64_t device = 0; device < devices; ++device)
    if (int64_t like = memberLike(mesh, part, device); like != device)
      operands[device] = operands[like];
  auto results = run(at.getBody().front(), operands);
  if (failed(results))
    return failure();
  for (auto [device, tensors] : llvm::enumerate(*results))
    if (!isIn(mesh.axes, part, device))
      for (Tensor &tensor : tensors)
        for (int64_t i = 0; i < tensor.size(); ++i)
          tensor.setPadding(i);
  return results;
}

/// The device with `other`'s coordinates along the axes and `own`'s along the
/// rest of the mesh.
static int64_t mixedPosition(const Mesh &mesh, ArrayRef<SubAxis> axes,
                             int64_t other, int64_t own) {
  int64_t position = 0;
  for (auto [index, axis] : llvm::enumerate(mesh.axes)) {
    bool taken = llvm::any_of(
        axes, [&, i = index](const SubAxis &x) { return x.axis == i; });
    position =
        position * axis.size + mesh.coordinate(taken ? other : own, index);
  }
  return position;
}

/// Splits each device's operands into blocks along the axes that are free
/// around the op. For an outermost region the single global value is split for
/// all devices.
SmallVector<Tensors> Lockstep::blocksOf(Operation &op,
                                        const Operands &operands) {
  auto manual = cast<ManualOp>(op);
  Mesh inside = manual.getMesh().getMesh();
  SmallVector<Tensors> blocks(inside.size());
  for (auto [device, tensors] : llvm::enumerate(operands))
    for (auto [index, tensor] : llvm::enumerate(tensors)) {
      Tensors shards = shardTensor(inside, manual.fromLayout(index), *tensor);
      if (operands.size() != 1)
        blocks[device].push_back(std::move(shards[device]));
      else
        for (auto [block, shard] : llvm::zip_equal(blocks, shards))
          block.push_back(std::move(shard));
    }
  return blocks;
}

Lockstep::Outcome Lockstep::runManual(Operation &op, const Operands &operands) {
  auto manual = cast<ManualOp>(op);
  auto around = op.getParentOfType<ManualOp>();
  Mesh inside = manual.getMesh().getMesh();
  if (devices != 1 && !around)
    return op.emitOpError("is run by each of ")
           << devices << " devices; partition it first";
  auto outcome =
      Lockstep(inside).run(manual.getBody().front(), blocksOf(op, operands));
  if (failed(outcome))
    return failure();
  SubAxes free = around ? around.getFreeAxes() : allAxes(inside);
  SmallVector<Tensors> results(devices);
  for (OpResult result : op.getResults())
    for (int64_t device = 0; device < devices; ++device) {
      unsigned index = result.getResultNumber();
      Tensors ofDevices;
      for (int64_t other = 0; other < inside.size(); ++other)
        ofDevices.push_back(
            (*outcome)[mixedPosition(inside, free, other, device)][index]);
      std::string why =
          gatherTensor(inside, manual.toLayout(index),
                       cast<RankedTensorType>(result.getType()).getShape(),
                       ofDevices, results[device].emplace_back());
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
  if (isa<AtOp>(op))
    return runAt(op, copied(operands));
  if (auto checkpoint = dyn_cast<CheckpointOp>(op))
    return run(checkpoint.getBody().front(), copied(operands));
  if (isa<ManualOp>(op))
    return runManual(op, operands);
  if (isa<OptimizationBarrierOp>(op))
    return copied(operands);
  return std::nullopt;
}
