//===- ConvolutionProducts.cpp - a convolution as a product ---------------===//

#include "weft/dialects/nest/ConvolutionProducts.h"

using namespace mlir;

namespace weft::nest {

SmallVector<int64_t> convolutionTerms(ConvolutionOp op) {
  SmallVector<int64_t> sizes;
  for (const Window &window : op.getWindows())
    sizes.push_back(window.size);
  sizes.push_back(cast<RankedTensorType>(op.getRhs().getType())
                      .getDimSize(op.getRhsDims()[1]));
  return sizes;
}

/// The rows' dimensions, as numbers of getResultDims, in the order in which the
/// result has them: adjacent rows are adjacent in memory. The gradient of a
/// kernel has its samples, which are the input channels, last.
static SmallVector<size_t> rowsInMemory(ConvolutionOp op) {
  ArrayRef<int64_t> out = op.getResultDims();
  SmallVector<size_t> rows = {0};
  for (size_t i = 2; i < out.size(); ++i)
    rows.push_back(i);
  llvm::sort(rows, [&](size_t a, size_t b) { return out[a] < out[b]; });
  return rows;
}

/// The factor of the sample, over which windows slide.
static ProductDims::Factor slidingFactor(ConvolutionOp op,
                                         ArrayRef<size_t> rows) {
  ArrayRef<int64_t> sample = op.getLhsDims();
  ProductDims::Factor factor;
  for (size_t row : rows)
    factor.rows.push_back(sample[row]);
  for (auto [i, window] : llvm::enumerate(op.getWindows())) {
    size_t row = llvm::find(rows, 2 + i) - rows.begin();
    factor.terms.push_back(sample[2 + i]);
    factor.sliding.push_back({row, i, window.stride, window.dilation,
                              window.low, window.baseDilation});
  }
  factor.terms.push_back(sample[1]);
  return factor;
}

std::optional<ProductDims> convolutionProducts(ConvolutionOp op) {
  if (op.getFeatureGroups() * op.getBatchGroups() > 1)
    return std::nullopt;
  ArrayRef<int64_t> out = op.getResultDims(), kernel = op.getRhsDims();
  SmallVector<size_t> rows = rowsInMemory(op);
  ProductDims dims{{}, {}, {out[1]}, {}, {}};
  for (size_t row : rows)
    dims.rows.push_back(out[row]);
  dims.rhs = ProductDims::Factor{
      {}, {kernel[0]}, llvm::to_vector(kernel.drop_front(2)), {}};
  dims.rhs->terms.push_back(kernel[1]);
  dims.lhs = slidingFactor(op, rows);
  return dims;
}

} // namespace weft::nest
