//===- ContractConvolutions.cpp - convolutions that are contractions ------===//

#include "weft/dialects/weft/LayoutBorder.h"
#include "weft/passes/kernels/Passes.h"

#include "weft/dialects/nest/TargetLimits.h"
#include "weft/dialects/weft/Weft.h"
#include "weft/dialects/weft/ops/WindowOps.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_CONTRACTCONVOLUTIONS
#include "weft/passes/kernels/Passes.h.inc"

namespace {
/// What a spatial dimension becomes: a dimension of the product, or one that it
/// contracts, over elements start, start + step... of the input. The result has
/// zeros around and between the product's positions.
struct SpatialDimension {
  bool isContracted;
  int64_t start, limit, step;
  int64_t low = 0, high = 0, interior = 0;
};
} // namespace

/// How n elements under a window become a dimension of a product; nothing if
/// windows overlap, or reach over an edge.
static std::optional<SpatialDimension> dimensionOf(const Window &window,
                                                   int64_t n) {
  if (window.size == 1 && window.stride == 1)
    return SpatialDimension{
        false, 0, n, 1, window.low, window.high, window.baseDilation - 1};
  int64_t count = window.count(n);
  bool isContracted = count == 1;
  if ((!isContracted && window.size != 1) || count < 1 ||
      window.baseDilation != 1 || window.low > 0)
    return std::nullopt;
  int64_t step = isContracted ? window.dilation : window.stride,
          terms = isContracted ? window.size : count, start = -window.low,
          limit = start + (terms - 1) * step + 1;
  if (limit > n)
    return std::nullopt;
  return SpatialDimension{isContracted, start, limit, step};
}

/// The result's dimension of each dimension of the product: of the batch and
/// the spatial ones in the input's order, then of the features.
static SmallVector<int64_t> resultDimsOf(ConvolutionOp op,
                                         ArrayRef<SpatialDimension> dims) {
  ArrayRef<int64_t> lhsDims = op.getLhsDims(), resultDims = op.getResultDims();
  SmallVector<std::pair<int64_t, int64_t>> kept{{lhsDims[0], resultDims[0]}};
  for (auto [i, its] : llvm::enumerate(dims))
    if (!its.isContracted)
      kept.emplace_back(lhsDims[i + 2], resultDims[i + 2]);
  llvm::sort(kept);
  SmallVector<int64_t> order =
      llvm::map_to_vector(kept, [](const auto &pair) { return pair.second; });
  order.push_back(resultDims[1]);
  return order;
}

/// Each spatial dimension of a convolution that is a contraction; nothing for
/// another one, and where the result has another order of dimensions.
static std::optional<SmallVector<SpatialDimension>>
spatialDimensions(ConvolutionOp op) {
  if (op.getFeatureGroups() != 1 || op.getBatchGroups() != 1 ||
      !isa<FloatType>(getElementTypeOrSelf(op.getLhs().getType())) ||
      op.getType().getNumElements() == 0 ||
      op.getRhs().getType().getNumElements() == 0)
    return std::nullopt;
  SmallVector<SpatialDimension> dims;
  for (auto [window, dim] :
       llvm::zip_equal(op.getWindows(), op.getLhsDims().drop_front(2))) {
    auto found = dimensionOf(window, op.getLhs().getType().getDimSize(dim));
    if (!found)
      return std::nullopt;
    dims.push_back(*found);
  }
  if (!llvm::is_sorted(resultDimsOf(op, dims)))
    return std::nullopt;
  return dims;
}

/// The elements of the input that the product reads.
static Value readElements(OpBuilder &builder, ConvolutionOp op,
                          ArrayRef<SpatialDimension> dims) {
  ArrayRef<int64_t> shape = op.getLhs().getType().getShape();
  SmallVector<int64_t> start(shape.size(), 0), limit(shape),
      step(shape.size(), 1);
  for (auto [its, dim] : llvm::zip_equal(dims, op.getLhsDims().drop_front(2))) {
    start[dim] = its.start;
    limit[dim] = its.limit;
    step[dim] = its.step;
  }
  bool isWhole = ArrayRef<int64_t>(limit) == shape &&
                 llvm::all_of(step, [](int64_t by) { return by == 1; });
  return isWhole ? Value(op.getLhs())
                 : SliceOp::create(builder, op.getLoc(), op.getLhs(), start,
                                   limit, step);
}

/// The kernel without the dimensions of windows of one element; `position` gets
/// the number in it of each dimension that is left.
static Value kernelOf(OpBuilder &builder, ConvolutionOp op,
                      ArrayRef<SpatialDimension> dims,
                      SmallVectorImpl<int64_t> &position) {
  auto type = cast<RankedTensorType>(op.getRhs().getType());
  SmallVector<bool> isLeft(type.getRank(), true);
  for (auto [its, dim] : llvm::zip_equal(dims, op.getRhsDims().drop_front(2)))
    isLeft[dim] = its.isContracted;
  SmallVector<int64_t> shape;
  position.assign(type.getRank(), -1);
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (isLeft[dim]) {
      position[dim] = shape.size();
      shape.push_back(type.getDimSize(dim));
    }
  return shape.size() == size_t(type.getRank())
             ? Value(op.getRhs())
             : ReshapeOp::create(builder, op.getLoc(), op.getRhs(), shape);
}

/// The product in the shape of the convolution's result: with contracted
/// dimensions of size 1, and zeros around and between its positions.
static Value inShapeOfResult(OpBuilder &builder, ConvolutionOp op,
                             Value product, ArrayRef<SpatialDimension> dims) {
  ArrayRef<int64_t> resultDims = op.getResultDims();
  SmallVector<int64_t> order = resultDimsOf(op, dims),
                       shape(resultDims.size(), 1);
  for (auto [from, to] : llvm::enumerate(order))
    shape[to] = cast<RankedTensorType>(product.getType()).getDimSize(from);
  if (order.size() < shape.size())
    product = ReshapeOp::create(builder, op.getLoc(), product, shape);
  if (product.getType() == op.getType())
    return product;
  SmallVector<int64_t> low(shape.size(), 0), high(low), interior(low);
  for (auto [its, to] : llvm::zip_equal(dims, resultDims.drop_front(2))) {
    low[to] = its.low;
    high[to] = its.high;
    interior[to] = its.interior;
  }
  return PadOp::create(builder, op.getLoc(), product, low, high, interior);
}

static void contract(ConvolutionOp op, ArrayRef<SpatialDimension> dims) {
  OpBuilder builder(op);
  Value lhs = readElements(builder, op, dims);
  SmallVector<int64_t> position;
  Value rhs = kernelOf(builder, op, dims, position);
  SmallVector<int64_t> lhsContract{op.getLhsDims()[1]},
      rhsContract{position[op.getRhsDims()[1]]};
  for (auto [i, its] : llvm::enumerate(dims))
    if (its.isContracted) {
      lhsContract.push_back(op.getLhsDims()[i + 2]);
      rhsContract.push_back(position[op.getRhsDims()[i + 2]]);
    }
  Value product = DotOp::create(
      builder, op.getLoc(), lhs, rhs, lhsContract, rhsContract, {}, {},
      getElementTypeOrSelf(op.getType()), op.getPrecision());
  op.replaceAllUsesWith(inShapeOfResult(builder, op, product, dims));
  op.erase();
}

namespace {
struct ContractConvolutionsPass
    : impl::ContractConvolutionsBase<ContractConvolutionsPass> {
  using ContractConvolutionsBase::ContractConvolutionsBase;
  void runOnOperation() override {
    if (failed(verifyPartitioned(*this, getOperation())))
      return signalPassFailure();
    auto limits = nest::targetLimits(target);
    if (!limits || !limits->hasLibraries)
      return;
    SmallVector<ConvolutionOp> found;
    getOperation().walk([&](ConvolutionOp op) { found.push_back(op); });
    for (ConvolutionOp op : found)
      if (auto dims = spatialDimensions(op)) {
        contract(op, *dims);
        ++convolutions;
      }
  }
};
} // namespace
} // namespace weft
