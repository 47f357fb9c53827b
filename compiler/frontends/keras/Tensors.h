//===- Tensors.h - tensor expressions in weft ops ---------------*- C++ -*-===//
//
// Private to the Keras front end. Writes formulas as Keras does: numbers take
// the other operand's shape and element type. (1 - r) * g^2 is
//
//   t.mul(t.mul(g, g), 1 - r)
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_TENSORS_H
#define WEFT_COMPILER_FRONTENDS_KERAS_TENSORS_H

#include "weft/dialects/weft/Weft.h"

namespace weft::keras {

using mlir::Value;

inline mlir::RankedTensorType tensorType(Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

class Tensors {
public:
  Tensors(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  template <typename Op, typename... Args> Value make(Args &&...args) {
    return Op::create(builder, loc, std::forward<Args>(args)...).getResult();
  }

  Value splat(double number, mlir::RankedTensorType type);
  Value splat(double number, Value like) {
    return splat(number, tensorType(like));
  }
  /// Numbers along the last dimension of `like`.
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
  Value compare(CompareKind kind, Value a, Value b) {
    return make<CompareOp>(kind, a, b);
  }
  Value toFloat(Value a) { return make<ConvertOp>(a, builder.getF32Type()); }

  /// A scalar in another value's shape.
  Value fill(Value scalar, Value like);
  /// Without the dimensions; and back in the shape of `like`.
  Value reduce(ReduceKind kind, Value a, llvm::ArrayRef<int64_t> dims);
  Value spread(Value reduced, Value like, llvm::ArrayRef<int64_t> dims);
  Value sumAll(Value a);
  Value mean(Value a, llvm::ArrayRef<int64_t> dims);
  Value meanAll(Value a);
  /// The value without its gradient: through integers none passes.
  Value stopGradient(Value a);

  Value softmax(Value a, llvm::ArrayRef<int64_t> dims);
  Value logSoftmax(Value a);
  /// log(1 + e^a), as jax.nn.softplus.
  Value softplus(Value a);
  /// i32 position of the first largest element along the last dimension.
  Value argmax(Value a);
  /// 1.0 where the last position is the index, in the shape of `like`.
  Value oneHot(Value index, Value like);
  /// Uniform numbers in [0, 1) of threefry bits, as jax.random.uniform.
  Value uniform(Value key, mlir::RankedTensorType type);

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

/// A Keras activation by name; every name that the reader accepts.
Value activation(Tensors &t, llvm::StringRef name, Value x);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_TENSORS_H
