//===- ConvertNormalization.cpp - batch normalization ---------------------===//
//
// Statistics and results are computed in f32 where elements are narrower, by
// the formulas of StableHLO's specification.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/frontends/stablehlo/convert/Converter.h"

#include "weft/dialects/weft/Tensor.h"

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;
using formulas::Tensor;

namespace {

/// Arithmetic on tensors like the operand, and on vectors with an element for
/// each feature.
class BatchNorm {
public:
  BatchNorm(Converter &c [[clang::lifetimebound]], ForeignOp op)
      : c(c), op(op) {}

  /// Checks the operand's feature dimension, and finds the numbers that all
  /// three ops have.
  LogicalResult begin(unsigned operands) {
    auto type = op.operandType(0);
    element = type.getElementType();
    feature = op.integer("feature_index").value_or(-1);
    auto given = dyn_cast_or_null<FloatAttr>(op.attribute("epsilon"));
    if (op->getNumOperands() != operands)
      return op.refuse() << "has " << op->getNumOperands() << " operands, not "
                         << operands;
    if (!isa<FloatType>(element) || feature < 0 || feature >= type.getRank() ||
        !given)
      return op.refuse() << "needs floats, a feature_index below "
                         << type.getRank() << " and an epsilon";
    for (unsigned i = 1; i < op->getNumOperands(); ++i) {
      auto shape = op.operandType(i).getShape();
      if (shape != ArrayRef(type.getDimSize(feature)) &&
          shape != type.getShape())
        return op.refuse() << "has operand " << i << " of " << op.operandType(i)
                           << " beside " << type
                           << " with features in dimension " << feature;
    }
    epsilon = given.getValueAsDouble();
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (dim != feature)
        others.push_back(dim);
    count = type.getDimSize(feature)
                ? double(type.getNumElements()) / type.getDimSize(feature)
                : 0;
    return success();
  }

  /// An operand; a vector is repeated for all positions if `isFull`.
  Tensor input(unsigned index, bool isFull = true) {
    Type wide = element.getIntOrFloatBitWidth() < 32
                    ? Type(c.builder.getF32Type())
                    : element;
    Tensor value = tensor(c.cast(op, c.input(op, index), wide));
    return isFull ? spread(value) : value;
  }
  Tensor spread(Tensor vector) {
    auto shape = op.operandType(0).getShape();
    if (vector.type().getShape() == shape)
      return vector;
    return tensor(
        c.make<BroadcastOp>(op, vector, shape, ArrayRef<int64_t>{feature}));
  }
  /// The sum of each feature.
  Tensor sum(Tensor x) {
    return tensor(c.make<ReduceOp>(op, ReduceKind::Sum, x, others));
  }
  Tensor mean(Tensor x) { return sum(x) / count; }
  Tensor raised(Tensor variance) { return variance + epsilon; }
  /// scale * centered / sqrt(variance + epsilon) + offset, of whole tensors.
  Tensor normalized(Tensor centered, Tensor variance, Tensor scale,
                    Tensor offset) {
    return scale * (centered / spread(sqrt(raised(variance)))) + offset;
  }
  Value narrow(Tensor x) { return c.cast(op, x, element); }

  double count = 0; ///< elements of a feature

private:
  Tensor tensor(Value value) const { return {c.builder, op->getLoc(), value}; }

  Converter &c;
  ForeignOp op;
  Type element;
  int64_t feature = 0;
  double epsilon = 0;
  Ints others;
};

/// Operands: x, scale, offset, mean, variance.
LogicalResult batchNormInference(Converter &c, ForeignOp op) {
  BatchNorm n(c, op);
  if (failed(n.begin(5)))
    return failure();
  Tensor centered = n.input(0) - n.input(3);
  return c.give(op, n.narrow(n.normalized(centered, n.input(4, false),
                                          n.input(1), n.input(2))));
}

/// Operands: x, scale, offset. Results: y, mean, variance.
LogicalResult batchNormTraining(Converter &c, ForeignOp op) {
  BatchNorm n(c, op);
  if (failed(n.begin(3)))
    return failure();
  Tensor mean = n.mean(n.input(0)), centered = n.input(0) - n.spread(mean);
  Tensor variance = n.mean(centered * centered);
  Tensor y = n.normalized(centered, variance, n.input(1), n.input(2));
  return c.give(op, {n.narrow(y), n.narrow(mean), n.narrow(variance)});
}

/// Operands: x, scale, mean, variance, gradient of y. Results: gradients of x,
/// scale and offset.
LogicalResult batchNormGradient(Converter &c, ForeignOp op) {
  BatchNorm n(c, op);
  if (failed(n.begin(5)))
    return failure();
  Tensor centered = n.input(0) - n.input(2), grad = n.input(4);
  Tensor raised = n.raised(n.input(3, false)), root = sqrt(raised);
  Tensor offset = n.sum(grad), moment = n.sum(grad * centered);
  Tensor scale = moment / root, factor = n.input(1, false) / root / n.count;
  Tensor along = n.spread(moment / raised) * centered;
  Tensor x = n.spread(factor) * (grad * n.count - n.spread(offset) - along);
  return c.give(op, {n.narrow(x), n.narrow(scale), n.narrow(offset)});
}

constexpr ConversionEntry kEntries[] = {
    {"batch_norm_inference", batchNormInference, 5},
    {"batch_norm_training", batchNormTraining, 3},
    {"batch_norm_grad", batchNormGradient, 5},
};

} // namespace

ArrayRef<ConversionEntry> stablehlo::normalizationConversions() {
  return kEntries;
}
