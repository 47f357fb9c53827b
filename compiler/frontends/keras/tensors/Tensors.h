//===- Tensors.h - tensor expressions in weft ops ---------------*- C++ -*-===//
//
// Private to the Keras front end. The place where a formula's ops are built,
// for what has no operator in dialects/weft/Tensor.h. (1 - r) * mean(g^2) is
//
//   (1 - r) * t.meanAll(g * g)
//
// Values of other ops, such as arguments of a function, become operands of
// formulas by t(value).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_TENSORS_TENSORS_H
#define WEFT_COMPILER_FRONTENDS_KERAS_TENSORS_TENSORS_H

#include "weft/dialects/weft/Tensor.h"

namespace weft::keras {

using formulas::Tensor;
using mlir::Value;

/// The value of keras.backend.epsilon().
inline constexpr double kEpsilon = 1e-7;

inline mlir::RankedTensorType tensorType(Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

/// The type with this name in Keras, such as bfloat16, or null for other names.
/// dtypeOf() is the inverse. Types of 64 bits become types of 32 bits, as in
/// JAX without jax_enable_x64.
mlir::Type typeOf(mlir::Builder &builder, const std::string &name);
std::string dtypeOf(Value value);
/// (28, 28, 1)
std::string shapeText(llvm::ArrayRef<int64_t> shape);

/// The values of tensors, as ops take lists of them.
inline llvm::SmallVector<Value> valuesOf(llvm::ArrayRef<Tensor> tensors) {
  return llvm::SmallVector<Value>(tensors);
}

class Tensors {
public:
  Tensors(mlir::OpBuilder &builder [[clang::lifetimebound]], mlir::Location loc)
      : builder(builder), loc(loc) {}

  Tensor operator()(Value value) const { return {builder, loc, value}; }
  llvm::SmallVector<Tensor> operator()(mlir::ValueRange values) const {
    return llvm::map_to_vector(values, [&](Value v) { return (*this)(v); });
  }

  template <typename Op, typename... Args> Tensor make(Args &&...args) {
    return (*this)(
        Op::create(builder, loc, std::forward<Args>(args)...).getResult());
  }

  Tensor splat(double number, mlir::RankedTensorType type);
  Tensor splat(double number, Value like) {
    return splat(number, tensorType(like));
  }
  mlir::Type typeOf(const std::string &name) {
    return keras::typeOf(builder, name);
  }
  Tensor cast(Value a, mlir::Type element) {
    return tensorType(a).getElementType() == element
               ? (*this)(a)
               : make<ConvertOp>(a, element);
  }
  Tensor castLike(Value a, Value like) {
    return cast(a, tensorType(like).getElementType());
  }
  /// Converts to f32, except for f64: Keras' result_type(x, "float32").
  Tensor wide(Value a) {
    return tensorType(a).getElementType().isF64() ? (*this)(a) : toFloat(a);
  }
  /// A constant of f32 numbers in row-major order.
  Tensor constant(llvm::ArrayRef<float> numbers, llvm::ArrayRef<int64_t> shape);
  /// A constant of numbers along the last dimension of `like`.
  Tensor row(llvm::ArrayRef<double> numbers, Value like);

  /// min(max(a, least), most); its derivative at the bounds is 0.
  Tensor clamp(Value a, double least, double most) {
    return make<ClampOp>(splat(least, a), a, splat(most, a));
  }
  Tensor isFinite(Value a) {
    return make<IsFiniteOp>(tensorType(a).clone(builder.getI1Type()), a);
  }
  Tensor toFloat(Value a) { return cast(a, builder.getF32Type()); }
  Tensor toInteger(Value a) { return cast(a, builder.getI32Type()); }

  static int64_t rank(Value a) { return tensorType(a).getRank(); }
  /// The size of a dimension; negative ones count from the end.
  static int64_t size(Value a, int64_t dim) {
    return tensorType(a).getDimSize(dim < 0 ? dim + rank(a) : dim);
  }
  static llvm::ArrayRef<int64_t> shape(Value a) {
    return tensorType(a).getShape();
  }
  static int64_t last(Value a) { return rank(a) - 1; }
  static llvm::SmallVector<int64_t> allDims(Value a);
  /// The dimensions of axes in increasing order; axes may count from the end.
  static llvm::SmallVector<int64_t> dims(Value a, llvm::ArrayRef<int64_t> axes);

  /// Contracts the last dimension of a with the first dimension of b.
  Tensor matmul(Value a, Value b);
  /// Broadcasts a vector along dimension `dim` of `like` to the shape of
  /// `like`.
  Tensor along(Value vector, Value like, int64_t dim = -1);
  /// Broadcasts to a shape as NumPy does: sizes of 1, and missing leading
  /// dimensions, are repeated.
  Tensor stretch(Value a, llvm::ArrayRef<int64_t> to);
  /// Reshapes a reduced value to `like` with sizes of 1 in the reduced
  /// dimensions.
  Tensor kept(Value reduced, Value like, llvm::ArrayRef<int64_t> dims);
  /// Repeats each element of a dimension several times.
  Tensor repeat(Value a, int64_t dim, int64_t times);
  /// Takes rows of a table by i32 indices, like jnp.take. Negative indices
  /// count from the end; indices outside give NaN, or the least i32 in
  /// integers.
  Tensor take(Value table, Tensor indices);
  /// Moves the features of (batch, features, ...) to the end, and back.
  Tensor channelsLast(Value a);
  Tensor channelsFirst(Value a);
  Tensor reshape(Value a, llvm::ArrayRef<int64_t> shape);
  Tensor transpose(Value a, llvm::ArrayRef<int64_t> permutation);
  /// Concatenates along a dimension.
  Tensor concatenate(llvm::ArrayRef<Tensor> parts, int64_t dim);
  /// The elements from `begin` to below `end` of one dimension.
  Tensor slice(Value a, int64_t dim, int64_t begin, int64_t end);

  /// Concatenates tensors along their first dimension.
  Tensor join(llvm::ArrayRef<Tensor> parts);

  /// Broadcasts a scalar to the shape of `like`.
  Tensor fill(Value scalar, Value like);
  /// Reduce dimensions, and broadcast a reduced value to the shape of `like`.
  /// Sums and means of f16 and bf16 are computed in f32, as in JAX.
  Tensor reduce(ReduceKind kind, Value a, llvm::ArrayRef<int64_t> dims);
  Tensor spread(Value reduced, Value like, llvm::ArrayRef<int64_t> dims);
  Tensor sumAll(Value a);
  Tensor mean(Value a, llvm::ArrayRef<int64_t> dims);
  /// The mean of (a - mean)^2; `mean` has the reduced shape.
  Tensor variance(Tensor a, Value mean, llvm::ArrayRef<int64_t> dims);
  Tensor meanAll(Value a);
  Tensor stopGradient(Value a) { return make<StopGradientOp>(a); }

  Tensor softmax(Tensor a, llvm::ArrayRef<int64_t> dims);
  Tensor logSoftmax(Tensor a);
  /// log(e^a + e^b), as jnp.logaddexp.
  Tensor logAddExp(Tensor a, Tensor b);
  /// log(1 + e^a), as jax.nn.softplus.
  Tensor softplus(Tensor a);
  /// The i32 position of the first largest element along the last dimension, or
  /// of the first NaN if there is one.
  Tensor argmax(Tensor a);
  /// 1.0 where the position along the last dimension of `like` is the index,
  /// else 0.0.
  Tensor oneHot(Value index, Value like);
  /// Draws uniform numbers in [0, 1) from threefry bits, like
  /// jax.random.uniform of the same type.
  Tensor uniform(Value key, mlir::RankedTensorType type);
  /// Draws normal numbers, like jax.random.normal of the same type.
  Tensor normal(Value key, mlir::RankedTensorType type);
  /// The inverse of the error function, computed in f32 as in XLA.
  Tensor erfInv(Value a);

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_TENSORS_TENSORS_H
