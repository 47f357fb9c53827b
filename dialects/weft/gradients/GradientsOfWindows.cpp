//===- GradientsOfWindows.cpp - derivatives of convolution and pooling ----===//
//
// Windows of gradients. If the input has n elements, a window size k and the
// result m, all dilated, the gradient of a sum over windows is a sum over
// windows of the same size over the results, with stride 1 apart from the
// dilations. Paddings are those of jax.lax.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/weft/gradients/GradientBuilder.h"
#include "weft/dialects/weft/ops/WindowOps.h"

using namespace mlir;

namespace weft {

namespace {

/// Windows of a derivative as lists of attributes.
struct WindowAttributes {
  SmallVector<int64_t> size, strides, low, high, baseDilation, dilation;

  void add(const Window &window) {
    size.push_back(window.size);
    strides.push_back(window.stride);
    low.push_back(window.low);
    high.push_back(window.high);
    baseDilation.push_back(window.baseDilation);
    dilation.push_back(window.dilation);
  }
};

/// The window from the m results back to the n input elements.
Window backToInput(const Window &w, int64_t n, int64_t m) {
  int64_t kernel = Window::dilated(w.size, w.dilation);
  int64_t low = kernel - w.low - 1;
  int64_t high = Window::dilated(n, w.baseDilation) + kernel - 1 -
                 Window::dilated(m, w.stride) - low;
  return {w.size, w.baseDilation, low, high, w.stride, w.dilation};
}

/// The window over the n input elements, with the m results as a kernel, that
/// gives the kernel's gradient.
Window backToKernel(const Window &w, int64_t n, int64_t m) {
  int64_t high = Window::dilated(m, w.stride) -
                 Window::dilated(n, w.baseDilation) +
                 Window::dilated(w.size, w.dilation) - w.low - 1;
  return {m, w.dilation, w.low, high, w.baseDilation, w.stride};
}

/// Roles with batch and feature exchanged.
SmallVector<int64_t> swapped(ArrayRef<int64_t> roles) {
  SmallVector<int64_t> result(roles);
  std::swap(result[0], result[1]);
  return result;
}

/// Splits the major `groups` off a dimension and makes them the major part of
/// another.
Value moveGroups(const GradientBuilder &g, Value value, int64_t from,
                 int64_t to, int64_t groups) {
  SmallVector<int64_t> shape(shapeOf(value)), order;
  SmallVector<int64_t> result(shape);
  result[from] /= groups;
  result[to] *= groups;
  shape[from] /= groups;
  shape.insert(shape.begin() + from, groups);
  for (int64_t dim = 0; dim < static_cast<int64_t>(result.size()); ++dim) {
    if (dim == to)
      order.push_back(from);
    order.push_back(dim < from ? dim : dim + 1);
  }
  Value split = ReshapeOp::create(g.builder, g.loc, value, shape);
  Value moved = TransposeOp::create(g.builder, g.loc, split, order);
  return ReshapeOp::create(g.builder, g.loc, moved, result);
}

/// A convolution computed in the element type of the result of `op`, as in
/// jax.lax, and rounded once to the element type of `like`.
Value convolve(const GradientBuilder &g, ConvolutionOp op, Value like,
               Value lhs, Value rhs, ArrayRef<int64_t> lhsDims,
               ArrayRef<int64_t> rhsDims, ArrayRef<int64_t> resultDims,
               const WindowAttributes &w, int64_t featureGroups,
               int64_t batchGroups) {
  // The result's shape is computed from the operands.
  RankedTensorType lhsType = cast<RankedTensorType>(lhs.getType());
  SmallVector<int64_t> shape(lhsType.getRank());
  shape[resultDims[0]] = lhsType.getDimSize(lhsDims[0]) / batchGroups;
  shape[resultDims[1]] = shapeOf(rhs)[rhsDims[0]];
  for (size_t i = 0; i < w.strides.size(); ++i) {
    Window window{shapeOf(rhs)[rhsDims[2 + i]],
                  w.strides[i],
                  w.low[i],
                  w.high[i],
                  w.baseDilation[i],
                  w.dilation[i]};
    shape[resultDims[2 + i]] = window.count(lhsType.getDimSize(lhsDims[2 + i]));
  }
  auto type =
      RankedTensorType::get(shape, getElementTypeOrSelf(op.getResult()));
  Value result = ConvolutionOp::create(
      g.builder, g.loc, type, lhs, rhs, lhsDims, rhsDims, resultDims, w.strides,
      w.low, w.high, w.baseDilation, w.dilation, featureGroups, batchGroups,
      op.getPrecision());
  return converted(g(result), getElementTypeOrSelf(like));
}

Value lhsGradient(const GradientBuilder &g, ConvolutionOp op, Value grad) {
  ArrayRef<int64_t> l = op.getLhsDims(), r = op.getRhsDims(),
                    out = op.getResultDims();
  int64_t featureGroups = op.getFeatureGroups();
  int64_t batchGroups = op.getBatchGroups();
  WindowAttributes windows;
  for (auto [i, w] : llvm::enumerate(op.getWindows()))
    windows.add(backToInput(w, shapeOf(op.getLhs())[l[2 + i]],
                            shapeOf(grad)[out[2 + i]]));
  SmallVector<int64_t> spatial(r.drop_front(2));
  llvm::sort(spatial);
  Value kernel = ReverseOp::create(g.builder, g.loc, op.getRhs(), spatial);
  int64_t groups = std::max(featureGroups, batchGroups);
  if (groups > 1)
    kernel = moveGroups(g, kernel, r[0], r[1], groups);
  Value result = convolve(g, op, op.getLhs(), grad, kernel, out, swapped(r), l,
                          windows, groups, 1);
  if (batchGroups > 1)
    result = moveGroups(g, result, l[1], l[0], batchGroups);
  return result;
}

Value rhsGradient(const GradientBuilder &g, ConvolutionOp op, Value grad) {
  ArrayRef<int64_t> l = op.getLhsDims(), r = op.getRhsDims(),
                    out = op.getResultDims();
  WindowAttributes windows;
  for (auto [i, w] : llvm::enumerate(op.getWindows()))
    windows.add(backToKernel(w, shapeOf(op.getLhs())[l[2 + i]],
                             shapeOf(grad)[out[2 + i]]));
  // Groups of features become groups of samples, and the other way round.
  return convolve(g, op, op.getRhs(), op.getLhs(), grad, swapped(l),
                  swapped(out), swapped(r), windows, op.getBatchGroups(),
                  op.getFeatureGroups());
}

} // namespace

LogicalResult ConvolutionOp::buildGradient(OpGradients &g) {
  Value grad = g.results[0];
  if (g.wanted[0])
    g.operands[0] = lhsGradient(g, *this, grad);
  if (g.wanted[1])
    g.operands[1] = rhsGradient(g, *this, grad);
  return success();
}

LogicalResult ReduceWindowOp::buildGradient(OpGradients &g) {
  Value grad = g.results[0];
  ArrayRef<int64_t> shape = shapeOf(getInput());
  if (getKind() == ReduceKind::Sum) {
    WindowAttributes w;
    for (auto [i, window] : llvm::enumerate(getWindows()))
      w.add(backToInput(window, shape[i], shapeOf(grad)[i]));
    Type sums = getElementTypeOrSelf(grad),
         type = getElementTypeOrSelf(getInput());
    Value sum = ReduceWindowOp::create(
        g.builder, getLoc(), getInput().getType().clone(sums), ReduceKind::Sum,
        grad, w.size, w.strides, w.low, w.high, w.baseDilation, w.dilation);
    g.operands[0] = formulas::converted({g.builder, getLoc(), sum}, type);
    return success();
  }
  bool isDilated = llvm::any_of(getWindows(), [](const Window &window) {
    return window.dilation != 1 || window.baseDilation != 1;
  });
  if (isDilated ||
      (getKind() != ReduceKind::Max && getKind() != ReduceKind::Min))
    return emitOpError("no derivative of windows of ")
           << stringifyReduceKind(getKind()) << (isDilated ? ", dilated" : "")
           << "; sum has one, and max and min where nothing is dilated";
  g.operands[0] = SelectAndScatterOp::create(
      g.builder, getLoc(), getInput().getType(),
      getKind() == ReduceKind::Max ? CompareKind::GE : CompareKind::LE,
      getInput(), grad, getWindow(), getStrides(), getLow(), getHigh());
  return success();
}

LogicalResult SelectAndScatterOp::buildGradient(OpGradients &g) {
  return emitOpError("has no derivative: the second derivative of a pooling");
}

} // namespace weft
