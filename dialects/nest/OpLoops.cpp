//===- OpLoops.cpp - facts about ops that the choice of nests needs -------===//

#include "weft/dialects/nest/OpLoops.h"

#include "weft/base/Saturating.h"
#include "weft/dialects/coll/Coll.h"
#include "weft/dialects/nest/ContractionInterface.h"
#include "weft/dialects/nest/ConvolutionProducts.h"
#include "weft/dialects/nest/FourierLoops.h"
#include "weft/dialects/nest/SortLoops.h"
#include "weft/dialects/nest/Views.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/TensorType.h"
#include "weft/dialects/weft/UpdatedOperand.h"
#include "weft/dialects/weft/ops/FoldOps.h"
#include "weft/dialects/weft/ops/IndexingOps.h"
#include "weft/dialects/weft/ops/LinearAlgebraOps.h"
#include "weft/dialects/weft/ops/ScanOps.h"
#include "weft/dialects/weft/ops/WindowOps.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace weft::nest {

#include "weft/dialects/nest/Contraction.cpp.inc"
#include "weft/dialects/nest/OpLoops.cpp.inc"

//===----------------------------------------------------------------------===//
// Flat positions
//===----------------------------------------------------------------------===//

static Flatness flatnessOf(Operation *op) {
  if (auto loops = dyn_cast<OpLoopsInterface>(op))
    return loops.getFlatness();
  return op->hasTrait<OpTrait::Elementwise>() ? Flatness::Through
                                              : Flatness::Never;
}

bool isFlat(ArrayRef<Value> roots, IsInMemory isInMemory) {
  llvm::SetVector<Value> values(roots.begin(), roots.end());
  for (unsigned i = 0; i < values.size(); ++i) {
    if (i >= roots.size() && isInMemory(values[i]))
      continue;
    Operation *op = values[i].getDefiningOp();
    Flatness flatness = op ? flatnessOf(op) : Flatness::Never;
    if (flatness == Flatness::Never)
      return false;
    if (flatness == Flatness::Through)
      values.insert_range(op->getOperands());
  }
  return true;
}

static Flatness reshapedFlatness(ReshapeOp op) {
  // A single number has no row-major position.
  return op.getInput().getType().getRank() == 0 ? Flatness::Never
                                                : Flatness::Through;
}

//===----------------------------------------------------------------------===//
// An op's own loops
//===----------------------------------------------------------------------===//

static OwnLoops rowsExcept(Value input, int64_t dim,
                           int64_t workOfElement = 1) {
  OwnLoops loops;
  loops.work =
      saturatingMultiply(typeOf(input).getNumElements(), workOfElement);
  for (auto [i, size] : llvm::enumerate(typeOf(input).getShape()))
    if (static_cast<int64_t>(i) != dim)
      loops.independent.push_back({i, size});
  return loops;
}

static int64_t elementsSeen(const WindowList &windows) {
  int64_t seen = 1;
  for (const Window &window : windows)
    seen = saturatingMultiply(seen, window.size);
  return seen;
}

static OwnLoops windowLoops(ReduceWindowOp op) {
  return rowsExcept(op.getResult(), -1, elementsSeen(op.getWindows()));
}

/// The loops of a select-and-scatter. Windows overlap in the result only along
/// dimensions with windows.
static OwnLoops scatteredLoops(SelectAndScatterOp op) {
  OwnLoops all = rowsExcept(op.getResult(), -1, elementsSeen(op.getWindows())),
           loops;
  loops.work = all.work;
  for (auto [dim, window] : llvm::enumerate(op.getWindows()))
    if (window.isTrivial())
      loops.independent.push_back(all.independent[dim]);
  return loops;
}

int64_t tiledDimension(ConvolutionOp op) {
  ArrayRef<int64_t> out = op.getResultDims();
  RankedTensorType type = op.getResult().getType();
  return out.size() == 2 ||
                 (type.getDimSize(out.back()) < 4 &&
                  type.getDimSize(out[0]) > type.getDimSize(out.back()))
             ? out[0]
             : out.back();
}

/// The loops of a convolution: all dimensions except features and the tiled
/// one.
static OwnLoops convolutionLoops(ConvolutionOp op) {
  OwnLoops loops = rowsExcept(op.getResult(), op.getResultDims()[1]);
  // The work in multiply-adds, of which 16 count as one: they are done in
  // vectors.
  int64_t products =
      saturatingMultiply(elementsSeen(op.getWindows()),
                         op.getRhs().getType().getDimSize(op.getRhsDims()[1]));
  loops.work = saturatingMultiply(loops.work, products / 16 + 1);
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
               typeOf(op.getUpdates()).getDimSize(of) ==
                   typeOf(op.getResult()).getDimSize(dim);
  return whole ? of : -1;
}

static OwnLoops updateLoops(ScatterOp op) {
  OwnLoops loops;
  loops.work = typeOf(op.getUpdates()).getNumElements();
  if (!updatesInPlace(op)) // The input is copied first.
    loops.work =
        saturatingAdd(loops.work, typeOf(op.getResult()).getNumElements());
  for (auto [dim, size] : llvm::enumerate(typeOf(op.getResult()).getShape()))
    if (updatesDimOf(op, dim) >= 0)
      loops.independent.push_back({dim, size});
  return loops;
}

/// The loops over the update of an op that replaces a slice in place.
static OwnLoops replacedLoops(DynamicUpdateSliceOp op) {
  OwnLoops loops;
  RankedTensorType update = typeOf(op.getUpdate());
  loops.work = update.getNumElements();
  for (auto [dim, size] : llvm::enumerate(update.getShape()))
    loops.independent.push_back({dim, size});
  return loops;
}

static OwnLoops foldedLoops(FoldOp op) {
  OwnLoops loops = rowsExcept(op.getResult(0), -1);
  loops.work = saturatingMultiply(
      typeOf(op.getInputs()[0]).getNumElements(),
      static_cast<int64_t>(op.getBody().front().getOperations().size()));
  return loops;
}

static OwnLoops topKLoops(TopKOp op) {
  return rowsExcept(op.getInput(), op.getDim(),
                    typeOf(op.getValues()).getDimSize(op.getDim()));
}

/// The loops of an op that works along one dimension are the other dimensions.
template <typename ConcreteOp> static OwnLoops rowLoops(ConcreteOp op) {
  return rowsExcept(op.getInput(), op.getDim());
}

/// The loops of a Cholesky factor: the batch. A triangle of each matrix is
/// computed, with up to n products an element.
static OwnLoops choleskyLoops(CholeskyOp op) {
  RankedTensorType type = typeOf(op.getResult());
  OwnLoops loops;
  loops.work =
      saturatingMultiply(type.getNumElements(), type.getShape().back()) / 2;
  for (int64_t dim = 0; dim < type.getRank() - 2; ++dim)
    loops.independent.push_back({dim, type.getDimSize(dim)});
  return loops;
}

/// The loops of a triangular solve: the batch, and each matrix's columns; with
/// `right` its rows.
static OwnLoops solveLoops(TriangularSolveOp op) {
  RankedTensorType type = typeOf(op.getResult());
  int64_t solved = type.getRank() - (op.getRight() ? 1 : 2);
  return rowsExcept(op.getResult(), solved, type.getDimSize(solved) / 2 + 1);
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> windowSizes(const WindowList &windows) {
  return llvm::map_to_vector(windows,
                             [](const Window &window) { return window.size; });
}

static SmallVector<int64_t> windowTerms(ReduceWindowOp op) {
  return windowSizes(op.getWindows());
}

/// The number of windows along each dimension that may share an element.
static SmallVector<int64_t> scatteredTerms(SelectAndScatterOp op) {
  return llvm::map_to_vector(op.getWindows(), [](const Window &window) {
    return int64_t(llvm::divideCeil(window.size, window.stride));
  });
}

static SmallVector<int64_t> fourierTerms(FftOp op) { return {op.getLength()}; }

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

template <typename ConcreteOp> static Flatness neverFlat(ConcreteOp) {
  return Flatness::Never;
}
template <typename ConcreteOp>
static std::optional<Strides> noView(ConcreteOp, const Strides &) {
  return std::nullopt;
}
template <typename ConcreteOp> static OwnLoops noLoops(ConcreteOp) {
  return {};
}
template <typename ConcreteOp>
using TermsFunction = SmallVector<int64_t> (*)(ConcreteOp);

namespace {
template <typename ConcreteOp, Flatness (*flatness)(ConcreteOp),
          std::optional<Strides> (*view)(ConcreteOp, const Strides &),
          OwnLoops (*loops)(ConcreteOp), TermsFunction<ConcreteOp> terms>
struct LoopsModel
    : OpLoopsInterface::ExternalModel<
          LoopsModel<ConcreteOp, flatness, view, loops, terms>, ConcreteOp> {
  Flatness getFlatness(Operation *op) const {
    return flatness(cast<ConcreteOp>(op));
  }
  std::optional<Strides> getView(Operation *op, const Strides &operand) const {
    return view(cast<ConcreteOp>(op), operand);
  }
  OwnLoops getOwnLoops(Operation *op) const {
    return loops(cast<ConcreteOp>(op));
  }
  std::optional<SmallVector<int64_t>> getTermSizes(Operation *op) const {
    if constexpr (terms != nullptr)
      return terms(cast<ConcreteOp>(op));
    return std::nullopt;
  }
};
} // namespace

namespace {
struct ReductionLoops
    : OpLoopsInterface::ExternalModel<ReductionLoops, ReduceOp> {
  std::optional<SmallVector<int64_t>> getTermSizes(Operation *op) const {
    auto reduce = cast<ReduceOp>(op);
    return llvm::map_to_vector(reduce.getDims(), [&](int64_t dim) {
      return typeOf(reduce.getInput()).getDimSize(dim);
    });
  }
  Attribute chooseWalk(Operation *op, const TargetLimits &limits,
                       IsInMemory isInMemory) const {
    return chooseReduction(cast<ReduceOp>(op), limits, isInMemory);
  }
};
struct ContractionLoops
    : OpLoopsInterface::ExternalModel<ContractionLoops, DotOp> {
  std::optional<SmallVector<int64_t>> getTermSizes(Operation *op) const {
    auto dot = cast<DotOp>(op);
    return llvm::map_to_vector(dot.getLhsContract(), [&](int64_t dim) {
      return typeOf(dot.getLhs()).getDimSize(dim);
    });
  }
  std::optional<ProductDims> getProductDims(Operation *op) const {
    auto dot = cast<DotOp>(op);
    int64_t batch = dot.getLhsBatch().size(),
            rows = typeOf(dot.getLhs()).getRank() - dot.getLhsContract().size(),
            rank = typeOf(dot.getResult()).getRank();
    auto factor = [](Value operand, ArrayRef<int64_t> batch,
                     ArrayRef<int64_t> terms) {
      ProductDims::Factor dims{
          llvm::to_vector(batch), {}, llvm::to_vector(terms), {}};
      for (int64_t dim : llvm::seq<int64_t>(0, typeOf(operand).getRank()))
        if (!llvm::is_contained(batch, dim) && !llvm::is_contained(terms, dim))
          dims.rows.push_back(dim);
      return dims;
    };
    return ProductDims{
        llvm::to_vector(llvm::seq<int64_t>(0, batch)),
        llvm::to_vector(llvm::seq<int64_t>(batch, rows)),
        llvm::to_vector(llvm::seq<int64_t>(rows, rank)),
        factor(dot.getLhs(), dot.getLhsBatch(), dot.getLhsContract()),
        factor(dot.getRhs(), dot.getRhsBatch(), dot.getRhsContract())};
  }
  Precision getProductPrecision(Operation *op) const {
    return cast<DotOp>(op).getPrecision();
  }
  Attribute chooseWalk(Operation *op, const TargetLimits &limits,
                       IsInMemory isInMemory) const {
    return chooseContraction(cast<DotOp>(op), limits, isInMemory);
  }
  std::optional<SmallVector<int64_t>>
  getStoredOrder(Operation *op, unsigned operand, const TargetLimits &limits,
                 IsInMemory isInMemory) const {
    return storedOrderOf(cast<DotOp>(op), operand, limits, isInMemory);
  }
  std::optional<SharedRows> getSharedRows(Operation *op, Attribute walk,
                                          IsInMemory isInMemory,
                                          const TargetLimits &limits) const {
    return sharedRowsOf(cast<DotOp>(op), walk, isInMemory, limits);
  }
};
struct DotContraction
    : ContractionInterface::ExternalModel<DotContraction, DotOp> {
  std::optional<ContractionShape> getContraction(Operation *op,
                                                 IsInMemory isInMemory) const {
    return contractionShape(cast<DotOp>(op), isInMemory);
  }
};
struct ConvolutionLoops
    : OpLoopsInterface::ExternalModel<ConvolutionLoops, ConvolutionOp> {
  std::optional<SmallVector<int64_t>> getTermSizes(Operation *op) const {
    return convolutionTerms(cast<ConvolutionOp>(op));
  }
  std::optional<ProductDims> getProductDims(Operation *op) const {
    return convolutionProducts(cast<ConvolutionOp>(op));
  }
  Precision getProductPrecision(Operation *op) const {
    return cast<ConvolutionOp>(op).getPrecision();
  }
  Attribute chooseWalk(Operation *op, const TargetLimits &limits,
                       IsInMemory isInMemory) const {
    return chooseConvolution(cast<ConvolutionOp>(op), limits, isInMemory);
  }
  std::optional<SmallVector<int64_t>>
  getStoredOrder(Operation *op, unsigned operand, const TargetLimits &limits,
                 IsInMemory isInMemory) const {
    return storedOrderOf(cast<ConvolutionOp>(op), operand, limits, isInMemory);
  }
  OwnLoops getOwnLoops(Operation *op) const {
    return convolutionLoops(cast<ConvolutionOp>(op));
  }
};
} // namespace

template <typename ConcreteOp, OwnLoops (*loops)(ConcreteOp),
          TermsFunction<ConcreteOp> terms = nullptr>
static void attachOwn(MLIRContext *context) {
  ConcreteOp::template attachInterface<LoopsModel<
      ConcreteOp, neverFlat<ConcreteOp>, noView<ConcreteOp>, loops, terms>>(
      *context);
}

template <typename ConcreteOp, Flatness (*flatness)(ConcreteOp),
          std::optional<Strides> (*view)(ConcreteOp,
                                         const Strides &) = noView<ConcreteOp>>
static void attachElements(MLIRContext *context) {
  ConcreteOp::template attachInterface<
      LoopsModel<ConcreteOp, flatness, view, noLoops<ConcreteOp>, nullptr>>(
      *context);
}

void attachOpLoops(MLIRContext *context) {
  attachElements<ConstantOp, [](ConstantOp) { return Flatness::Alone; }>(
      context);
  attachElements<RngBitsOp, [](RngBitsOp op) {
    return op.getGlobalShape() ? Flatness::Never : Flatness::Alone;
  }>(context);
  attachElements<BroadcastOp, [](BroadcastOp op) {
    return op.getDims().empty() ? Flatness::Alone : Flatness::Never;
  }>(context);
  attachElements<ReshapeOp, reshapedFlatness, viewOfReshape>(context);
  attachElements<TransposeOp, neverFlat<TransposeOp>, viewOfTranspose>(context);
  attachElements<ReverseOp, neverFlat<ReverseOp>, viewOfReverse>(context);
  attachElements<SliceOp, neverFlat<SliceOp>, viewOfSlice>(context);
  attachElements<coll::MakePartialOp, [](coll::MakePartialOp) {
    return Flatness::Through;
  }>(context);

  attachOwn<CumulativeOp, rowLoops<CumulativeOp>>(context);
  attachOwn<ArgMaxOp, rowLoops<ArgMaxOp>>(context);
  attachOwn<ArgMinOp, rowLoops<ArgMinOp>>(context);
  attachOwn<TopKOp, topKLoops>(context);
  attachOwn<SortOp, sortLoops>(context);
  attachOwn<FoldOp, foldedLoops>(context);
  attachOwn<ScatterOp, updateLoops>(context);
  attachOwn<DynamicUpdateSliceOp, replacedLoops>(context);
  attachOwn<ReduceWindowOp, windowLoops, windowTerms>(context);
  attachOwn<SelectAndScatterOp, scatteredLoops, scatteredTerms>(context);
  ReduceOp::attachInterface<ReductionLoops>(*context);
  DotOp::attachInterface<ContractionLoops, DotContraction>(*context);
  ConvolutionOp::attachInterface<ConvolutionLoops>(*context);
  attachOwn<CholeskyOp, choleskyLoops>(context);
  attachOwn<TriangularSolveOp, solveLoops>(context);
  attachOwn<FftOp, fourierLoops, fourierTerms>(context);
}

} // namespace weft::nest
