//===- ConvolutionShape.cpp - a convolution as strides --------------------===//

#include "weft/dialects/nest/ConvolutionShape.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace weft::nest {

int64_t stepOf(const Window &window) {
  return window.baseDilation / std::gcd(window.baseDilation, window.dilation);
}

bool suits(ConvolutionOp op, const Strides &lhs, const Strides &rhs,
           ConvolutionLanes lanes) {
  RankedTensorType type = op.getResult().getType();
  ArrayRef<int64_t> l = op.getLhsDims(), r = op.getRhsDims(),
                    out = op.getResultDims();
  if (type.getNumElements() == 0 ||
      op.getLhs().getType().getNumElements() == 0 ||
      op.getRhs().getType().getNumElements() == 0)
    return false;
  int64_t groups = op.getFeatureGroups() * op.getBatchGroups();
  bool besides = rhs.strides[r[0]] == 1 &&
                 Strides::rowMajor(op.getResult()).strides[out[1]] == 1;
  // Each group has one input feature, or one sample of the batch, and these are
  // adjacent in memory.
  bool isDepthwise =
      op.getFeatureGroups() > 1
          ? rhs.sizes[r[1]] == 1 && lhs.strides[l[1]] == 1
          : type.getDimSize(out[0]) == 1 && lhs.strides[l[0]] == 1;
  switch (lanes) {
  case ConvolutionLanes::Channels:
    return groups > 1 && type.getDimSize(out[1]) == groups && besides &&
           isDepthwise;
  case ConvolutionLanes::Inputs:
    return rhs.strides[r[1]] == 1 && lhs.strides[l[1]] == 1;
  case ConvolutionLanes::Outputs:
    return besides;
  }
  return false;
}

Strides copiedKernel(ConvolutionOp op, const Strides &rhs,
                     ConvolutionLanes lanes) {
  ArrayRef<int64_t> r = op.getRhsDims();
  Strides copy = rhs;
  copy.first = 0;
  SmallVector<int64_t> order{r[0], r[1]}; // the innermost first
  if (lanes == ConvolutionLanes::Inputs)
    std::swap(order[0], order[1]);
  llvm::append_range(order, llvm::reverse(r.drop_front(2)));
  int64_t stride = 1;
  for (int64_t dim : order) {
    copy.strides[dim] = stride;
    stride *= rhs.sizes[dim];
  }
  return copy;
}

int64_t panelElements(ConvolutionOp op, int64_t width) {
  RankedTensorType type = op.getRhs().getType();
  return type.getNumElements() /
         std::max<int64_t>(type.getDimSize(op.getRhsDims()[0]), 1) * width;
}

Strides panelRead(ConvolutionOp op, const ConvolutionShape &shape,
                  int64_t width) {
  ArrayRef<int64_t> r = op.getRhsDims();
  SmallVector<int64_t> order(llvm::reverse(r.drop_front(2)));
  order.insert(shape.inputsOutside ? order.end() : order.begin(), r[1]);
  Strides panel = shape.rhs;
  panel.first = 0;
  panel.strides[r[0]] = 1;
  int64_t stride = width;
  for (int64_t dim : order) {
    panel.strides[dim] = stride;
    stride *= panel.sizes[dim];
  }
  return panel;
}

bool canCopySample(ConvolutionOp op, const Strides &lhs, int64_t tiled) {
  int64_t batch = op.getLhsDims()[0];
  return lhs.strides[batch] * lhs.sizes[batch] ==
             op.getLhs().getType().getNumElements() &&
         tiled != op.getResultDims()[0] && op.getBatchGroups() == 1;
}

ConvolutionShape convolutionShape(ConvolutionOp op, const Strides &lhs,
                                  const Strides &rhs, ConvolutionLanes lanes,
                                  int64_t tiled) {
  RankedTensorType type = op.getResult().getType();
  ArrayRef<int64_t> out = op.getResultDims();
  ConvolutionShape shape{
      lhs,   rhs, Strides::rowMajor(op.getResult()), 1, 1, 1, tiled, 1, 1, -1,
      false, {}};
  shape.groups = op.getFeatureGroups() * op.getBatchGroups();
  shape.features = type.getDimSize(out[1]) / shape.groups;
  shape.inputs = rhs.sizes[op.getRhsDims()[1]];
  if (lanes == ConvolutionLanes::Channels) {
    shape.features = shape.groups;
    shape.groups = 1;
  }
  if (tiled != out[0]) {
    shape.tiledSpatial =
        llvm::find(out.drop_front(2), tiled) - (out.begin() + 2);
    Window window = op.getWindows()[shape.tiledSpatial];
    shape.period =
        window.baseDilation / std::gcd(window.baseDilation, window.stride);
  }
  shape.places = std::max<int64_t>(type.getDimSize(tiled) / shape.period, 1);
  ArrayRef<int64_t> r = op.getRhsDims();
  shape.inputsOutside = lanes == ConvolutionLanes::Outputs &&
                        shape.inputs > 1 && r.size() > 2 &&
                        rhs.strides[r[1]] > rhs.strides[r.back()];
  for (const Window &window : op.getWindows())
    if (window.size > 1 || window.baseDilation > 1)
      shape.rounds.push_back(llvm::divideCeil(window.size, stepOf(window)));
  if (shape.inputs > 1)
    shape.rounds.insert(shape.inputsOutside ? shape.rounds.begin()
                                            : shape.rounds.end(),
                        shape.inputs);
  return shape;
}

} // namespace weft::nest
