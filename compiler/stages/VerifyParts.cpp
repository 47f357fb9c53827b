//===- VerifyParts.cpp - no device reads what it does not have ------------===//

#include "weft/compiler/stages/VerifyParts.h"

#include "weft/dialects/plan/PlanInstruction.h"
#include "weft/dialects/weft/Ports.h"
#include "weft/dialects/weft/Weft.h"
#include "weft/dialects/weft/ops/FlowOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

using namespace mlir;
using namespace weft;

static MeshPart partIn(Attribute layout) {
  auto its = dyn_cast_or_null<LayoutAttr>(layout);
  return its ? its.getLayout().part : MeshPart();
}

/// The movement that an op is in a plan, if it is one.
static std::optional<Movement> movementOf(Operation *op) {
  auto instruction = dyn_cast<plan::PlanInstructionOpInterface>(op);
  if (!instruction)
    return std::nullopt;
  Communication communication =
      instruction.getCommunication().getCommunication();
  const auto *its = std::get_if<Movement>(&communication);
  return its ? std::optional(*its) : std::nullopt;
}

/// The part of the mesh whose devices have the value; in a region of a part all
/// values are on it.
static MeshPart partOf(Value value) {
  Operation *def = value.getDefiningOp();
  if (auto at = dyn_cast_or_null<AtOp>(def))
    return at.getPart();
  if (def) {
    std::optional<Movement> movement = movementOf(def);
    return movement ? movement->to.part : MeshPart();
  }
  auto function = dyn_cast<func::FuncOp>(value.getParentBlock()->getParentOp());
  return function ? partIn(function.getArgAttr(
                        cast<BlockArgument>(value).getArgNumber(), kLayoutAttr))
                  : MeshPart();
}

/// The part whose devices read an operand.
static MeshPart readersOf(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (auto at = dyn_cast<AtOp>(op))
    return at.getPart();
  if (std::optional<Movement> movement = movementOf(op))
    return movement->from.part;
  auto function = dyn_cast<func::FuncOp>(op->getParentOp());
  if (function && isa<func::ReturnOp>(op))
    return partIn(
        function.getResultAttr(operand.getOperandNumber(), kLayoutAttr));
  return {};
}

std::string weft::whyNotOnItsPart(Operation *op) {
  auto around = op->getParentOfType<AtOp>();
  auto module = op->getParentOfType<ModuleOp>();
  auto mesh = module ? module->getAttrOfType<MeshAttr>(kMeshAttr) : MeshAttr();
  if (!mesh)
    return "";
  auto named = [&](const MeshPart &part) {
    return describe(mesh.getMesh().axes, part);
  };
  if (auto instruction = dyn_cast<plan::PlanInstructionOpInterface>(op);
      instruction && around)
    for (const SubAxis &axis :
         plan::groupAxes(instruction.getCommunicatingGroup()))
      if (fixes(around.getPart(), axis.axis))
        return "communicates over \"" + mesh.getMesh().axes[axis.axis].name +
               "\", but only the devices of " + named(around.getPart()) +
               " run it";
  if (around)
    return ""; // Its values are on the part.
  for (OpOperand &operand : op->getOpOperands()) {
    MeshPart held = partOf(operand.get()), readers = readersOf(operand);
    if (!includes(held, readers))
      return "runs on " + named(readers) + ", but operand " +
             std::to_string(operand.getOperandNumber()) + " is only on " +
             named(held);
  }
  return "";
}
