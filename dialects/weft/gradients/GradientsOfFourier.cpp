//===- GradientsOfFourier.cpp - of Fourier transforms ---------------------===//

#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/ShapeChecks.h"
#include "weft/dialects/weft/gradients/GradientBuilder.h"
#include "weft/dialects/weft/ops/LinearAlgebraOps.h"

using namespace mlir;
using namespace weft;

/// The weight of each frequency: 2 (1/2 if `inverted`) if it stands for its
/// mirror image too, 1 for the mean and, if the length is even, the highest.
static Tensor mirrored(const GradientBuilder &g, Tensor like, int64_t dim,
                       int64_t length, bool inverted) {
  RankedTensorType type = like.type();
  SmallVector<int64_t> size = {type.getDimSize(dim)};
  Type position = g.builder.getI64Type();
  auto isAt = [&](int64_t frequency) {
    return g.count(0, size, position) == g.integers(frequency, size, position);
  };
  Tensor single = isAt(0);
  if (length % 2 == 0)
    single = single | isAt(length / 2);
  auto line = RankedTensorType::get(size, componentType(type.getElementType()));
  auto weight = [&](double number) {
    return Tensor::splat(g.builder, g.loc, number, line);
  };
  Tensor data = select(single, weight(1), weight(inverted ? 0.5 : 2))
                    .convert(type.getElementType());
  return g.make<BroadcastOp>(data, type.getShape(), dim);
}

// A transform's matrix is symmetric, so a complex transform is its own
// gradient. Half a spectrum stands for its mirror image, too.
LogicalResult FftOp::buildGradient(OpGradients &g) {
  Tensor grad = g.grad();
  int64_t dim = getDim(), length = getLength();
  auto transform = [&](FftKind kind, Tensor x) {
    return g.make<FftOp>(kind, x, dim, length);
  };
  if (getKind() == FftKind::RFFT) {
    Tensor half = conj(grad) * mirrored(g, grad, dim, length, true);
    g.operands[0] = transform(FftKind::IRFFT, half) * double(length);
  } else if (getKind() == FftKind::IRFFT) {
    Tensor half = transform(FftKind::RFFT, grad);
    half = half * mirrored(g, half, dim, length, false);
    g.operands[0] = conj(half * (1.0 / double(length)));
  } else {
    g.operands[0] = transform(getKind(), grad);
  }
  return success();
}
