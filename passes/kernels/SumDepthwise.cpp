//===- SumDepthwise.cpp - gradients of depthwise kernels ------------------===//

#include "weft/dialects/weft/LayoutBorder.h"
#include "weft/passes/kernels/Passes.h"

#include "weft/dialects/nest/TargetLimits.h"
#include "weft/dialects/weft/Weft.h"
#include "weft/dialects/weft/ops/WindowOps.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_SUMDEPTHWISE
#include "weft/passes/kernels/Passes.h.inc"

/// The most positions of the result's windows: each is a reduction that reads
/// both operands.
static constexpr int64_t kMostSums = 128;

/// The sizes of the result's spatial dimensions if the convolution is the
/// gradient of a depthwise kernel: each channel is a group of its own.
static std::optional<SmallVector<int64_t>> sumsOf(ConvolutionOp op) {
  RankedTensorType lhs = op.getLhs().getType();
  int64_t channels = op.getBatchGroups();
  if (channels < 2 || lhs.getDimSize(op.getLhsDims()[0]) != channels ||
      op.getType().getDimSize(op.getResultDims()[1]) != channels ||
      !isa<FloatType>(lhs.getElementType()) ||
      llvm::any_of(
          op.getWindows(),
          [](const Window &window) { return window.baseDilation != 1; }))
    return std::nullopt;
  SmallVector<int64_t> sizes;
  int64_t count = 1;
  for (int64_t dim : op.getResultDims().drop_front(2)) {
    sizes.push_back(op.getType().getDimSize(dim));
    count *= sizes.back();
  }
  bool isEmpty =
      lhs.getNumElements() == 0 || op.getRhs().getType().getNumElements() == 0;
  return count < 1 || count > kMostSums || isEmpty ? std::nullopt
                                                   : std::optional(sizes);
}

/// The dimensions of a value in the order of those of lhs.
static Value inOrderOfInput(OpBuilder &builder, ConvolutionOp op) {
  SmallVector<int64_t> permutation(op.getLhsDims().size());
  for (auto [lhs, rhs] : llvm::zip_equal(op.getLhsDims(), op.getRhsDims()))
    permutation[lhs] = rhs;
  if (llvm::is_sorted(permutation))
    return op.getRhs();
  return TransposeOp::create(builder, op.getLoc(), op.getRhs(), permutation);
}

namespace {
/// The operands, in the element type of the result, and the elements around the
/// input that windows reach.
struct Operands {
  Value input, gradient;
};
} // namespace

static Value widened(OpBuilder &builder, Value value, Type element) {
  return getElementTypeOrSelf(value.getType()) == element
             ? value
             : ConvertOp::create(builder, value.getLoc(), value, element);
}

/// The input with zeros as far as windows reach; elements that they do not
/// reach are left out.
static Value paddedInput(OpBuilder &builder, ConvolutionOp op) {
  SmallVector<int64_t> low(op.getLhsDims().size(), 0), high(low), none(low);
  for (auto [window, dim] :
       llvm::zip_equal(op.getWindows(), op.getLhsDims().drop_front(2))) {
    low[dim] = window.low;
    high[dim] = window.high;
  }
  auto isZero = [](int64_t amount) { return amount == 0; };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero))
    return op.getLhs();
  return PadOp::create(builder, op.getLoc(), op.getLhs(), low, high, none);
}

/// The sum of each channel for the window at these positions.
static Value sumAt(OpBuilder &builder, ConvolutionOp op,
                   const Operands &operands, ArrayRef<int64_t> at) {
  SmallVector<int64_t> limit(
      cast<RankedTensorType>(operands.gradient.getType()).getShape());
  SmallVector<int64_t> start(limit.size(), 0), step(limit.size(), 1);
  for (auto [window, dim, position] :
       llvm::zip_equal(op.getWindows(), op.getLhsDims().drop_front(2), at)) {
    start[dim] = position * window.stride;
    step[dim] = window.dilation;
    limit[dim] = start[dim] + (window.size - 1) * window.dilation + 1;
  }
  Type element = getElementTypeOrSelf(op.getType());
  Value under = widened(
      builder,
      SliceOp::create(builder, op.getLoc(), operands.input, start, limit, step),
      element);
  Value products =
      MulOp::create(builder, op.getLoc(), under, operands.gradient);
  SmallVector<int64_t> summed;
  for (int64_t dim = 0, rank = limit.size(); dim < rank; ++dim)
    if (dim != op.getLhsDims()[0])
      summed.push_back(dim);
  Value sums = ReduceOp::create(builder, op.getLoc(), ReduceKind::Sum, products,
                                summed, element);
  return ReshapeOp::create(builder, op.getLoc(), sums,
                           ArrayRef<int64_t>{1, int64_t(op.getBatchGroups())});
}

/// The sums, one row for each position of windows, in the shape of the result.
static Value inShapeOfResult(OpBuilder &builder, ConvolutionOp op, Value rows,
                             ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> shape(sizes);
  shape.push_back(op.getBatchGroups());
  Value value = ReshapeOp::create(builder, op.getLoc(), rows, shape);
  // The result's order of the spatial dimensions and the channels.
  SmallVector<std::pair<int64_t, int64_t>> order;
  for (auto [i, dim] : llvm::enumerate(op.getResultDims().drop_front(2)))
    order.emplace_back(dim, i);
  order.emplace_back(op.getResultDims()[1], sizes.size());
  llvm::sort(order);
  SmallVector<int64_t> permutation =
      llvm::map_to_vector(order, [](const auto &pair) { return pair.second; });
  if (!llvm::is_sorted(permutation))
    value = TransposeOp::create(builder, op.getLoc(), value, permutation);
  return ReshapeOp::create(builder, op.getLoc(), value,
                           op.getType().getShape());
}

static void sumWindows(ConvolutionOp op, ArrayRef<int64_t> sizes) {
  OpBuilder builder(op);
  Operands operands{paddedInput(builder, op),
                    widened(builder, inOrderOfInput(builder, op),
                            getElementTypeOrSelf(op.getType()))};
  SmallVector<Value> rows;
  SmallVector<int64_t> at(sizes.size(), 0);
  for (bool isLast = false; !isLast;) {
    rows.push_back(sumAt(builder, op, operands, at));
    isLast = true;
    for (size_t dim = sizes.size(); isLast && dim-- > 0;) {
      isLast = ++at[dim] == sizes[dim];
      if (isLast)
        at[dim] = 0;
    }
  }
  auto type = cast<RankedTensorType>(rows.front().getType());
  Value all = ConcatenateOp::create(
      builder, op.getLoc(),
      type.clone({int64_t(rows.size()), int64_t(op.getBatchGroups())}), rows,
      /*dim=*/0);
  op.replaceAllUsesWith(inShapeOfResult(builder, op, all, sizes));
  op.erase();
}

namespace {
struct SumDepthwisePass : impl::SumDepthwiseBase<SumDepthwisePass> {
  using SumDepthwiseBase::SumDepthwiseBase;
  void runOnOperation() override {
    if (failed(verifyPartitioned(*this, getOperation())))
      return signalPassFailure();
    auto limits = nest::targetLimits(target);
    if (!limits || limits->block.processors == 0)
      return;
    SmallVector<ConvolutionOp> found;
    getOperation().walk([&](ConvolutionOp op) { found.push_back(op); });
    for (ConvolutionOp op : found)
      if (auto sizes = sumsOf(op)) {
        sumWindows(op, *sizes);
        ++gradients;
      }
  }
};
} // namespace
} // namespace weft
