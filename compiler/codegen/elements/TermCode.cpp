//===- TermCode.cpp - terms of reductions and contractions ----------------===//

#include "weft/compiler/codegen/elements/AttachElements.h"
#include "weft/compiler/codegen/elements/ScalarOps.h"

using namespace mlir;

namespace weft::elements {

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

namespace {
struct ReduceTerms : TermCodeOpInterface::ExternalModel<ReduceTerms, ReduceOp> {
  ReduceKind getCombination(Operation *op) const {
    return cast<ReduceOp>(op).getKind();
  }
  FailureOr<Value> emitTerm(Operation *op, ElementEmitter &emitter,
                            ArrayRef<Value> position,
                            ArrayRef<Value> term) const {
    auto reduce = cast<ReduceOp>(op);
    SmallVector<Value> dims;
    for (int64_t dim = 0; dim < typeOf(reduce.getInput()).getRank(); ++dim) {
      bool isReduced = llvm::is_contained(reduce.getDims(), dim);
      ArrayRef<Value> &from = isReduced ? term : position;
      dims.push_back(from.front());
      from = from.drop_front();
    }
    return operandElement(emitter, reduce.getInput(), dims,
                          typeOf(reduce.getResult()).getElementType());
  }
};

struct DotTerms : TermCodeOpInterface::ExternalModel<DotTerms, DotOp> {
  ReduceKind getCombination(Operation *) const { return ReduceKind::Sum; }
  FailureOr<Value> emitTerm(Operation *op, ElementEmitter &emitter,
                            ArrayRef<Value> position,
                            ArrayRef<Value> term) const {
    auto dot = cast<DotOp>(op);
    Type element = typeOf(dot.getResult()).getElementType();
    size_t batches = dot.getLhsBatch().size();
    ArrayRef<Value> free = position.drop_front(batches);
    // Of the result are the batch dimensions, then the free ones of lhs, of rhs.
    auto operandOf = [&](Value operand, ArrayRef<int64_t> batch,
                         ArrayRef<int64_t> contract) {
      SmallVector<Value> dims(typeOf(operand).getRank());
      for (auto [i, dim] : llvm::enumerate(batch))
        dims[dim] = position[i];
      for (auto [i, dim] : llvm::enumerate(contract))
        dims[dim] = term[i];
      for (Value &dim : dims)
        if (!dim) {
          dim = free.front();
          free = free.drop_front();
        }
      return operandElement(emitter, operand, dims, element);
    };
    auto lhs = operandOf(dot.getLhs(), dot.getLhsBatch(), dot.getLhsContract());
    auto rhs = operandOf(dot.getRhs(), dot.getRhsBatch(), dot.getRhsContract());
    if (failed(lhs) || failed(rhs))
      return failure();
    return emitProduct(emitter, element, *lhs, *rhs);
  }
};
} // namespace

void attachTermCode(MLIRContext *context) {
  ReduceOp::attachInterface<ReduceTerms>(*context);
  DotOp::attachInterface<DotTerms>(*context);
}

} // namespace weft::elements
