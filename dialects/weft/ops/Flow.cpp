//===- Flow.cpp - control flow between regions, and its checks ------------===//

#include "weft/dialects/weft/ops/FlowOps.h"

using namespace mlir;
using namespace weft;

#define GET_OP_CLASSES
#include "weft/dialects/weft/ops/FlowOps.cpp.inc"

void weft::inlineRegion(Operation *op, Region &region, ValueRange inputs) {
  Block &block = region.front();
  Operation *end = block.getTerminator();
  op->replaceAllUsesWith(end->getOperands());
  for (auto [argument, input] : llvm::zip_equal(block.getArguments(), inputs))
    argument.replaceAllUsesWith(input);
  end->erase();
  op->getBlock()->getOperations().splice(op->getIterator(),
                                         block.getOperations());
  op->erase();
}

static RegionSuccessor enter(Region &region, unsigned skipped = 0) {
  return RegionSuccessor(&region, region.getArguments().drop_front(skipped));
}

static bool isScalar(Type type, unsigned width) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getRank() == 0 &&
         tensor.getElementType().isSignlessInteger(width);
}

/// Checks that the region ends with an op of this kind.
template <typename End>
static LogicalResult endsWith(Operation *op, Region &region) {
  Operation *end = region.front().getTerminator();
  if (isa<End>(end))
    return success();
  return op->emitOpError("region ")
         << region.getRegionNumber() << " ends with '" << end->getName()
         << "' instead of '" << End::getOperationName() << "'";
}

//===----------------------------------------------------------------------===//
// while
//===----------------------------------------------------------------------===//

OperandRange WhileOp::getEntrySuccessorOperands(RegionSuccessor) {
  return getInits();
}

void WhileOp::getSuccessorRegions(RegionBranchPoint point,
                                  SmallVectorImpl<RegionSuccessor> &regions) {
  Operation *end = point.getTerminatorPredecessorOrNull();
  if (!end || end->getParentRegion() == &getBody()) {
    regions.push_back(enter(getCondition()));
    return;
  }
  regions.push_back(enter(getBody()));
  regions.push_back(RegionSuccessor(getOperation(), getResults()));
}

LogicalResult WhileOp::verifyRegions() {
  if (failed(endsWith<ConditionOp>(*this, getCondition())))
    return failure();
  return endsWith<YieldOp>(*this, getBody()); // (C1)
}

MutableOperandRange ConditionOp::getMutableSuccessorOperands(RegionSuccessor) {
  return getValuesMutable();
}

LogicalResult ConditionOp::verify() {
  if (isScalar(getCondition().getType(), 1)) // (C1)
    return success();
  return emitOpError("the condition is ")
         << getCondition().getType() << " instead of tensor<i1>";
}

//===----------------------------------------------------------------------===//
// for
//===----------------------------------------------------------------------===//

OperandRange ForOp::getEntrySuccessorOperands(RegionSuccessor) {
  return getInits();
}

void ForOp::getSuccessorRegions(RegionBranchPoint,
                                SmallVectorImpl<RegionSuccessor> &regions) {
  regions.push_back(enter(getBody(), /*skipped=*/1));
  regions.push_back(RegionSuccessor(getOperation(), getResults()));
}

LogicalResult ForOp::verifyRegions() {
  if (static_cast<int64_t>(getCount()) < 0) // (C1)
    return emitOpError("runs ")
           << static_cast<int64_t>(getCount()) << " times; the least is 0";
  if (getBody().getNumArguments() == 0 ||
      !isScalar(getCounter().getType(), 32)) // (C2)
    return emitOpError(
        "the region's first argument should be tensor<i32>, the counter");
  if (getSaved() && getSaved()->size() > getInits().size()) // (C4)
    return emitOpError("saved has ") << getSaved()->size() << " entries for "
                                     << getInits().size() << " carried values";
  return endsWith<YieldOp>(*this, getBody());
}

//===----------------------------------------------------------------------===//
// case, checkpoint
//===----------------------------------------------------------------------===//

OperandRange CaseOp::getEntrySuccessorOperands(RegionSuccessor) {
  return getInputs();
}

void CaseOp::getSuccessorRegions(RegionBranchPoint point,
                                 SmallVectorImpl<RegionSuccessor> &regions) {
  if (!point.isParent()) {
    regions.push_back(RegionSuccessor(getOperation(), getResults()));
    return;
  }
  for (Region &branch : getBranches())
    regions.push_back(enter(branch));
}

LogicalResult CaseOp::verifyRegions() {
  Type type = getSelector().getType();
  bool fits = isScalar(type, 1) ? getBranches().size() == 2
                                : isScalar(type, 32) && !getBranches().empty();
  if (!fits) // (C1)
    return emitOpError("has ")
           << getBranches().size() << " regions and a selector of type " << type
           << "; tensor<i1> chooses one of 2, tensor<i32> one of several";
  for (Region &branch : getBranches())
    if (failed(endsWith<YieldOp>(*this, branch)))
      return failure();
  return success();
}

OperandRange CheckpointOp::getEntrySuccessorOperands(RegionSuccessor) {
  return getInputs();
}

void CheckpointOp::getSuccessorRegions(
    RegionBranchPoint point, SmallVectorImpl<RegionSuccessor> &regions) {
  if (point.isParent())
    regions.push_back(enter(getBody()));
  else
    regions.push_back(RegionSuccessor(getOperation(), getResults()));
}

//===----------------------------------------------------------------------===//
// at
//===----------------------------------------------------------------------===//

LayoutAttr AtOp::placeOn(MeshAttr mesh, const MeshPart &part) {
  Layout place;
  place.part = part;
  return LayoutAttr::get(mesh, place);
}

OperandRange AtOp::getEntrySuccessorOperands(RegionSuccessor) {
  return getInputs();
}

void AtOp::getSuccessorRegions(RegionBranchPoint point,
                               SmallVectorImpl<RegionSuccessor> &regions) {
  if (point.isParent())
    regions.push_back(enter(getBody()));
  else
    regions.push_back(RegionSuccessor(getOperation(), getResults()));
}

LogicalResult AtOp::verifyRegions() {
  if (getPart().empty()) // (C1)
    return emitOpError("runs on the whole mesh; name a coordinate of an axis "
                       "with several");
  return endsWith<YieldOp>(*this, getBody()); // (C2)
}

//===----------------------------------------------------------------------===//
// optimization_barrier
//===----------------------------------------------------------------------===//

LogicalResult OptimizationBarrierOp::verify() {
  if (getInputs().size() != getNumResults())
    return emitOpError("has ") << getInputs().size() << " operands, but "
                               << getNumResults() << " results";
  for (auto [input, result] : llvm::zip(getInputs(), getResults())) {
    auto from = cast<RankedTensorType>(input.getType()),
         to = cast<RankedTensorType>(result.getType());
    if (withLayout(from, nullptr) != withLayout(to, nullptr)) // (C1)
      return emitOpError("takes ") << from << ", but gives " << to;
  }
  return success();
}

/// The rule of a barrier: every dimension of every operand is a separate
/// factor.
ShardingRule OptimizationBarrierOp::getShardingRule() {
  ShardingRule rule;
  for (Value input : getInputs()) {
    TensorFactors tensor;
    for (int64_t size : cast<RankedTensorType>(input.getType()).getShape()) {
      tensor.push_back({static_cast<unsigned>(rule.factors.size())});
      rule.factors.push_back({size, FactorKind::Pass});
    }
    rule.operands.push_back(tensor);
    rule.results.push_back(tensor);
  }
  return rule;
}
