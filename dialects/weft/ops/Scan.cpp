//===- Scan.cpp - cumulative ops and orders along a dimension -------------===//

#include "weft/dialects/weft/ShapeChecks.h"
#include "weft/dialects/weft/TypeLists.h"
#include "weft/dialects/weft/ops/ScanOps.h"

using namespace mlir;
using namespace weft;

#define GET_OP_CLASSES
#include "weft/dialects/weft/ops/ScanOps.cpp.inc"

/// The rule in which all factors except one have the kind Pass.
static ShardingRule alongRule(ArrayRef<int64_t> shape, uint64_t along,
                              FactorKind kind, unsigned operands,
                              unsigned results) {
  ShardingRule rule;
  TensorFactors all;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    rule.factors.push_back({size, dim == along ? kind : FactorKind::Pass});
    all.push_back({static_cast<unsigned>(dim)});
  }
  rule.operands.assign(operands, all);
  rule.results.assign(results, all);
  return rule;
}

LogicalResult CumulativeOp::verify() {
  RankedTensorType type = typeOf(getInput());
  if (failed(checkDim(*this, getDim(), type.getRank()))) // (C1)
    return failure();
  if (getKind() == ScanKind::LogSumExp &&
      !isa<FloatType>(type.getElementType())) // (C2)
    return emitOpError("logsumexp is of floats, not of ")
           << type.getElementType();
  return checkCombines(*this, stringifyScanKind(getKind()),
                       type.getElementType()); // (C3)
}

/// The reduction whose neutral element does not change a scan.
static ReduceKind neutralReduction(ScanKind kind) {
  switch (kind) {
  case ScanKind::Sum:
    return ReduceKind::Sum;
  case ScanKind::Prod:
    return ReduceKind::Prod;
  case ScanKind::Min:
    return ReduceKind::Min;
  case ScanKind::Max:
  case ScanKind::LogSumExp:
    return ReduceKind::Max;
  }
  return ReduceKind::Sum;
}

ShardingRule CumulativeOp::getShardingRule() {
  ShardingRule rule = alongRule(typeOf(getInput()).getShape(), getDim(),
                                FactorKind::Scan, 1, 1);
  rule.factors[getDim()].reduce = neutralReduction(getKind());
  if (getKind() == ScanKind::Sum)
    rule.linearity = {Linearity::Linear};
  return rule;
}

//===----------------------------------------------------------------------===//
// Positions of the largest and smallest
//===----------------------------------------------------------------------===//

static LogicalResult verifyArg(Operation *op, int64_t dim) {
  RankedTensorType type = typeOf(op->getOperand(0));
  if (failed(checkDim(op, dim, type.getRank()))) // (C1)
    return failure();
  if (type.getDimSize(dim) == 0) // (C1)
    return op->emitOpError("dim ") << dim << " is empty: it has no position";
  SmallVector<int64_t> expected(type.getShape());
  expected.erase(expected.begin() + dim);
  if (!isa<IntegerType>(typeOf(op->getResult(0)).getElementType())) // (C2)
    return op->emitOpError("positions are integers, not ")
           << typeOf(op->getResult(0)).getElementType();
  return checkShape(op, expected); // (C2)
}

static ShardingRule argRule(Operation *op, int64_t dim, ReduceKind kind) {
  ShardingRule rule = alongRule(typeOf(op->getOperand(0)).getShape(), dim,
                                FactorKind::Select, 1, 1);
  rule.factors[dim].reduce = kind;
  rule.results[0].erase(rule.results[0].begin() + dim);
  return rule;
}

LogicalResult ArgMaxOp::verify() { return verifyArg(*this, getDim()); }
LogicalResult ArgMinOp::verify() { return verifyArg(*this, getDim()); }
ShardingRule ArgMaxOp::getShardingRule() {
  return argRule(*this, getDim(), ReduceKind::Max);
}
ShardingRule ArgMinOp::getShardingRule() {
  return argRule(*this, getDim(), ReduceKind::Min);
}

//===----------------------------------------------------------------------===//
// Top-k, sort
//===----------------------------------------------------------------------===//

LogicalResult TopKOp::verify() {
  RankedTensorType input = typeOf(getInput()), values = typeOf(getValues());
  int64_t dim = getDim();
  if (failed(checkDim(*this, dim, input.getRank()))) // (C1)
    return failure();
  SmallVector<int64_t> expected(input.getShape());
  if (values.getRank() == input.getRank())
    expected[dim] = std::min(expected[dim], values.getDimSize(dim));
  if (failed(checkShape(*this, expected, 0)) ||
      failed(checkShape(*this, expected, 1))) // (C2)
    return failure();
  Type positions = typeOf(getPositions()).getElementType();
  if (values.getElementType() != input.getElementType() ||
      !isa<IntegerType>(positions)) // (C2)
    return emitOpError("gives elements ")
           << input.getElementType() << " and integers, not "
           << values.getElementType() << " and " << positions;
  return success();
}

ShardingRule TopKOp::getShardingRule() {
  ShardingRule rule = alongRule(typeOf(getInput()).getShape(), getDim(),
                                FactorKind::Select, 1, 2);
  rule.factors[getDim()].reduce = ReduceKind::Max;
  for (TensorFactors &result : rule.results)
    result[getDim()].clear(); // replicated
  return rule;
}

LogicalResult SortOp::verify() {
  unsigned inputs = getInputs().size();
  if (getKeys() < 1 || getKeys() > inputs) // (C3)
    return emitOpError("has ")
           << getKeys() << " keys and " << inputs << " tensors to sort";
  for (Value key : getInputs().take_front(getKeys()))
    if (isa<ComplexType>(typeOf(key).getElementType())) // (C3)
      return emitOpError("complex numbers have no order, but a key is ")
             << typeOf(key);
  RankedTensorType first = typeOf(getInputs()[0]);
  if (failed(checkDim(*this, getDim(), first.getRank()))) // (C1)
    return failure();
  if (getNumResults() != inputs) // (C2)
    return emitOpError("sorts ")
           << inputs << " tensors, but has " << getNumResults() << " results";
  for (auto [i, input, result] : llvm::enumerate(getInputs(), getSorted())) {
    RankedTensorType from = typeOf(input), to = typeOf(result);
    if (from.getShape() != first.getShape() ||
        to.getShape() != from.getShape() ||
        to.getElementType() != from.getElementType()) // (C2)
      return emitOpError("tensor ") << i << " is " << from << " and sorted "
                                    << to << ", but the first is " << first;
  }
  return success();
}

ShardingRule SortOp::getShardingRule() {
  ShardingRule rule =
      alongRule(typeOf(getInputs()[0]).getShape(), getDim(), FactorKind::Select,
                getNumOperands(), getNumResults());
  rule.factors[getDim()].ownsPadding = true;
  return rule;
}
