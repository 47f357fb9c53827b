//===- Tensors.h - tensor expressions in weft ops ---------------*- C++ -*-===//
//
// Private to the Keras front end. Builds the ops of formulas. As in Keras a
// number takes the other operand's shape and element type. (1 - r) * g^2 is
//
//   t.mul(t.mul(g, g), 1 - r)
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_TENSORS_TENSORS_H
#define WEFT_COMPILER_FRONTENDS_KERAS_TENSORS_TENSORS_H

#include "weft/dialects/weft/Weft.h"

namespace weft::keras {

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

class Tensors {
public:
  Tensors(mlir::OpBuilder &builder [[clang::lifetimebound]], mlir::Location loc)
      : builder(builder), loc(loc) {}

  template <typename Op, typename... Args> Value make(Args &&...args) {
    return Op::create(builder, loc, std::forward<Args>(args)...).getResult();
  }

  Value splat(double number, mlir::RankedTensorType type);
  /// The number as an integer of this type.
  static llvm::APInt integerOf(double number, mlir::Type element);
  Value splat(double number, Value like) {
    return splat(number, tensorType(like));
  }
  mlir::Type typeOf(const std::string &name) {
    return keras::typeOf(builder, name);
  }
  Value cast(Value a, mlir::Type element) {
    return tensorType(a).getElementType() == element
               ? a
               : make<ConvertOp>(a, element);
  }
  Value castLike(Value a, Value like) {
    return cast(a, tensorType(like).getElementType());
  }
  /// Converts to f32, except for f64: Keras' result_type(x, "float32").
  Value wide(Value a) {
    return tensorType(a).getElementType().isF64() ? a : toFloat(a);
  }
  /// A constant of f32 numbers in row-major order.
  Value constant(llvm::ArrayRef<float> numbers, llvm::ArrayRef<int64_t> shape);
  /// A constant of numbers along the last dimension of `like`.
  Value row(llvm::ArrayRef<double> numbers, Value like);

  Value add(Value a, Value b) { return make<AddOp>(a, b); }
  Value sub(Value a, Value b) { return make<SubOp>(a, b); }
  Value mul(Value a, Value b) { return make<MulOp>(a, b); }
  Value div(Value a, Value b) { return make<DivOp>(a, b); }
  Value add(Value a, double b) { return add(a, splat(b, a)); }
  Value sub(double a, Value b) { return sub(splat(a, b), b); }
  Value mul(Value a, double b) { return mul(a, splat(b, a)); }
  Value div(Value a, double b) { return div(a, splat(b, a)); }
  Value max(Value a, double b) { return make<MaxOp>(a, splat(b, a)); }
  Value min(Value a, double b) { return make<MinOp>(a, splat(b, a)); }
  Value add(Value a, int b) { return add(a, double(b)); }
  Value neg(Value a) { return make<NegOp>(a); }
  /// min(max(a, least), most); its derivative at the bounds is 0.
  Value clamp(Value a, double least, double most) {
    return make<ClampOp>(splat(least, a), a, splat(most, a));
  }
  Value compare(CompareKind kind, Value a, Value b) {
    return make<CompareOp>(kind, a, b);
  }
  Value compare(CompareKind kind, Value a, double b) {
    return compare(kind, a, splat(b, a));
  }
  Value select(Value condition, Value yes, Value no) {
    return make<SelectOp>(condition, yes, no);
  }
  Value isFinite(Value a) {
    return make<IsFiniteOp>(tensorType(a).clone(builder.getI1Type()), a);
  }
  Value toFloat(Value a) { return cast(a, builder.getF32Type()); }
  Value toInteger(Value a) { return cast(a, builder.getI32Type()); }

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
  Value matmul(Value a, Value b);
  /// Broadcasts a vector along dimension `dim` of `like` to the shape of
  /// `like`.
  Value along(Value vector, Value like, int64_t dim = -1);
  /// Broadcasts to a shape as NumPy does: sizes of 1, and missing leading
  /// dimensions, are repeated.
  Value stretch(Value a, llvm::ArrayRef<int64_t> to);
  /// Reshapes a reduced value to `like` with sizes of 1 in the reduced
  /// dimensions.
  Value kept(Value reduced, Value like, llvm::ArrayRef<int64_t> dims);
  /// Repeats each element of a dimension several times.
  Value repeat(Value a, int64_t dim, int64_t times);
  /// Takes rows of a table by i32 indices, like jnp.take. Negative indices
  /// count from the end; indices outside give NaN, or the least i32 in
  /// integers.
  Value take(Value table, Value indices);
  /// Moves the features of (batch, features, ...) to the end, and back.
  Value channelsLast(Value a);
  Value channelsFirst(Value a);
  Value reshape(Value a, llvm::ArrayRef<int64_t> shape);
  Value transpose(Value a, llvm::ArrayRef<int64_t> permutation);
  /// Concatenates along a dimension.
  Value concatenate(llvm::ArrayRef<Value> parts, int64_t dim);
  /// The elements from `begin` to below `end` of one dimension.
  Value slice(Value a, int64_t dim, int64_t begin, int64_t end);

  /// Concatenates tensors along their first dimension.
  Value join(llvm::ArrayRef<Value> parts);

  /// Broadcasts a scalar to the shape of `like`.
  Value fill(Value scalar, Value like);
  /// Reduce dimensions, and broadcast a reduced value to the shape of `like`.
  /// Sums and means of f16 and bf16 are computed in f32, as in JAX.
  Value reduce(ReduceKind kind, Value a, llvm::ArrayRef<int64_t> dims);
  Value spread(Value reduced, Value like, llvm::ArrayRef<int64_t> dims);
  Value sumAll(Value a);
  Value mean(Value a, llvm::ArrayRef<int64_t> dims);
  /// The mean of (a - mean)^2; `mean` has the reduced shape.
  Value variance(Value a, Value mean, llvm::ArrayRef<int64_t> dims);
  Value meanAll(Value a);
  Value stopGradient(Value a) { return make<StopGradientOp>(a); }

  Value softmax(Value a, llvm::ArrayRef<int64_t> dims);
  Value logSoftmax(Value a);
  /// log(e^a + e^b), as jnp.logaddexp.
  Value logAddExp(Value a, Value b);
  /// log(1 + e^a), as jax.nn.softplus.
  Value softplus(Value a);
  /// The i32 position of the first largest element along the last dimension, or
  /// of the first NaN if there is one.
  Value argmax(Value a);
  /// 1.0 where the position along the last dimension of `like` is the index,
  /// else 0.0.
  Value oneHot(Value index, Value like);
  /// Draws uniform numbers in [0, 1) from threefry bits, like
  /// jax.random.uniform of the same type.
  Value uniform(Value key, mlir::RankedTensorType type);
  /// Draws normal numbers, like jax.random.normal of the same type.
  Value normal(Value key, mlir::RankedTensorType type);
  /// The inverse of the error function, computed in f32 as in XLA.
  Value erfInv(Value a);

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_TENSORS_TENSORS_H
