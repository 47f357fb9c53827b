//===- NestCode.cpp - ops with separate loop nests ------------------------===//

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
static void attachNest(MLIRContext *context) {
  ConcreteOp::template attachInterface<NestModel<ConcreteOp, emit>>(*context);
}

void attachNestCode(MLIRContext *context) {
  attachNest<CumulativeOp, emitCumulative>(context);
  attachNest<ArgMaxOp, emitArgMax>(context);
  attachNest<ArgMinOp, emitArgMin>(context);
  attachNest<TopKOp, emitTopK>(context);
  attachNest<SortOp, emitSort>(context);
  attachNest<FoldOp, emitFold>(context);
  attachNest<ScatterOp, emitScatter>(context);
  attachNest<DynamicUpdateSliceOp, emitDynamicUpdate>(context);
  attachNest<ReduceWindowOp, emitReduceWindow>(context);
  attachNest<SelectAndScatterOp, emitSelectAndScatter>(context);
  attachNest<ConvolutionOp, emitConvolution>(context);
  attachNest<CholeskyOp, emitCholesky>(context);
  attachNest<TriangularSolveOp, emitTriangularSolve>(context);
  attachNest<FftOp, emitFft>(context);
}

} // namespace weft::elements
