//===- GradientBuilder.h - ops of a derivative ------------------*- C++ -*-===//
//
// Derivatives are written with the operators of Tensor.h. The rule of x / y is
//
//   Tensor dx = grad / y;   Tensor dy = -(grad * x / (y * y));
//
// A GradientBuilder makes the tensors, at the place of the op:
//
//   LogicalResult NegOp::buildGradient(OpGradients &g) {
//     g.operands[0] = -g.grad();
//     return success();
//   }
//
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_GRADIENTS_GRADIENTBUILDER_H
#define WEFT_DIALECTS_WEFT_GRADIENTS_GRADIENTBUILDER_H

#include "weft/dialects/weft/Tensor.h"

namespace weft {

using formulas::Tensor;

struct GradientBuilder {
  mlir::OpBuilder &builder;
  mlir::Location loc;

  Tensor operator()(mlir::Value value) const { return {builder, loc, value}; }
  template <typename Op, typename... Args> Tensor make(Args &&...args) const {
    return (*this)(
        Op::create(builder, loc, std::forward<Args>(args)...).getResult());
  }
  /// A tensor of integers.
  Tensor integers(int64_t value, llvm::ArrayRef<int64_t> shape,
                  mlir::Type elementType) const;
  /// 0, 1, 2, ... along a dimension.
  Tensor count(int64_t dim, llvm::ArrayRef<int64_t> shape,
               mlir::Type elementType) const;
  /// Zeros with the type of `like`, and grad[..., i, ...] added at position
  /// positions[..., i, ...] of `dim`.
  Tensor putAlong(mlir::Value grad, mlir::Value positions, int64_t dim,
                  mlir::Value like) const;
};

/// What the derivative of an op is given, and what it builds. A result of the op
/// has a gradient, and an operand's is wanted: an op of one operand and one
/// result need not ask.
struct OpGradients : GradientBuilder {
  mlir::ValueRange results;    ///< gradients; null where they are zero
  llvm::ArrayRef<bool> wanted; ///< whether an operand needs its gradient
  /// The gradient of each operand, null (zero) at first.
  llvm::SmallVector<mlir::Value> operands;

  /// Takes the gradients of the op's results, and `wanted` for its operands.
  OpGradients(mlir::OpBuilder &builder [[clang::lifetimebound]],
              mlir::Operation *op, mlir::ValueRange results,
              llvm::ArrayRef<bool> wanted)
      : GradientBuilder{builder, op->getLoc()}, results(results),
        wanted(wanted), operands(op->getNumOperands()) {}
  /// The gradient of the only result.
  Tensor grad() const { return (*this)(results[0]); }
};

/// The number of elements of each dimension of a ranked tensor.
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType()).getShape();
}

/// Dimensions 0 .. rank-1 without `dims`, ascending.
llvm::SmallVector<int64_t> otherDims(int64_t rank,
                                     llvm::ArrayRef<int64_t> dims);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_GRADIENTS_GRADIENTBUILDER_H
