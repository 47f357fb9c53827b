//===- Gradients.cpp - reverse-mode derivatives of the ops -----------------===//

#include "weft/dialects/weft/Weft.h"

using namespace mlir;
using namespace weft;

#define WEFT_NO_DERIVATIVE(OP)                                                 \
  LogicalResult OP::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>,     \
                                  SmallVectorImpl<Value> &) {                  \
    return emitOpError("has no derivative yet");                               \
  }

WEFT_NO_DERIVATIVE(NegOp)
WEFT_NO_DERIVATIVE(AbsOp)
WEFT_NO_DERIVATIVE(SignOp)
WEFT_NO_DERIVATIVE(ExpOp)
WEFT_NO_DERIVATIVE(Expm1Op)
WEFT_NO_DERIVATIVE(LogOp)
WEFT_NO_DERIVATIVE(Log1pOp)
WEFT_NO_DERIVATIVE(SqrtOp)
WEFT_NO_DERIVATIVE(RsqrtOp)
WEFT_NO_DERIVATIVE(TanhOp)
WEFT_NO_DERIVATIVE(LogisticOp)
WEFT_NO_DERIVATIVE(ErfOp)
WEFT_NO_DERIVATIVE(FloorOp)
WEFT_NO_DERIVATIVE(ReluOp)
WEFT_NO_DERIVATIVE(AddOp)
WEFT_NO_DERIVATIVE(SubOp)
WEFT_NO_DERIVATIVE(MulOp)
WEFT_NO_DERIVATIVE(DivOp)
WEFT_NO_DERIVATIVE(MaxOp)
WEFT_NO_DERIVATIVE(MinOp)
WEFT_NO_DERIVATIVE(PowOp)
WEFT_NO_DERIVATIVE(CompareOp)
WEFT_NO_DERIVATIVE(SelectOp)
WEFT_NO_DERIVATIVE(ConvertOp)
WEFT_NO_DERIVATIVE(ConstantOp)
WEFT_NO_DERIVATIVE(IotaOp)
WEFT_NO_DERIVATIVE(RngBitsOp)
WEFT_NO_DERIVATIVE(BroadcastOp)
WEFT_NO_DERIVATIVE(TransposeOp)
WEFT_NO_DERIVATIVE(ReshapeOp)
WEFT_NO_DERIVATIVE(SliceOp)
WEFT_NO_DERIVATIVE(ConcatenateOp)
WEFT_NO_DERIVATIVE(ReduceOp)
WEFT_NO_DERIVATIVE(DotOp)
WEFT_NO_DERIVATIVE(ConstrainOp)
