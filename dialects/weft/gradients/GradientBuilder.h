//===- GradientBuilder.h - ops of a derivative, one a line ------*- C++ -*-===//
//
// Functions with which derivative rules are written. The rule of x / y is
//
//   dx = g.div(grad, y);   dy = g.neg(g.div(g.mul(grad, x), g.mul(y, y)));
//
// The values of arithmetic have the type of their first operand.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_GRADIENTS_GRADIENTBUILDER_H
#define WEFT_DIALECTS_WEFT_GRADIENTS_GRADIENTBUILDER_H

#include "weft/dialects/weft/Weft.h"

namespace weft {

struct GradientBuilder {
  mlir::OpBuilder &builder;
  mlir::Location loc;

  /// A tensor of `value` with the type of `like`, without a layout.
  mlir::Value splat(double value, mlir::Value like) const;
  /// A tensor of integers.
  mlir::Value integers(int64_t value, llvm::ArrayRef<int64_t> shape,
                       mlir::Type elementType) const;
  /// 0, 1, 2, ... along a dimension.
  mlir::Value count(int64_t dim, llvm::ArrayRef<int64_t> shape,
                    mlir::Type elementType) const;
  /// Zeros with the type of `like`, and grad[..., i, ...] added at position
  /// positions[..., i, ...] of `dim`.
  mlir::Value putAlong(mlir::Value grad, mlir::Value positions, int64_t dim,
                       mlir::Value like) const;
  /// Compares elements, lhs `kind` rhs: an i1 tensor.
  mlir::Value compare(CompareKind kind, mlir::Value lhs, mlir::Value rhs) const;
  mlir::Value select(mlir::Value condition, mlir::Value onTrue,
                     mlir::Value onFalse) const;

  /// Converts x to the element type; returns x itself if it has that type.
  mlir::Value converted(mlir::Value x, mlir::Type elementType) const;

  mlir::Value add(mlir::Value x, mlir::Value y) const {
    return AddOp::create(builder, loc, x, y);
  }
  mlir::Value sub(mlir::Value x, mlir::Value y) const {
    return SubOp::create(builder, loc, x, y);
  }
  mlir::Value mul(mlir::Value x, mlir::Value y) const {
    return MulOp::create(builder, loc, x, y);
  }
  mlir::Value div(mlir::Value x, mlir::Value y) const {
    return DivOp::create(builder, loc, x, y);
  }
  mlir::Value neg(mlir::Value x) const {
    return NegOp::create(builder, loc, x);
  }
  mlir::Value complex(mlir::Value re, mlir::Value im) const {
    return ComplexOp::create(builder, loc, re, im);
  }
  mlir::Value real(mlir::Value x) const {
    return RealOp::create(builder, loc, x);
  }
  mlir::Value imag(mlir::Value x) const {
    return ImagOp::create(builder, loc, x);
  }
  /// conj(x); of real numbers x itself.
  mlir::Value conj(mlir::Value x) const;
  /// factor * x.
  mlir::Value scale(double factor, mlir::Value x) const {
    return mul(x, splat(factor, x));
  }
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
