//===- Windows.cpp - windows over the spatial dimensions of images --------===//

#include "weft/compiler/frontends/keras/tensors/Windows.h"
#include "weft/dialects/weft/ops/WindowOps.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

llvm::SmallVector<int64_t> weft::keras::spatialDims(Tensor x,
                                                    bool channelsFirst) {
  llvm::SmallVector<int64_t> dims;
  for (int64_t i = 0; i < Tensors::rank(x) - 2; ++i)
    dims.push_back(i + (channelsFirst ? 2 : 1));
  return dims;
}

std::vector<int64_t> weft::keras::spatialSizes(Tensor x, bool channelsFirst) {
  std::vector<int64_t> sizes;
  for (int64_t dim : spatialDims(x, channelsFirst))
    sizes.push_back(Tensors::size(x, dim));
  return sizes;
}

std::vector<int64_t> SpatialWindow::over(llvm::ArrayRef<int64_t> sizes) const {
  std::vector<int64_t> out;
  for (size_t i = 0; i < sizes.size(); ++i) {
    int64_t base = (sizes[i] - 1) * baseDilation[i] + 1 + low[i] + high[i];
    int64_t reach = (size[i] - 1) * dilation[i] + 1;
    out.push_back(base < reach ? 0 : (base - reach) / strides[i] + 1);
  }
  return out;
}

SpatialWindow weft::keras::paddedWindow(Tensor x, bool channelsFirst,
                                        const std::vector<int64_t> &size,
                                        const std::vector<int64_t> &strides,
                                        const std::vector<int64_t> &dilation,
                                        const std::string &padding) {
  std::vector<int64_t> sizes = spatialSizes(x, channelsFirst);
  std::vector<int64_t> none(size.size(), 0), ones(size.size(), 1);
  SpatialWindow out{size, strides, dilation, none, none, ones};
  for (size_t i = 0; i < sizes.size(); ++i) {
    int64_t reach = (size[i] - 1) * dilation[i] + 1;
    if (padding == "causal")
      out.low[i] = reach - 1;
    if (padding != "same")
      continue;
    int64_t results = (sizes[i] + strides[i] - 1) / strides[i];
    int64_t total =
        std::max<int64_t>((results - 1) * strides[i] + reach - sizes[i], 0);
    out.low[i] = total / 2;
    out.high[i] = total - total / 2;
  }
  return out;
}

/// The dimensions of the batch, the features, and the spatial positions.
static llvm::SmallVector<int64_t> imageDims(Tensor x, bool channelsFirst) {
  llvm::SmallVector<int64_t> dims = {0, channelsFirst ? 1 : Tensors::last(x)};
  dims.append(spatialDims(x, channelsFirst));
  return dims;
}

Tensor weft::keras::convolve(Tensors &t, Tensor x, Tensor kernel,
                             const SpatialWindow &window, int64_t groups,
                             bool channelsFirst, bool isTransposed) {
  llvm::SmallVector<int64_t> image = imageDims(x, channelsFirst);
  int64_t rank = t.rank(x) - 2, in = isTransposed ? rank + 1 : rank;
  llvm::SmallVector<int64_t> kernelDims = {isTransposed ? rank : rank + 1, in};
  llvm::SmallVector<int64_t> spatial;
  for (int64_t i = 0; i < rank; ++i)
    spatial.push_back(i);
  kernelDims.append(spatial);
  if (isTransposed)
    kernel = t.make<ReverseOp>(kernel, llvm::ArrayRef<int64_t>(spatial));
  llvm::SmallVector<int64_t> shape(t.shape(x));
  shape[image[1]] = t.size(kernel, kernelDims[0]);
  for (auto [dim, size] :
       llvm::zip_equal(spatialDims(x, channelsFirst),
                       window.over(spatialSizes(x, channelsFirst))))
    shape[dim] = size;
  auto type = RankedTensorType::get(shape, tensorType(x).getElementType());
  return t.make<ConvolutionOp>(type, x, kernel, llvm::ArrayRef<int64_t>(image),
                               llvm::ArrayRef<int64_t>(kernelDims),
                               llvm::ArrayRef<int64_t>(image), window.strides,
                               window.low, window.high, window.baseDilation,
                               window.dilation, uint64_t(groups));
}

/// One entry for each dimension, which is `other` for dimensions that are not
/// spatial.
static llvm::SmallVector<int64_t> everywhere(Tensor x, bool channelsFirst,
                                             llvm::ArrayRef<int64_t> entries,
                                             int64_t other) {
  llvm::SmallVector<int64_t> out(Tensors::rank(x), other);
  for (auto [dim, entry] :
       llvm::zip_equal(spatialDims(x, channelsFirst), entries))
    out[dim] = entry;
  return out;
}

Tensor weft::keras::pool(Tensors &t, ReduceKind kind, Tensor x,
                         const SpatialWindow &window, bool channelsFirst) {
  auto all = [&](llvm::ArrayRef<int64_t> entries, int64_t other) {
    return everywhere(x, channelsFirst, entries, other);
  };
  llvm::SmallVector<int64_t> shape(t.shape(x));
  for (auto [dim, size] :
       llvm::zip_equal(spatialDims(x, channelsFirst),
                       window.over(spatialSizes(x, channelsFirst))))
    shape[dim] = size;
  return t.make<ReduceWindowOp>(
      RankedTensorType::get(shape, tensorType(x).getElementType()), kind, x,
      all(window.size, 1), all(window.strides, 1), all(window.low, 0),
      all(window.high, 0), all(window.baseDilation, 1),
      all(window.dilation, 1));
}

Tensor weft::keras::countsOf(Tensors &t, Tensor x, Tensor pooled,
                             const SpatialWindow &window, bool channelsFirst) {
  std::vector<int64_t> sizes = spatialSizes(x, channelsFirst);
  std::vector<int64_t> results = window.over(sizes);
  Tensor out;
  for (size_t i = 0; i < sizes.size(); ++i) {
    std::vector<float> counts;
    for (int64_t p = 0; p < results[i]; ++p) {
      int64_t begin = p * window.strides[i] - window.low[i];
      int64_t end = std::min(begin + window.size[i], sizes[i]);
      counts.push_back(float(end - std::max<int64_t>(begin, 0)));
    }
    Tensor along = t.along(t.castLike(t.constant(counts, {results[i]}), pooled),
                           pooled, spatialDims(pooled, channelsFirst)[i]);
    out = out ? out * along : along;
  }
  return out;
}
