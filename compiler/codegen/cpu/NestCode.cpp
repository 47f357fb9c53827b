//===- NestCode.cpp - ops with a loop nest of their own -------------------===//

#include "weft/compiler/codegen/cpu/NestCode.h"

#include "weft/compiler/codegen/cpu/ConvolutionNest.h"
#include "weft/compiler/codegen/cpu/OwnNests.h"

using namespace mlir;
using namespace weft::elements;

namespace weft::cpu {

#include "weft/compiler/codegen/cpu/NestCode.cpp.inc"

static OwnLoops rowsExcept(Value input, int64_t dim,
                           int64_t workOfElement = 1) {
  OwnLoops loops;
  loops.work = elementCount(input) * workOfElement;
  for (auto [i, size] : llvm::enumerate(tensorType(input).getShape()))
    if (static_cast<int64_t>(i) != dim)
      loops.independent.push_back({i, size});
  return loops;
}

static int64_t elementsSeen(const WindowList &windows) {
  int64_t seen = 1;
  for (const Window &window : windows)
    seen *= window.size;
  return seen;
}

static OwnLoops windowLoops(ReduceWindowOp op) {
  return rowsExcept(op.getResult(), -1, elementsSeen(op.getWindows()));
}

/// Windows overlap in the result, but not along dimensions without them.
static OwnLoops scatteredLoops(SelectAndScatterOp op) {
  OwnLoops all = rowsExcept(op.getResult(), -1, elementsSeen(op.getWindows())),
           loops;
  loops.work = all.work;
  for (auto [dim, window] : llvm::enumerate(op.getWindows()))
    if (window.isTrivial())
      loops.independent.push_back(all.independent[dim]);
  return loops;
}

static OwnLoops convolutionLoops(ConvolutionOp op) {
  OwnLoops loops = rowsExcept(op.getResult(), op.getResultDims()[1]);
  // Multiply-adds in vectors.
  loops.work *= elementsSeen(op.getWindows()) *
                    tensorType(op.getRhs()).getDimSize(op.getRhsDims()[1]) /
                    16 +
                1;
  llvm::erase_if(loops.independent,
                 [&](auto &loop) { return loop.first == tiledDimension(op); });
  return loops;
}

int64_t updatesDimOf(ScatterOp op, int64_t dim) {
  ShardingRule rule = op.getShardingRule();
  const DimFactors &factors = rule.results[0][dim];
  if (factors.size() != 1 || rule.factors[factors[0]].kind != FactorKind::Pass)
    return -1;
  auto found = llvm::find(rule.operands[2], factors);
  int64_t of = found - rule.operands[2].begin();
  bool whole = found != rule.operands[2].end() &&
               tensorType(op.getUpdates()).getDimSize(of) ==
                   tensorType(op.getResult()).getDimSize(dim);
  return whole ? of : -1;
}

static OwnLoops updateLoops(ScatterOp op) {
  OwnLoops loops;
  loops.work = elementCount(op.getResult()) + elementCount(op.getUpdates());
  for (auto [dim, size] :
       llvm::enumerate(tensorType(op.getResult()).getShape()))
    if (updatesDimOf(op, dim) >= 0)
      loops.independent.push_back({dim, size});
  return loops;
}

static OwnLoops foldedLoops(FoldOp op) {
  OwnLoops loops = rowsExcept(op.getResult(0), -1);
  loops.work = elementCount(op.getInputs()[0]) *
               op.getBody().front().getOperations().size();
  return loops;
}

static OwnLoops sortLoops(SortOp op) {
  Value input = op.getInputs()[0];
  int64_t rounds =
      llvm::Log2_64_Ceil(tensorType(input).getDimSize(op.getDim()) + 1);
  return rowsExcept(input, op.getDim(), 4 * rounds);
}

static OwnLoops topKLoops(TopKOp op) {
  return rowsExcept(op.getInput(), op.getDim(),
                    tensorType(op.getValues()).getDimSize(op.getDim()));
}

/// Loops over all dimensions but the op's.
template <typename ConcreteOp> static OwnLoops rowLoops(ConcreteOp op) {
  return rowsExcept(op.getInput(), op.getDim());
}

template <typename ConcreteOp> static OwnLoops noLoops(ConcreteOp) {
  return {};
}

namespace {
template <typename ConcreteOp, auto emit, OwnLoops (*loops)(ConcreteOp)>
struct NestModel
    : NestCodeOpInterface::ExternalModel<NestModel<ConcreteOp, emit, loops>,
                                         ConcreteOp> {
  LogicalResult emitNest(Operation *op, KernelEmitter &kernel) const {
    if constexpr (std::is_invocable_v<decltype(emit), KernelEmitter &,
                                      ConcreteOp>)
      return emit(kernel, cast<ConcreteOp>(op));
    else
      return emit(kernel.elements, cast<ConcreteOp>(op));
  }
  OwnLoops getLoops(Operation *op) const { return loops(cast<ConcreteOp>(op)); }
};
} // namespace

template <typename ConcreteOp, auto emit,
          OwnLoops (*loops)(ConcreteOp) = noLoops<ConcreteOp>>
static void attach(MLIRContext *context) {
  ConcreteOp::template attachInterface<NestModel<ConcreteOp, emit, loops>>(
      *context);
}

void registerNestCode(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, WeftDialect *) {
    attach<CumulativeOp, emitCumulative, rowLoops<CumulativeOp>>(context);
    attach<ArgMaxOp, emitArgMax, rowLoops<ArgMaxOp>>(context);
    attach<ArgMinOp, emitArgMin, rowLoops<ArgMinOp>>(context);
    attach<TopKOp, emitTopK, topKLoops>(context);
    attach<SortOp, emitSort, sortLoops>(context);
    attach<FoldOp, emitFold, foldedLoops>(context);
    attach<ScatterOp, emitScatter, updateLoops>(context);
    attach<ReduceWindowOp, emitReduceWindow, windowLoops>(context);
    attach<SelectAndScatterOp, emitSelectAndScatter, scatteredLoops>(context);
    attach<ConvolutionOp, emitConvolution, convolutionLoops>(context);
    attach<CholeskyOp, emitCholesky>(context);
    attach<TriangularSolveOp, emitTriangularSolve>(context);
    attach<FftOp, emitFft>(context);
  });
}

} // namespace weft::cpu
