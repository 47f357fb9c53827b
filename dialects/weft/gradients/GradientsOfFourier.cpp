//===- GradientsOfFourier.cpp - of Fourier transforms ---------------------===//

#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/ShapeChecks.h"
#include "weft/dialects/weft/gradients/GradientBuilder.h"
#include "weft/dialects/weft/ops/LinearAlgebraOps.h"

using namespace mlir;
using namespace weft;

/// The weight of each frequency: 2 (1/2 if `inverted`) if it stands for its
/// mirror image too, 1 for the mean and, if the length is even, the highest.
static Value mirrored(const GradientBuilder &g, Value like, int64_t dim,
                      int64_t length, bool inverted) {
  RankedTensorType type = typeOf(like);
  SmallVector<int64_t> size = {type.getDimSize(dim)};
  Type position = g.builder.getI64Type();
  auto isAt = [&](int64_t frequency) {
    return g.compare(CompareKind::EQ, g.count(0, size, position),
                     g.integers(frequency, size, position));
  };
  Value single = isAt(0);
  if (length % 2 == 0)
    single = OrOp::create(g.builder, g.loc, single, isAt(length / 2));
  auto line = RankedTensorType::get(size, componentType(type.getElementType()));
  auto weight = [&](double number) -> Value {
    auto all = DenseElementsAttr::get(
        line, Attribute(FloatAttr::get(line.getElementType(), number)));
    return ConstantOp::create(g.builder, g.loc, all);
  };
  Value data = g.select(single, weight(1.0), weight(inverted ? 0.5 : 2.0));
  data = ConvertOp::create(g.builder, g.loc, data, type.getElementType());
  return BroadcastOp::create(g.builder, g.loc, data, type.getShape(), dim);
}

// A transform's matrix is symmetric, so a complex transform is its own
// gradient. Half a spectrum stands for its mirror image, too.
LogicalResult FftOp::buildGradient(OpBuilder &builder,
                                   ValueRange resultGradients,
                                   ArrayRef<bool> wanted,
                                   SmallVectorImpl<Value> &operandGradients) {
  operandGradients.assign(1, Value());
  Value grad = resultGradients[0];
  if (!wanted[0] || !grad)
    return success();
  GradientBuilder g{builder, getLoc()};
  int64_t dim = getDim(), length = getLength();
  auto transform = [&](FftKind kind, Value x) -> Value {
    return FftOp::create(builder, getLoc(), kind, x, dim, length);
  };
  if (getKind() == FftKind::RFFT) {
    Value half = g.mul(g.conj(grad), mirrored(g, grad, dim, length, true));
    operandGradients[0] = g.scale(length, transform(FftKind::IRFFT, half));
  } else if (getKind() == FftKind::IRFFT) {
    Value half = transform(FftKind::RFFT, grad);
    half = g.mul(half, mirrored(g, half, dim, length, false));
    operandGradients[0] = g.conj(g.scale(1.0 / length, half));
  } else {
    operandGradients[0] = transform(getKind(), grad);
  }
  return success();
}
