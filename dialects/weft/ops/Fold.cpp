//===- Fold.cpp - reductions by a given body ------------------------------===//

#include "weft/dialects/weft/ShapeChecks.h"
#include "weft/dialects/weft/ops/FlowOps.h"
#include "weft/dialects/weft/ops/FoldOps.h"

using namespace mlir;
using namespace weft;

#define GET_OP_CLASSES
#include "weft/dialects/weft/ops/FoldOps.cpp.inc"

void FoldOp::build(OpBuilder &builder, OperationState &state, ValueRange inputs,
                   ValueRange inits, ArrayRef<int64_t> dims) {
  SmallVector<Type> types;
  for (Value input : inputs)
    types.push_back(
        withShape(input, withoutDims(typeOf(input).getShape(), dims)));
  build(builder, state, types, inputs, inits, dims);
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

LogicalResult FoldOp::verify() {
  size_t tensors = getInputs().size();
  if (tensors == 0 || getInits().size() != tensors ||
      getNumResults() != tensors) // (C1)
    return emitOpError("has ")
           << tensors << " tensors, " << getInits().size() << " inits and "
           << getNumResults() << " results; give it as many of each";
  RankedTensorType first = typeOf(getInputs()[0]);
  if (failed(checkRisingDims(*this, getDims(), first.getRank()))) // (C2)
    return failure();
  for (auto [i, input, init, result] :
       llvm::enumerate(getInputs(), getInits(), getResults())) {
    RankedTensorType type = typeOf(input);
    if (type.getShape() != first.getShape()) // (C1)
      return emitOpError("tensor ") << i << " is " << type << ", but the first "
                                    << first << "; they have one shape";
    RankedTensorType start = typeOf(init);
    if (start.getRank() != 0 ||
        start.getElementType() != type.getElementType()) // (C3)
      return emitOpError("init ")
             << i << " is " << start << ", not a scalar of "
             << type.getElementType();
    if (typeOf(result).getElementType() != type.getElementType()) // (C3)
      return emitOpError("result ")
             << i << " is " << typeOf(result)
             << ", but its tensor has elements " << type.getElementType();
    if (failed(checkShape(*this, withoutDims(type.getShape(), getDims()),
                          i))) // (C3)
      return failure();
  }
  return success();
}

LogicalResult FoldOp::verifyRegions() {
  SmallVector<Type> scalars;
  for (Value input : getInputs())
    scalars.push_back(withShape(input, {}));
  SmallVector<Type> both(scalars);
  both.append(scalars);
  Block &block = getBody().front();
  if (block.getArgumentTypes() != TypeRange(both)) // (C4)
    return emitOpError("the region takes ")
           << block.getArgumentTypes() << ", but should take " << both;
  Operation *end = block.getTerminator();
  if (!isa<YieldOp>(end) ||
      end->getOperandTypes() != TypeRange(scalars)) // (C4)
    return emitOpError("the region ends with '")
           << end->getName() << "' of " << end->getOperandTypes()
           << ", but should end with 'weft.yield' of " << scalars;
  for (Operation &op : block.without_terminator()) {
    bool elementwise =
        op.hasTrait<OpTrait::Elementwise>() && op.getNumResults() == 1;
    if (!elementwise && !isa<ConstantOp>(op)) // (C5)
      return op.emitOpError("stands in a fold, which holds elementwise ops and "
                            "constants only");
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Sharding
//===----------------------------------------------------------------------===//

ShardingRule FoldOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors input, result;
  for (auto [dim, size] : llvm::enumerate(typeOf(getInputs()[0]).getShape())) {
    bool folded = llvm::is_contained(getDims(), static_cast<int64_t>(dim));
    Factor factor{size, folded ? FactorKind::Select : FactorKind::Pass};
    factor.ownsPadding = true;
    rule.factors.push_back(factor);
    input.push_back({static_cast<unsigned>(dim)});
    if (!folded)
      result.push_back(input.back());
  }
  rule.operands.assign(getInputs().size(), input);
  rule.operands.append(getInits().size(), TensorFactors());
  rule.results.assign(getNumResults(), result);
  return rule;
}
