//===- ConvertNormalization.cpp - batch normalization ---------------------===//
//
// Statistics and results are computed in f32 where elements are narrower, by
// the formulas of StableHLO's specification.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/frontends/stablehlo/convert/Converter.h"

#include "weft/dialects/weft/TensorType.h"

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;

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
  Value input(unsigned index, bool isFull = true) {
    Type wide = element.getIntOrFloatBitWidth() < 32
                    ? Type(c.builder.getF32Type())
                    : element;
    Value value = c.cast(op, c.input(op, index), wide);
    return isFull ? spread(value) : value;
  }
  Value spread(Value vector) {
    auto shape = op.operandType(0).getShape();
    if (typeOf(vector).getShape() == shape)
      return vector;
    return c.make<BroadcastOp>(op, vector, shape, ArrayRef<int64_t>{feature});
  }
  Value add(Value a, Value b) { return c.make<AddOp>(op, a, b); }
  Value sub(Value a, Value b) { return c.make<SubOp>(op, a, b); }
  Value mul(Value a, Value b) { return c.make<MulOp>(op, a, b); }
  Value div(Value a, Value b) { return c.make<DivOp>(op, a, b); }
  Value number(double value, Value like) {
    return c.splat(op, value, typeOf(like));
  }
  /// The sum of each feature.
  Value sum(Value x) {
    return c.make<ReduceOp>(op, ReduceKind::Sum, x, others);
  }
  Value mean(Value x) {
    Value total = sum(x);
    return div(total, number(count, total));
  }
  /// variance + epsilon.
  Value raised(Value variance) {
    return add(variance, number(epsilon, variance));
  }
  Value root(Value x) { return c.make<SqrtOp>(op, x); }
  /// scale * centered / sqrt(variance + epsilon) + offset, of whole tensors.
  Value normalized(Value centered, Value variance, Value scale, Value offset) {
    Value unit = div(centered, spread(root(raised(variance))));
    return add(mul(scale, unit), offset);
  }
  Value narrow(Value x) { return c.cast(op, x, element); }

  double count = 0; ///< elements of a feature

private:
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
  Value centered = n.sub(n.input(0), n.input(3));
  return c.give(op, n.narrow(n.normalized(centered, n.input(4, false),
                                          n.input(1), n.input(2))));
}

/// Operands: x, scale, offset. Results: y, mean, variance.
LogicalResult batchNormTraining(Converter &c, ForeignOp op) {
  BatchNorm n(c, op);
  if (failed(n.begin(3)))
    return failure();
  Value mean = n.mean(n.input(0));
  Value centered = n.sub(n.input(0), n.spread(mean));
  Value variance = n.mean(n.mul(centered, centered));
  Value y = n.normalized(centered, variance, n.input(1), n.input(2));
  return c.give(op, {n.narrow(y), n.narrow(mean), n.narrow(variance)});
}

/// Operands: x, scale, mean, variance, gradient of y. Results: gradients of x,
/// scale and offset.
LogicalResult batchNormGradient(Converter &c, ForeignOp op) {
  BatchNorm n(c, op);
  if (failed(n.begin(5)))
    return failure();
  Value centered = n.sub(n.input(0), n.input(2)), grad = n.input(4);
  Value raised = n.raised(n.input(3, false)), root = n.root(raised);
  Value offset = n.sum(grad), moment = n.sum(n.mul(grad, centered));
  Value scale = n.div(moment, root);
  Value all = n.mul(grad, n.number(n.count, grad));
  Value along = n.mul(n.spread(n.div(moment, raised)), centered);
  Value factor = n.div(n.input(1, false), root);
  factor = n.div(factor, n.number(n.count, factor));
  Value x = n.mul(n.spread(factor), n.sub(n.sub(all, n.spread(offset)), along));
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
