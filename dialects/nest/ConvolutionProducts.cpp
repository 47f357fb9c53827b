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

/// The factor of the sample, over which windows slide.
static ProductDims::Factor slidingFactor(ConvolutionOp op) {
  ArrayRef<int64_t> sample = op.getLhsDims();
  ProductDims::Factor factor{{}, {sample[0]}, {}, {}};
  for (auto [i, window] : llvm::enumerate(op.getWindows())) {
    factor.rows.push_back(sample[2 + i]);
    factor.terms.push_back(sample[2 + i]);
    factor.sliding.push_back({1 + i, i, window.stride, window.dilation,
                              window.low, window.baseDilation});
  }
  factor.terms.push_back(sample[1]);
  return factor;
}

std::optional<ProductDims> convolutionProducts(ConvolutionOp op) {
  if (op.getFeatureGroups() * op.getBatchGroups() > 1)
    return std::nullopt;
  ArrayRef<int64_t> out = op.getResultDims(), kernel = op.getRhsDims();
  ProductDims dims{{}, {out[0]}, {out[1]}, {}, {}};
  llvm::append_range(dims.rows, out.drop_front(2));
  dims.rhs = ProductDims::Factor{
      {}, {kernel[0]}, llvm::to_vector(kernel.drop_front(2)), {}};
  dims.rhs->terms.push_back(kernel[1]);
  dims.lhs = slidingFactor(op);
  return dims;
}

} // namespace weft::nest
