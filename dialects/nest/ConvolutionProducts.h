//===- ConvolutionProducts.h - a convolution as a product -------*- C++ -*-===//
//
//   %r = weft.convolution %x, %w ...
//        : tensor<8x32x32x3xf32>, tensor<3x3x3x16xf32> -> tensor<8x32x32x16xf32>
//
//   8 * 32 * 32 rows, one for each window, 16 columns and a depth of 3 * 3 * 3.
//   Row (n, y, x) and term (i, j, c) read x[n, y + i - 1, x + j - 1, c], which
//   is 0 where a window reaches over the edge.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_NEST_CONVOLUTIONPRODUCTS_H
#define WEFT_DIALECTS_NEST_CONVOLUTIONPRODUCTS_H

#include "weft/dialects/nest/OpLoops.h"
#include "weft/dialects/weft/ops/WindowOps.h"

namespace weft::nest {

/// The sizes of the terms: the positions of each window, then the channels.
llvm::SmallVector<int64_t> convolutionTerms(ConvolutionOp op);
/// The convolution as sums of products; nothing for groups, whose features read
/// different inputs.
std::optional<ProductDims> convolutionProducts(ConvolutionOp op);

} // namespace weft::nest

#endif // WEFT_DIALECTS_NEST_CONVOLUTIONPRODUCTS_H
