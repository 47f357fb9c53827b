//===- NestCode.cpp - ops with a loop nest of their own -------------------===//

#include "weft/compiler/codegen/cpu/NestCode.h"

#include "weft/compiler/codegen/cpu/OwnNests.h"

using namespace mlir;
using namespace weft::elements;

namespace weft::cpu {

#include "weft/compiler/codegen/cpu/NestCode.cpp.inc"

namespace {
template <typename ConcreteOp, auto emit>
struct NestModel
    : NestCodeOpInterface::ExternalModel<NestModel<ConcreteOp, emit>,
                                         ConcreteOp> {
  LogicalResult emitNest(Operation *op, KernelEmitter &kernel) const {
    if constexpr (std::is_invocable_v<decltype(emit), KernelEmitter &,
                                      ConcreteOp>)
      return emit(kernel, cast<ConcreteOp>(op));
    else
      return emit(kernel.elements, cast<ConcreteOp>(op));
  }
};
} // namespace

template <typename ConcreteOp, auto emit>
static void attach(MLIRContext *context) {
  ConcreteOp::template attachInterface<NestModel<ConcreteOp, emit>>(*context);
}

void registerNestCode(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, WeftDialect *) {
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
  });
}

} // namespace weft::cpu
