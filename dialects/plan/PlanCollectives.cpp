//===- PlanCollectives.cpp - starts of collectives, and their kinds -------===//

#include "weft/dialects/plan/LocalArrays.h"
#include "weft/dialects/plan/Plan.h"

using namespace mlir;
using namespace weft;
using namespace weft::plan;

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

SubAxes plan::groupAxes(LayoutAttr group) {
  Layout layout = group.getLayout();
  return layout.dims.empty() ? SubAxes() : layout.dims[0];
}

int64_t plan::groupSize(LayoutAttr group) {
  return shardCount(groupAxes(group));
}

LayoutAttr plan::groupOver(MeshAttr mesh, ArrayRef<SubAxis> axes) {
  Layout layout = Layout::replicated(1);
  layout.dims[0].assign(axes.begin(), axes.end());
  return LayoutAttr::get(mesh, layout);
}

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

Communication CombinationAttr::getCommunication() const {
  Combination its{getKind(), std::nullopt};
  if (getDim() != -1)
    its.dim = getDim();
  return its;
}

LogicalResult MovementAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<int64_t>, LayoutAttr from,
                                   LayoutAttr to, bool, BoxesAttr,
                                   ArrayRef<int64_t>,
                                   ArrayRef<SourceAttr> others) {
  for (SourceAttr source : others)
    if (source.getLayout().getMesh() != to.getMesh()) // (C1)
      return emitError() << "the layouts of a movement are on the meshes "
                         << source.getLayout().getMesh() << " and "
                         << to.getMesh();
  if (from.getMesh() != to.getMesh()) // (C1)
    return emitError() << "the layouts of a movement are on the meshes "
                       << from.getMesh() << " and " << to.getMesh();
  return success();
}

Communication MovementAttr::getCommunication() const {
  Movement its{getShape().vec(),
               getFrom().getLayout(),
               getTo().getLayout(),
               getIsRing(),
               getBoxes() ? getBoxes().getBoxes() : MovedBoxes(),
               getToShape().vec(),
               {}};
  for (SourceAttr source : getOthers())
    its.others.push_back(source.getSource());
  return its;
}

LogicalResult FetchingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t, ArrayRef<int64_t> positions) {
  if (!positions.empty() && positions.size() != 6) // (C1)
    return emitError() << "positions are " << positions.size()
                       << " numbers; write size, block, step, offset, divisor "
                          "and modulus";
  return success();
}

Communication FetchingAttr::getCommunication() const {
  Fetching its{getDim(), std::nullopt};
  if (ArrayRef<int64_t> at = getPositions(); !at.empty())
    its.positions = FetchedPositions{at[0], at[1], at[2], at[3], at[4], at[5]};
  return its;
}

Communication SendingAttr::getCommunication() const {
  return Sending{getSenders().vec()};
}

Communication HostCallAttr::getCommunication() const {
  return HostCall{getFunction()};
}

//===----------------------------------------------------------------------===//
// Starts
//===----------------------------------------------------------------------===//

StartOp plan::createStart(OpBuilder &builder, PlanInstructionOpInterface op,
                          ValueRange sources, ValueRange targets,
                          IntegerAttr times) {
  return StartOp::create(
      builder, op.getLoc(), StartedType::get(builder.getContext()),
      builder.getStringAttr(op.getCollectiveName()), op.getCommunication(),
      sources, targets, op.getCommunicatingGroup(), op.getProvenance(), times);
}

SubAxes PlanInstructionOpInterface::getLinks() {
  LayoutAttr group = getCommunicatingGroup();
  const Mesh mesh = group.getMesh().getMesh();
  return linksOf(getCommunication().getCommunication(),
                 {mesh, groupAxes(group)});
}

int64_t PlanInstructionOpInterface::getBytesSent() {
  LayoutAttr group = getCommunicatingGroup();
  const Mesh mesh = group.getMesh().getMesh();
  SubAxes axes = groupAxes(group);
  return bytesSent(getCommunication().getCommunication(), {mesh, axes},
                   localArrays(getOperation()->getOperandTypes()),
                   localArrays(getOperation()->getResultTypes()));
}

SubAxes StartOp::getLinks() {
  const Mesh mesh = getGroup().getMesh().getMesh();
  return linksOf(getCommunication().getCommunication(), {mesh, getGroupAxes()});
}

int64_t StartOp::getBytesSent() {
  const Mesh mesh = getGroup().getMesh().getMesh();
  SubAxes axes = getGroupAxes();
  return bytesSent(getCommunication().getCommunication(), {mesh, axes},
                   localArrays(getSources().getTypes()),
                   localArrays(getTargets().getTypes()));
}

WaitOp StartOp::getWait() {
  return getStarted().use_empty()
             ? WaitOp()
             : dyn_cast<WaitOp>(*getStarted().user_begin());
}

LogicalResult StartOp::verify() {
  const Mesh mesh = getGroup().getMesh().getMesh();
  SubAxes axes = getGroupAxes();
  auto movement = dyn_cast<MovementAttr>(getCommunication());
  if (movement && movement.getFrom().getMesh() != getGroup().getMesh()) // (C1)
    return emitOpError("moves on the mesh ")
           << movement.getFrom().getMesh() << " over a group of "
           << getGroup().getMesh();
  std::string reason =
      invalidReason(getCommunication().getCommunication(), {mesh, axes},
                    localArrays(getSources().getTypes()),
                    localArrays(getTargets().getTypes()));
  if (!reason.empty()) // (C1)
    return emitOpError(reason);
  if (!getStarted().hasOneUse()) // (C2)
    return emitOpError("has ")
           << std::distance(getStarted().use_begin(), getStarted().use_end())
           << " waits; write one plan.wait";
  return success();
}
