//===- VerifyParts.cpp - no device reads what it does not have ------------===//

#include "weft/compiler/stages/VerifyParts.h"

#include "weft/dialects/plan/PlanInstruction.h"
#include "weft/dialects/weft/Ports.h"
#include "weft/dialects/weft/Weft.h"
#include "weft/dialects/weft/ops/FlowOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <algorithm>
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

/// A part for all devices that are in both; of two coordinates along an axis it
/// keeps both, and then it is no part of any other.
static MeshPart inBoth(const MeshPart &a, const MeshPart &b) {
  MeshPart both;
  std::ranges::set_union(a, b, std::back_inserter(both));
  return both;
}

/// The part whose devices have the value; in a region of a part all values are on
/// it.
MeshPart HeldParts::OfFunction::of(Value value) const {
  Operation *def = value.getDefiningOp();
  if (auto at = dyn_cast_or_null<AtOp>(def))
    return at.getPart();
  auto region = value.getParentRegion();
  if (auto at = dyn_cast<AtOp>(region->getParentOp()))
    return at.getPart();
  if (auto at = region->getParentOfType<AtOp>())
    return at.getPart();
  if (!flow.members(flow.leader(value)).empty())
    return passedOn.lookup(flow.leader(value));
  if (def) {
    std::optional<Movement> movement = movementOf(def);
    return movement ? movement->to.part : MeshPart();
  }
  auto function = dyn_cast<func::FuncOp>(value.getParentBlock()->getParentOp());
  return function ? partIn(function.getArgAttr(
                        cast<BlockArgument>(value).getArgNumber(), kLayoutAttr))
                  : MeshPart();
}

HeldParts::OfFunction::OfFunction(func::FuncOp function) : flow(function) {
  bool hasParts = false;
  llvm::SetVector<Value> leaders;
  function.walk([&](Operation *op) {
    hasParts |= isa<AtOp>(op);
    for (OpOperand &operand : op->getOpOperands())
      if (Value target = flow.target(operand))
        leaders.insert(flow.leader(target));
  });
  for (bool isChanged = hasParts; isChanged;) {
    isChanged = false;
    for (Value leader : leaders)
      for (OpOperand *source : flow.sources(leader)) {
        MeshPart &known = passedOn[leader];
        MeshPart both = inBoth(known, of(source->get()));
        isChanged |= both != known;
        passedOn[leader] = std::move(both);
      }
  }
}

/// The part whose devices read an operand.
MeshPart HeldParts::OfFunction::readersOf(OpOperand &operand) const {
  Operation *op = operand.getOwner();
  if (auto at = dyn_cast<AtOp>(op))
    return at.getPart();
  if (std::optional<Movement> movement = movementOf(op))
    return movement->from.part;
  if (flow.target(operand)) // It is read where what it becomes is read.
    return of(operand.get());
  auto function = dyn_cast<func::FuncOp>(op->getParentOp());
  if (function && isa<func::ReturnOp>(op))
    return partIn(
        function.getResultAttr(operand.getOperandNumber(), kLayoutAttr));
  return {};
}

std::string HeldParts::whyNotOnItsPart(Operation *op) {
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
  auto function = op->getParentOfType<func::FuncOp>();
  if (around || !function)
    return ""; // Its values are on the part.
  OfFunction &held = functions.try_emplace(function, function).first->second;
  for (OpOperand &operand : op->getOpOperands()) {
    MeshPart has = held.of(operand.get()), readers = held.readersOf(operand);
    if (!includes(has, readers))
      return "runs on " + named(readers) + ", but operand " +
             std::to_string(operand.getOperandNumber()) + " is only on " +
             named(has);
  }
  return "";
}
