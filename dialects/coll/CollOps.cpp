//===- CollOps.cpp - checks of the collectives ----------------------------===//

#include "weft/dialects/coll/Coll.h"
#include "weft/dialects/coll/CollectiveShapes.h"
#include "weft/dialects/plan/LocalArrays.h"

#include "weft/dialects/weft/TensorType.h"

using namespace mlir;
using namespace weft;
using namespace weft::coll;

static LogicalResult checkOwnDim(Operation *op, int64_t dim) {
  return coll::checkDim(op, typeOf(op->getOperand(0)), dim);
}

/// Checks that dimensions which the op does not change keep their size.
static LogicalResult checkOthers(Operation *op, ArrayRef<int64_t> changed) {
  return coll::checkOtherDims(op, typeOf(op->getOperand(0)),
                              typeOf(op->getResult(0)), changed);
}

LogicalResult CoordinateOp::verify() {
  RankedTensorType type = typeOf(getResult());
  if (type.getRank() != 0 ||
      !type.getElementType().isSignlessInteger(64)) // (C1)
    return emitOpError("a coordinate is tensor<i64>, not ") << type;
  return success();
}

LogicalResult coll::SliceOp::verify() {
  if (failed(checkOwnDim(*this, getDim())) ||
      failed(checkOthers(*this, getDim()))) // (C1)
    return failure();
  return coll::checkBlocks(*this, getDim(),
                           typeOf(getInput()).getDimSize(getDim()),
                           typeOf(getResult()).getDimSize(getDim()),
                           groupSize(getGroup())); // (C2)
}

int64_t MakePartialOp::getElementsReadElsewhere(unsigned) { return 0; }

LogicalResult MakePartialOp::verify() {
  if (getInput().getType() != getType()) // (C1)
    return emitOpError("operand and result should have one type, but are ")
           << getInput().getType() << " and " << getType();
  return success();
}

LogicalResult AllReduceOp::verify() {
  if (getInputs().getTypes() != getResults().getTypes()) // (C1)
    return emitOpError("results should have the operands' types ")
           << getInputs().getTypes() << ", but have "
           << getResults().getTypes();
  return success();
}

LogicalResult AllGatherOp::verify() {
  if (failed(checkOwnDim(*this, getDim())) ||
      failed(checkOthers(*this, getDim()))) // (C1)
    return failure();
  return coll::checkBlocks(*this, getDim(),
                           typeOf(getResult()).getDimSize(getDim()),
                           typeOf(getInput()).getDimSize(getDim()),
                           groupSize(getGroup())); // (C2)
}

LogicalResult ReduceScatterOp::verify() {
  if (failed(checkOwnDim(*this, getDim())) ||
      failed(checkOthers(*this, getDim()))) // (C1)
    return failure();
  return coll::checkBlocks(*this, getDim(),
                           typeOf(getInput()).getDimSize(getDim()),
                           typeOf(getResult()).getDimSize(getDim()),
                           groupSize(getGroup())); // (C2)
}

LogicalResult AllToAllOp::verify() {
  int64_t split = getSplit(), concat = getConcat(),
          group = groupSize(getGroup());
  if (failed(checkOwnDim(*this, split)) || failed(checkOwnDim(*this, concat)))
    return failure();  // (C1)
  if (split == concat) // (C1)
    return emitOpError("splits and concatenates along the same dim ") << split;
  RankedTensorType input = typeOf(getInput()), result = typeOf(getResult());
  if (failed(checkOthers(*this, {split, concat})) ||
      failed(coll::checkBlocks(*this, split, input.getDimSize(split),
                               result.getDimSize(split), group))) // (C2)
    return failure();
  return coll::checkBlocks(*this, concat, result.getDimSize(concat),
                           input.getDimSize(concat), group); // (C2)
}

LogicalResult FetchOp::verify() {
  if (failed(checkOwnDim(*this, getDim())) ||
      failed(checkOthers(*this, getDim()))) // (C1)
    return failure();
  if (failed(coll::checkFetched(*this, getDivisor(), getModulus()))) // (C3)
    return failure();
  return coll::checkBlocks(*this, getDim(), getSize(),
                           typeOf(getInput()).getDimSize(getDim()),
                           groupSize(getGroup())); // (C2)
}

LogicalResult PickOp::verify() {
  if (failed(coll::checkPositions(*this, typeOf(getPositions()),
                                  typeOf(getResult())))) // (C1)
    return failure();
  if (failed(checkOwnDim(*this, getDim()))) // (C2)
    return failure();
  return checkOthers(*this, getDim()); // (C2)
}

LogicalResult CollectivePermuteOp::verify() {
  if (failed(coll::checkSenders(*this, getSources(),
                                groupSize(getGroup())))) // (C1)
    return failure();
  if (getInput().getType() != getType()) // (C2)
    return emitOpError("operand and result should have one type, but are ")
           << getInput().getType() << " and " << getType();
  return success();
}

LogicalResult coll::MoveOp::verify() {
  SmallVector<LayoutAttr> layouts = {getFrom(), getTo()};
  if (ArrayAttr others = getOthersAttr())
    for (auto source : others.getAsRange<SourceAttr>())
      layouts.push_back(source.getLayout());
  for (LayoutAttr layout : layouts)
    if (layout.getMesh() != getGroup().getMesh()) // (C3)
      return emitOpError("has layouts on the meshes ")
             << getFrom().getMesh() << " and "
             << (layout == getFrom() ? getTo() : layout).getMesh()
             << ", its group is on " << getGroup().getMesh();
  const Mesh mesh = getGroup().getMesh().getMesh();
  SubAxes axes = plan::groupAxes(getGroup());
  std::string reason = invalidReason(
      getCommunication().getCommunication(), {mesh, axes},
      plan::localArrays(getInputs().getTypes()),
      plan::localArrays(getResult().getType())); // (C1), (C2), (C3)
  return reason.empty() ? success() : emitOpError(reason);
}

LogicalResult PermuteOp::verify() {
  return coll::checkMove(*this, typeOf(getInput()), typeOf(getResult()),
                         getShape(), getFrom(), getTo()); // (C1), (C2)
}
LogicalResult ExchangeOp::verify() {
  return coll::checkMove(*this, typeOf(getInput()), typeOf(getResult()),
                         getShape(), getFrom(), getTo()); // (C1), (C2)
}
