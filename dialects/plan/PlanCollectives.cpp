//===- PlanCollectives.cpp - checks of the collectives of a plan ----------===//

#include "weft/dialects/plan/Plan.h"

using namespace mlir;
using namespace weft;
using namespace weft::plan;

static ShapedType typeOf(Value buffer) {
  return cast<ShapedType>(buffer.getType());
}

LogicalResult AllReduceOp::verify() {
  if (getSources().empty()) // (C1)
    return emitOpError("reduces nothing; name a source and a target");
  if (getSources().getTypes() != getTargets().getTypes()) // (C1)
    return emitOpError("targets should have the sources' types ")
           << getSources().getTypes() << ", but have "
           << getTargets().getTypes();
  return success();
}

/// Checks the dimensions of a collective along a dimension: (C1); for a pick,
/// (C2).
static LogicalResult checkAlong(Operation *op, int64_t dim, Value source,
                                Value target) {
  if (failed(checkDim(op, typeOf(source), dim)))
    return failure();
  return checkOtherDims(op, typeOf(source), typeOf(target), dim);
}

LogicalResult AllGatherOp::verify() {
  int64_t dim = getDim();
  if (failed(checkAlong(*this, dim, getSource(), getTarget()))) // (C1)
    return failure();
  return checkBlocks(*this, dim, getTarget().getType().getDimSize(dim),
                     getSource().getType().getDimSize(dim),
                     groupSize(getGroup())); // (C2)
}

LogicalResult ReduceScatterOp::verify() {
  int64_t dim = getDim();
  if (failed(checkAlong(*this, dim, getSource(), getTarget()))) // (C1)
    return failure();
  return checkBlocks(*this, dim, getSource().getType().getDimSize(dim),
                     getTarget().getType().getDimSize(dim),
                     groupSize(getGroup())); // (C2)
}

LogicalResult AllToAllOp::verify() {
  int64_t split = getSplit(), concat = getConcat(),
          group = groupSize(getGroup());
  MemRefType source = getSource().getType(), target = getTarget().getType();
  if (failed(checkDim(*this, source, split)) ||
      failed(checkDim(*this, source, concat))) // (C1)
    return failure();
  if (split == concat) // (C1)
    return emitOpError("splits and concatenates along the same dim ") << split;
  if (failed(checkOtherDims(*this, source, target, {split, concat})) ||
      failed(checkBlocks(*this, split, source.getDimSize(split),
                         target.getDimSize(split), group))) // (C2)
    return failure();
  return checkBlocks(*this, concat, target.getDimSize(concat),
                     source.getDimSize(concat), group); // (C2)
}

LogicalResult FetchOp::verify() {
  int64_t dim = getDim();
  if (failed(checkAlong(*this, dim, getSource(), getTarget())) || // (C1)
      failed(checkFetched(*this, getDivisor(), getModulus())))    // (C3)
    return failure();
  return checkBlocks(*this, dim, getSize(),
                     getSource().getType().getDimSize(dim),
                     groupSize(getGroup())); // (C2)
}

LogicalResult PickOp::verify() {
  if (failed(
          checkPositions(*this, typeOf(getPositions()), typeOf(getTarget()))))
    return failure();                                           // (C1)
  return checkAlong(*this, getDim(), getSource(), getTarget()); // (C2)
}

LogicalResult CollectivePermuteOp::verify() {
  if (failed(checkSenders(*this, getSenders(), groupSize(getGroup())))) // (C1)
    return failure();
  if (getSource().getType() != getTarget().getType()) // (C2)
    return emitOpError("source and target should have one type, but are ")
           << getSource().getType() << " and " << getTarget().getType();
  return success();
}

LogicalResult PermuteOp::verify() {
  return checkMove(*this, getSource().getType(), getTarget().getType(),
                   getShape(), getFrom(), getTo()); // (C1), (C2)
}

LogicalResult ExchangeOp::verify() {
  return checkMove(*this, getSource().getType(), getTarget().getType(),
                   getShape(), getFrom(), getTo()); // (C1), (C2)
}

LogicalResult HostCallOp::verify() {
  if (static_cast<int64_t>(getFunction()) < 0) // (C1)
    return emitOpError("calls function ")
           << static_cast<int64_t>(getFunction()) << "; numbers start at 0";
  return success();
}
