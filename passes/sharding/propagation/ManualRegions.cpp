//===- ManualRegions.cpp - ops that say layouts themselves ----------------===//
//
// Methods of LayoutTable for the borders of regions: the layouts that an op
// states for operands and results (FixedLayoutsOpInterface), and the axes that
// its region leaves free.
//
//===----------------------------------------------------------------------===//

#include "weft/passes/sharding/propagation/LayoutTable.h"

#include "llvm/ADT/STLExtras.h"

using namespace weft;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Annotations
//===----------------------------------------------------------------------===//

/// Lets values at the border of a region get free axes, as long as its blocks
/// are full.
void LayoutTable::openToFreeAxes(Value value, llvm::ArrayRef<SubAxis> free) {
  Entry &entry = entryOf(value);
  entry.mustDivide = cast<RankedTensorType>(value.getType()).getShape();
  entry.open = ~uint64_t(0);
  entry.forbiddenAxes.append(boundAxes(meshValue, free));
}

LogicalResult LayoutTable::seedFixedLayouts() {
  for (const OpWithRule &op : ruled) {
    auto says = dyn_cast<FixedLayoutsOpInterface>(op.op);
    if (!says)
      continue;
    SubAxes free = says.getFreeAxes();
    for (OpResult result : op.op->getResults()) {
      auto layout =
          annotation(says.getResultLayout(result.getResultNumber()),
                     result.getType(), op.op->getName().getStringRef());
      if (!layout)
        return failure();
      fix(result, *layout, /*isState=*/false, op.op);
      leavePartial(result, *layout);
      if (!free.empty())
        openToFreeAxes(result, free);
    }
    if (!free.empty())
      for (BlockArgument argument : op.op->getRegion(0).getArguments())
        openToFreeAxes(argument, free);
  }
  return success();
}

static bool uses(const Layout &layout, unsigned axis) {
  auto isOf = [&](const SubAxis &used) { return used.axis == axis; };
  return llvm::any_of(layout.partial, isOf) ||
         llvm::any_of(layout.dims, [&](const SubAxes &dim) {
           return llvm::any_of(dim, isOf);
         });
}

/// Checks that a constraint in a region names free axes only.
LogicalResult LayoutTable::checkBound(Operation *op, const Layout &layout) {
  FixedLayoutsOpInterface around = freeRegionAround(op);
  if (!around)
    return success();
  for (const SubAxis &axis : boundAxes(meshValue, around.getFreeAxes()))
    if (uses(layout, axis.axis))
      return op->emitError("lays a value out over \"")
             << meshValue.axes[axis.axis].name << "\", but "
             << around->getName() << " around it takes that axis itself; "
             << "name axes that it leaves free";
  return success();
}

//===----------------------------------------------------------------------===//
// Propagation
//===----------------------------------------------------------------------===//

void LayoutTable::updateBorder(Operation *op, const Round &round,
                               llvm::SmallVectorImpl<Value> &changed) {
  auto says = dyn_cast<FixedLayoutsOpInterface>(op);
  if (!says)
    says = freeRegionEndedBy(op);
  if (!says)
    return;
  SubAxes free = says.getFreeAxes();
  auto isActive = [&](Value value) {
    return !free.empty() && !sources.contains(value) &&
           round.includes(entryOf(value));
  };
  auto meet = [&](Value outer, const Layout &said, Value inner) {
    if (isActive(outer))
      grow(inner, freePart(get(outer), said, free), changed, op, outer);
    grow(outer, isActive(inner) ? compose(said, get(inner)) : said, changed, op,
         inner);
  };
  Region &region = says->getRegion(0);
  for (OpOperand &operand : says->getOpOperands()) {
    unsigned i = operand.getOperandNumber();
    meet(operand.get(), says.getOperandLayout(i).getLayout(),
         region.getArgument(i));
  }
  if (free.empty())
    return;
  Operation *end = region.front().getTerminator();
  for (OpResult result : says->getResults()) {
    unsigned i = result.getResultNumber();
    meet(result, says.getResultLayout(i).getLayout(), end->getOperand(i));
  }
}

//===----------------------------------------------------------------------===//
// Decided layouts
//===----------------------------------------------------------------------===//

/// The layouts that an op with stated layouts requires and produces.
static OpSharding stated(const LayoutTable &table,
                         FixedLayoutsOpInterface says) {
  OpSharding sharding;
  bool free = !says.getFreeAxes().empty();
  for (unsigned i = 0; i < says->getNumOperands(); ++i) {
    Layout said = says.getOperandLayout(i).getLayout();
    Value inside = free ? says->getRegion(0).getArgument(i) : Value();
    sharding.operands.push_back(inside ? compose(said, table.get(inside))
                                       : said);
  }
  for (Value result : says->getResults())
    sharding.results.push_back(table.annotated(result));
  return sharding;
}

OpSharding LayoutTable::regionSharding(Operation *op) const {
  if (auto says = dyn_cast<FixedLayoutsOpInterface>(op))
    return stated(*this, says);
  OpSharding sharding;
  if (FixedLayoutsOpInterface says = freeRegionEndedBy(op)) {
    for (OpResult result : says->getResults())
      sharding.operands.push_back(
          freePart(get(result),
                   says.getResultLayout(result.getResultNumber()).getLayout(),
                   says.getFreeAxes()));
    return sharding;
  }
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    Value target = type ? flow.target(operand) : Value();
    sharding.operands.push_back(
        target ? get(target) : Layout::replicated(type ? type.getRank() : 0));
  }
  for (Value result : op->getResults())
    sharding.results.push_back(
        isa<RankedTensorType>(result.getType()) ? get(result) : Layout());
  return sharding;
}
