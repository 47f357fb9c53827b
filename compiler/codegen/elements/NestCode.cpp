//===- NestCode.cpp - ops with a loop nest of their own -------------------===//

#include "weft/compiler/codegen/elements/NestCode.h"

#include "weft/compiler/codegen/elements/AttachElements.h"
#include "weft/compiler/codegen/elements/OwnNests.h"

using namespace mlir;

namespace weft::elements {

#include "weft/compiler/codegen/elements/NestCode.cpp.inc"

namespace {
template <typename ConcreteOp, auto emit>
struct NestModel
    : NestCodeOpInterface::ExternalModel<NestModel<ConcreteOp, emit>,
                                         ConcreteOp> {
  LogicalResult emitNest(Operation *op, ElementEmitter &emitter) const {
    return emit(emitter, cast<ConcreteOp>(op));
  }
};
} // namespace

template <typename ConcreteOp, auto emit>
static void attach(MLIRContext *context) {
  ConcreteOp::template attachInterface<NestModel<ConcreteOp, emit>>(*context);
}

void attachNestCode(MLIRContext *context) {
  attach<CumulativeOp, emitCumulative>(context);
  attach<ArgMaxOp, emitArgMax>(context);
  attach<ArgMinOp, emitArgMin>(context);
  attach<TopKOp, emitTopK>(context);
  attach<SortOp, emitSort>(context);
  attach<FoldOp, emitFold>(context);
  attach<ScatterOp, emitScatter>(context);
  attach<ReduceWindowOp, emitReduceWindow>(context);
  attach<SelectAndScatterOp, emitSelectAndScatter>(context);
  attach<ConvolutionOp, emitConvolution>(context);
  attach<CholeskyOp, emitCholesky>(context);
  attach<TriangularSolveOp, emitTriangularSolve>(context);
  attach<FftOp, emitFft>(context);
}

} // namespace weft::elements
