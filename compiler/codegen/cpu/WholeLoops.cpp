//===- WholeLoops.cpp - which loops of whole ops are independent ----------===//

#include "weft/compiler/codegen/cpu/ConvolutionNest.h"
#include "weft/compiler/codegen/cpu/WholeNests.h"

#include "weft/dialects/weft/FoldOps.h"
#include "weft/dialects/weft/IndexingOps.h"
#include "weft/dialects/weft/ScanOps.h"
#include "weft/dialects/weft/WindowOps.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace weft::elements;

namespace weft::cpu {

static WholeLoops rowsExcept(Value input, int64_t dim,
                             int64_t workOfElement = 1) {
  WholeLoops loops;
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

static WholeLoops windowLoops(ReduceWindowOp op) {
  return rowsExcept(op.getResult(), -1, elementsSeen(op.getWindows()));
}

/// Windows overlap in the result, but not along dimensions without them.
static WholeLoops scatteredLoops(SelectAndScatterOp op) {
  WholeLoops all =
                 rowsExcept(op.getResult(), -1, elementsSeen(op.getWindows())),
             loops;
  loops.work = all.work;
  for (auto [dim, window] : llvm::enumerate(op.getWindows()))
    if (window.isTrivial())
      loops.independent.push_back(all.independent[dim]);
  return loops;
}

static WholeLoops convolutionLoops(ConvolutionOp op) {
  WholeLoops loops = rowsExcept(op.getResult(), op.getResultDims()[1]);
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

static WholeLoops updateLoops(ScatterOp op) {
  WholeLoops loops;
  loops.work = elementCount(op.getResult()) + elementCount(op.getUpdates());
  for (auto [dim, size] :
       llvm::enumerate(tensorType(op.getResult()).getShape()))
    if (updatesDimOf(op, dim) >= 0)
      loops.independent.push_back({dim, size});
  return loops;
}

static WholeLoops foldedLoops(FoldOp op) {
  WholeLoops loops = rowsExcept(op.getResult(0), -1);
  loops.work = elementCount(op.getInputs()[0]) *
               op.getBody().front().getOperations().size();
  return loops;
}

WholeLoops loopsOfWhole(Operation *op) {
  return llvm::TypeSwitch<Operation *, WholeLoops>(op)
      .Case([](CumulativeOp cumulative) {
        return rowsExcept(cumulative.getInput(), cumulative.getDim());
      })
      .Case<ArgMaxOp, ArgMinOp>([](auto extreme) {
        return rowsExcept(extreme.getInput(), extreme.getDim());
      })
      .Case([](TopKOp topK) {
        return rowsExcept(
            topK.getInput(), topK.getDim(),
            tensorType(topK.getValues()).getDimSize(topK.getDim()));
      })
      .Case([](SortOp sort) {
        Value input = sort.getInputs()[0];
        int64_t rounds =
            llvm::Log2_64_Ceil(tensorType(input).getDimSize(sort.getDim()) + 1);
        return rowsExcept(input, sort.getDim(), 4 * rounds);
      })
      .Case([](ReduceWindowOp reduce) { return windowLoops(reduce); })
      .Case([](SelectAndScatterOp scatter) { return scatteredLoops(scatter); })
      .Case([](ConvolutionOp convolution) {
        return convolutionLoops(convolution);
      })
      .Case([](ScatterOp scatter) { return updateLoops(scatter); })
      .Case([](FoldOp fold) { return foldedLoops(fold); })
      .Default([](Operation *) { return WholeLoops(); });
}

} // namespace weft::cpu
