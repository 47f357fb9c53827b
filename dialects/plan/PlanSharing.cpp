//===- PlanSharing.cpp - who writes buffers that devices share ------------===//

#include "weft/dialects/plan/Sharing.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace weft;
using namespace weft::plan;

LayoutAttr plan::sharedOver(Value buffer) {
  Operation *op = buffer.getDefiningOp();
  if (auto output = dyn_cast_or_null<OutputOp>(op);
      output && output.getDonated())
    return sharedOver(output.getDonated());
  return op ? op->getAttrOfType<LayoutAttr>(kSharedAttr) : LayoutAttr();
}

static LogicalResult refuse(Operation *op, Value target, LayoutAttr its) {
  InFlightDiagnostic error = op->emitOpError("is ");
  if (its)
    error << "done once over " << its;
  else
    error << "done on each device";
  error << " and writes a buffer that ";
  if (LayoutAttr other = sharedOver(target))
    error << "is shared over " << other;
  else
    error << "each device has";
  return error;
}

/// (C5) The buffers that a launch or copy writes are shared as it is.
static LogicalResult checkWriter(Operation *op, ValueRange targets) {
  auto its = op->getAttrOfType<LayoutAttr>(kSharedAttr);
  for (Value target : targets)
    if (sharedOver(target) != its)
      return refuse(op, target, its);
  return success();
}

/// The buffers that a launch writes: a function's results come last. Of other
/// kernels it is not known here.
static ValueRange writtenBy(LaunchOp launch) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<FunctionOpInterface>(
      launch, launch.getKernelAttr());
  unsigned count = kernel ? kernel.getNumResults() : 0;
  return launch.getBuffers().take_back(
      std::min<unsigned>(count, launch.getBuffers().size()));
}

/// (C6) A collective writes a shared buffer for all that share it.
static LogicalResult checkStart(StartOp start) {
  Mesh mesh = start.getGroup().getMesh().getMesh();
  SubAxes group = normalise(mesh, start.getGroupAxes());
  for (Value target : start.getTargets())
    if (LayoutAttr its = sharedOver(target))
      for (SubAxis digit : normalise(mesh, groupAxes(its)))
        if (!llvm::is_contained(group, digit))
          return start.emitOpError("over ")
                 << start.getGroup() << " writes a buffer that is shared over "
                 << its;
  return success();
}

LogicalResult plan::checkSharing(ProgramOp program) {
  for (Operation &op : program.getBody().front()) {
    if (auto its = op.getAttrOfType<LayoutAttr>(kSharedAttr))
      if (its.getMesh() != program.getMesh() ||
          its.getLayout().dims.size() != 1) // (C4)
        return op.emitOpError("is shared over ")
               << its << ", which is no layout of rank 1 on the program's mesh "
               << program.getMesh();
    auto offset = op.getAttrOfType<IntegerAttr>(kSharedOffsetAttr);
    if (bool(offset) != (isa<BufferOp>(op) && op.hasAttr(kSharedAttr))) // (C4)
      return op.emitOpError(offset ? "has an offset in shared memory and is no "
                                     "shared plan.buffer"
                                   : "is shared and has no offset in shared "
                                     "memory");
    LogicalResult ok = success();
    if (auto launch = dyn_cast<LaunchOp>(op))
      ok = checkWriter(launch, writtenBy(launch)); // (C5)
    else if (auto copy = dyn_cast<CopyOp>(op))
      ok = checkWriter(copy, copy.getTarget()); // (C5)
    else if (auto start = dyn_cast<StartOp>(op))
      ok = checkStart(start); // (C6)
    if (failed(ok))
      return failure();
  }
  return success();
}
