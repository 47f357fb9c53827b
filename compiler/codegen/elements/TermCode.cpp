//===- TermCode.cpp - terms of reductions and contractions ----------------===//

#include "weft/compiler/codegen/elements/AttachElements.h"
#include "weft/compiler/codegen/elements/ScalarOps.h"
#include "weft/dialects/weft/TensorType.h"

using namespace mlir;

namespace weft::elements {

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
    Type element = typeOf(op->getResult(0)).getElementType();
    SmallVector<Value, 2> factors;
    for (unsigned number : {0, 1}) {
      FailureOr<Value> factor = emitFactor(op, emitter, number, position, term);
      if (failed(factor))
        return failure();
      factors.push_back(extendScalar(
          emitter.builder, emitter.loc,
          typeOf(op->getOperand(number)).getElementType(), element, *factor));
    }
    return emitProduct(emitter, element, factors[0], factors[1]);
  }
  /// Emits a factor of a term. The result's dimensions are the batch, the free
  /// dimensions of lhs, and those of rhs.
  FailureOr<Value> emitFactor(Operation *op, ElementEmitter &emitter,
                              unsigned number, ArrayRef<Value> position,
                              ArrayRef<Value> term) const {
    nest::ProductDims dims = *cast<nest::OpLoopsInterface>(op).getProductDims();
    const nest::ProductDims::Factor &factor = number ? *dims.rhs : *dims.lhs;
    Value operand = op->getOperand(number);
    SmallVector<Value> at(typeOf(operand).getRank());
    for (auto [dim, from] : llvm::zip_equal(factor.batch, dims.batch))
      at[dim] = position[from];
    for (auto [dim, from] :
         llvm::zip_equal(factor.rows, number ? dims.columns : dims.rows))
      at[dim] = position[from];
    for (auto [dim, from] : llvm::zip_equal(factor.terms, term))
      at[dim] = from;
    FailureOr<Value> value =
        emitter.element(operand, emitter.makeIndex(at, emitter.depth()));
    emitter.enterDepth(emitter.depth());
    return value;
  }
};
} // namespace

void attachTermCode(MLIRContext *context) {
  ReduceOp::attachInterface<ReduceTerms>(*context);
  DotOp::attachInterface<DotTerms>(*context);
}

} // namespace weft::elements
