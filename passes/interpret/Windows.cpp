//===- Windows.cpp - the meaning of convolution and pooling ---------------===//

#include "weft/dialects/weft/ops/WindowOps.h"
#include "weft/passes/interpret/Meanings.h"

using namespace mlir;

namespace weft {

namespace {

SmallVector<int64_t> sizesOf(const WindowList &windows) {
  SmallVector<int64_t> sizes;
  for (const Window &window : windows)
    sizes.push_back(window.size);
  return sizes;
}

int64_t productOf(ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes)
    product *= size;
  return product;
}

/// Row-major position of element k of the window at `place`; -1 for padding.
int64_t seen(const WindowList &windows, ArrayRef<int64_t> shape,
             ArrayRef<int64_t> place, ArrayRef<int64_t> k) {
  int64_t offset = 0;
  for (auto [dim, window] : llvm::enumerate(windows)) {
    int64_t at = window.at(place[dim], k[dim], shape[dim]);
    if (at < 0)
      return -1;
    offset = offset * shape[dim] + at;
  }
  return offset;
}

Tensor reduceWindow(ReduceWindowOp op, const Tensor &x) {
  WindowList windows = op.getWindows();
  SmallVector<int64_t> sizes = sizesOf(windows);
  Tensor result = neutralTensor(
      op.getKind(), cast<RankedTensorType>(op.getResult().getType()));
  bool sum =
      isDifferentiable(x.getElementType()) && op.getKind() == ReduceKind::Sum;
  for (int64_t i = 0; i < result.size(); ++i) {
    std::complex<double> total = 0;
    for (int64_t k = 0; k < productOf(sizes); ++k) {
      int64_t from = seen(windows, x.getShape(), indexOf(i, result.getShape()),
                          indexOf(k, sizes));
      if (from < 0)
        continue;
      if (sum)
        total += x.number(from);
      else
        combineInto(op.getKind(), result, i, x, from);
    }
    if (sum)
      result.setNumber(i, total);
  }
  return result;
}

bool stays(CompareKind select, const Tensor &x, int64_t best, int64_t other) {
  bool larger = select == CompareKind::GE;
  if (x.isFloat())
    return larger ? x.real(best) >= x.real(other)
                  : x.real(best) <= x.real(other);
  if (x.isUnsigned()) {
    auto a = static_cast<uint64_t>(x.integer(best));
    auto b = static_cast<uint64_t>(x.integer(other));
    return larger ? a >= b : a <= b;
  }
  return larger ? x.integer(best) >= x.integer(other)
                : x.integer(best) <= x.integer(other);
}

Tensor selectAndScatter(SelectAndScatterOp op, const Tensor &x,
                        const Tensor &source) {
  WindowList windows = op.getWindows();
  SmallVector<int64_t> sizes = sizesOf(windows);
  Tensor result(x.getType());
  for (int64_t i = 0; i < source.size(); ++i) {
    int64_t best = -1;
    for (int64_t k = 0; k < productOf(sizes); ++k) {
      int64_t from = seen(windows, x.getShape(), indexOf(i, source.getShape()),
                          indexOf(k, sizes));
      if (from >= 0 && (best < 0 || !stays(op.getSelect(), x, best, from)))
        best = from;
    }
    if (best >= 0)
      combineInto(ReduceKind::Sum, result, best, source, i);
  }
  return result;
}

/// One convolution; `windows` and `sizes` are of the spatial dimensions.
struct Convolution {
  mutable ConvolutionOp op; // Getters of ops are not const.
  const Tensor &x, &kernel;
  WindowList windows;
  SmallVector<int64_t> sizes;
  SmallVector<int64_t, 4> xStrides, kernelStrides;
  int64_t features, featuresOut, batch;

  Convolution(ConvolutionOp op, const Tensor &x, const Tensor &kernel)
      : op(op), x(x), kernel(kernel), windows(op.getWindows()),
        sizes(sizesOf(windows)), xStrides(stridesOf(x.getShape())),
        kernelStrides(stridesOf(kernel.getShape())) {
    features = kernel.getShape()[op.getRhsDims()[1]];
    featuresOut = kernel.getShape()[op.getRhsDims()[0]];
    batch = x.getShape()[op.getLhsDims()[0]] / op.getBatchGroups();
  }
  void add(ArrayRef<int64_t> place, std::complex<double> &reals,
           uint64_t &integers) const;
};

/// Adds all products for the result's element at `place`.
void Convolution::add(ArrayRef<int64_t> place, std::complex<double> &reals,
                      uint64_t &integers) const {
  ArrayRef<int64_t> l = op.getLhsDims(), r = op.getRhsDims(),
                    out = op.getResultDims();
  int64_t sample = place[out[0]], feature = place[out[1]];
  int64_t group = feature * op.getFeatureGroups() / featuresOut;
  sample += feature * op.getBatchGroups() / featuresOut * batch;
  for (int64_t k = 0; k < productOf(sizes); ++k) {
    int64_t from = sample * xStrides[l[0]];
    int64_t with = feature * kernelStrides[r[0]];
    bool inside = true;
    for (auto [i, at] : llvm::enumerate(indexOf(k, sizes))) {
      int64_t position =
          windows[i].at(place[out[2 + i]], at, x.getShape()[l[2 + i]]);
      inside &= position >= 0;
      from += position * xStrides[l[2 + i]];
      with += at * kernelStrides[r[2 + i]];
    }
    for (int64_t c = 0; inside && c < features; ++c) {
      int64_t p = from + (group * features + c) * xStrides[l[1]];
      int64_t q = with + c * kernelStrides[r[1]];
      if (x.isComplex())
        reals += product(x.number(p), kernel.number(q));
      else if (x.isFloat())
        reals += x.real(p) * kernel.real(q);
      else
        integers += static_cast<uint64_t>(x.integer(p)) *
                    static_cast<uint64_t>(kernel.integer(q));
    }
  }
}

Tensor convolve(ConvolutionOp op, const Tensor &x, const Tensor &kernel) {
  Convolution convolution(op, x, kernel);
  Tensor result(cast<RankedTensorType>(op.getResult().getType()));
  for (int64_t i = 0; i < result.size(); ++i) {
    std::complex<double> reals = 0;
    uint64_t integers = 0;
    convolution.add(indexOf(i, result.getShape()), reals, integers);
    if (isDifferentiable(result.getElementType()))
      result.setNumber(i, reals);
    else
      result.setInteger(i, static_cast<int64_t>(integers));
  }
  return result;
}

} // namespace

std::optional<Tensor> meaningOfWindow(Operation *op, Operands in) {
  if (auto reduce = dyn_cast<ReduceWindowOp>(op))
    return reduceWindow(reduce, *in[0]);
  if (auto scatter = dyn_cast<SelectAndScatterOp>(op))
    return selectAndScatter(scatter, *in[0], *in[1]);
  if (auto convolution = dyn_cast<ConvolutionOp>(op))
    return convolve(convolution, *in[0], *in[1]);
  return std::nullopt;
}

} // namespace weft
