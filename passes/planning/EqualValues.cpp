#include "weft/passes/planning/EqualValues.h"

#include "weft/dialects/plan/PlanInstruction.h"
#include "weft/dialects/weft/LayoutBorder.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace weft;

MeshAxes EqualValues::axesOf(ArrayRef<SubAxis> digits) const {
  MeshAxes out = none();
  for (SubAxis digit : digits)
    out.set(digit.axis);
  return out;
}

MeshAxes EqualValues::axesOf(LayoutAttr attribute) const {
  const Layout &layout = attribute.getLayout();
  MeshAxes out = axesOf(layout.partial);
  for (const SubAxes &dim : layout.dims)
    out |= axesOf(dim);
  return out;
}

MeshAxes EqualValues::fullAxesOf(ArrayRef<SubAxis> digits) const {
  MeshAxes out = none();
  for (SubAxis digit : normalise(mesh.getMesh(), digits))
    if (digit == fullAxis(mesh.getMesh(), digit.axis))
      out.set(digit.axis);
  return out;
}

EqualValues::EqualValues(func::FuncOp function, MeshAttr mesh) : mesh(mesh) {
  for (BlockArgument argument : function.getArguments())
    if (auto layout = function.getArgAttrOfType<LayoutAttr>(
            argument.getArgNumber(), kLayoutAttr))
      add(argument, axesOf(layout));
  visit(function.getBody().front());
}

MeshAxes EqualValues::differs(ValueRange values) const {
  MeshAxes out = none();
  for (Value value : values)
    out |= differs(value);
  return out;
}

bool EqualValues::add(Value value, const MeshAxes &axes) {
  MeshAxes &its = known.try_emplace(value, none()).first->second;
  MeshAxes before = its;
  its |= axes;
  return its != before;
}

void EqualValues::visit(Block &block) {
  for (Operation &op : block)
    visit(op);
}

/// The axes of the groups that an op names, or one in its regions. What a device
/// computes depends on its place by these alone.
MeshAxes EqualValues::axesNamedIn(Operation *op) const {
  MeshAxes axes = none();
  op->walk([&](Operation *inner) {
    inner->getAttrDictionary().walk(
        [&](LayoutAttr named) { axes |= axesOf(named); });
  });
  return axes;
}

/// The axes along which a kernel's results differ although its operands are
/// equal.
MeshAxes EqualValues::coordinatesIn(func::FuncOp kernel) {
  auto [found, isNew] = kernels.try_emplace(kernel, none());
  if (isNew)
    for (Operation &op : kernel.getOps())
      found->second |= axesNamedIn(&op);
  return found->second;
}

namespace {
/// The axes along which a collective's results differ.
struct Received {
  const EqualValues &values;
  MeshAxes sent;        ///< axes along which an operand differs
  MeshAxes group, full; ///< the group's axes, and those that it has as a whole

  /// What all members of a group receive alike.
  MeshAxes alike() const {
    MeshAxes out = sent;
    return out.reset(full);
  }
  /// What each member receives on its own.
  MeshAxes apart() const {
    MeshAxes out = sent;
    return out |= group;
  }
  MeshAxes operator()(const Combination &its) const {
    return its.dim ? apart() : alike();
  }
  MeshAxes operator()(const Movement &its) const {
    MeshAxes out = alike();
    for (const SubAxes &dim : its.to.dims)
      out |= values.axesOf(dim);
    return out |= values.axesOf(its.to.partial);
  }
  MeshAxes operator()(const Fetching &) const { return apart(); }
  MeshAxes operator()(const Sending &) const { return apart(); }
  /// Each group calls the host on its own.
  MeshAxes operator()(const HostCall &) const {
    MeshAxes out = full;
    return out.flip();
  }
};
} // namespace

void EqualValues::visit(Operation &op) {
  if (auto loop = dyn_cast<PlannedLoopOpInterface>(op))
    return visitLoop(loop);
  if (auto choice = dyn_cast<PlannedBranchOpInterface>(op))
    return visitBranch(choice);
  MeshAxes axes = all();
  if (auto call = dyn_cast<func::CallOp>(op)) {
    auto kernel = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        call, call.getCalleeAttr());
    if (kernel && !kernel.isExternal()) {
      axes = differs(op.getOperands());
      axes |= coordinatesIn(kernel);
    }
  } else if (isa<PlannedCallOpInterface, PlannedDataOpInterface>(op)) {
    axes = differs(op.getOperands());
  } else if (auto instruction =
                 dyn_cast<plan::PlanInstructionOpInterface>(op)) {
    SubAxes group = plan::groupAxes(instruction.getCommunicatingGroup());
    axes = std::visit(Received{*this, differs(op.getOperands()), axesOf(group),
                               fullAxesOf(group)},
                      instruction.getCommunication().getCommunication());
  } else if (isPure(&op)) {
    axes = differs(op.getOperands());
    axes |= axesNamedIn(&op);
  }
  for (Value result : op.getResults())
    add(result, axes);
}

/// Devices whose conditions differ leave the loop after different iterations.
void EqualValues::visitLoop(PlannedLoopOpInterface loop) {
  auto addAll = [&](ValueRange to, ValueRange from) {
    bool isNew = false;
    for (auto [target, source] : llvm::zip_equal(to, from))
      isNew |= add(target, differs(source));
    return isNew;
  };
  Block &condition = loop.getConditionBlock(), &body = loop.getBodyBlock();
  addAll(condition.getArguments(), loop->getOperands());
  do {
    visit(condition);
    addAll(body.getArguments(), loop.getPassedOn());
    visit(body);
  } while (
      addAll(condition.getArguments(), body.getTerminator()->getOperands()));
  addAll(loop->getResults(), loop.getPassedOn());
  for (Value result : loop->getResults())
    add(result, differs(loop.getDecision()));
}

void EqualValues::visitBranch(PlannedBranchOpInterface choice) {
  for (Region &branch : choice->getRegions()) {
    for (auto [argument, passed] :
         llvm::zip_equal(branch.getArguments(), choice.getPassed()))
      add(argument, differs(passed));
    visit(branch.front());
    for (auto [result, yielded] :
         llvm::zip_equal(choice->getResults(),
                         branch.front().getTerminator()->getOperands()))
      add(result, differs(yielded));
  }
  for (Value result : choice->getResults())
    add(result, differs(choice.getDecision()));
}
