//===- Formula.h - functions written out in arithmetic ----------*- C++ -*-===//
//
//   Value cube(const Formula &f, Value x) { return f.mul(x, f.mul(x, x)); }
//   patterns.add<ByFormula<math::CbrtOp>>(context, 64, [](const Formula &f, math::CbrtOp op) { ... });
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_ELEMENTS_FORMULA_H
#define WEFT_COMPILER_CODEGEN_ELEMENTS_FORMULA_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"

namespace weft::elements {

/// Builds arithmetic on f32 and f64 values at one place.
struct Formula {
  mlir::OpBuilder &b;
  mlir::Location loc;

  mlir::Value number(double value, mlir::Value like) const {
    return mlir::arith::ConstantOp::create(
        b, loc, b.getFloatAttr(like.getType(), value));
  }
  mlir::Value add(mlir::Value x, mlir::Value y) const {
    return mlir::arith::AddFOp::create(b, loc, x, y);
  }
  mlir::Value sub(mlir::Value x, mlir::Value y) const {
    return mlir::arith::SubFOp::create(b, loc, x, y);
  }
  mlir::Value mul(mlir::Value x, mlir::Value y) const {
    return mlir::arith::MulFOp::create(b, loc, x, y);
  }
  mlir::Value div(mlir::Value x, mlir::Value y) const {
    return mlir::arith::DivFOp::create(b, loc, x, y);
  }
  mlir::Value mul(mlir::Value x, double y) const {
    return mul(x, number(y, x));
  }
  mlir::Value add(mlir::Value x, double y) const {
    return add(x, number(y, x));
  }
  mlir::Value fma(mlir::Value x, mlir::Value y, mlir::Value z) const {
    return mlir::math::FmaOp::create(b, loc, x, y, z);
  }
  mlir::Value fma(mlir::Value x, double y, mlir::Value z) const {
    return fma(x, number(y, x), z);
  }
  mlir::Value abs(mlir::Value x) const {
    return mlir::math::AbsFOp::create(b, loc, x);
  }
  mlir::Value withSignOf(mlir::Value size, mlir::Value x) const {
    return mlir::math::CopySignOp::create(b, loc, size, x);
  }
  mlir::Value select(mlir::Value condition, mlir::Value x,
                     mlir::Value y) const {
    return mlir::arith::SelectOp::create(b, loc, condition, x, y);
  }
  mlir::Value compare(mlir::arith::CmpFPredicate kind, mlir::Value x,
                      mlir::Value y) const {
    return mlir::arith::CmpFOp::create(b, loc, kind, x, y);
  }
  mlir::Value compare(mlir::arith::CmpFPredicate kind, mlir::Value x,
                      double y) const {
    return compare(kind, x, number(y, x));
  }
  mlir::Value integer(int64_t value, mlir::Type type) const {
    return mlir::arith::ConstantOp::create(b, loc,
                                           b.getIntegerAttr(type, value));
  }
  /// The upper half of the bits of an f64.
  mlir::Value highWord(mlir::Value x) const {
    mlir::Value bits =
        mlir::arith::BitcastOp::create(b, loc, b.getI64Type(), x);
    return mlir::arith::TruncIOp::create(
        b, loc, b.getI32Type(),
        mlir::arith::ShRUIOp::create(b, loc, bits,
                                     integer(32, bits.getType())));
  }
  /// The f64 with these two halves; the lower is given in 64 bits.
  mlir::Value fromWords(mlir::Value high, mlir::Value low) const {
    mlir::Value bits =
        mlir::arith::ExtUIOp::create(b, loc, b.getI64Type(), high);
    bits =
        mlir::arith::ShLIOp::create(b, loc, bits, integer(32, bits.getType()));
    if (low)
      bits = mlir::arith::OrIOp::create(b, loc, bits, low);
    return mlir::arith::BitcastOp::create(b, loc, b.getF64Type(), bits);
  }
  mlir::Value widened(mlir::Value x) const {
    return mlir::arith::ExtFOp::create(b, loc, b.getF64Type(), x);
  }
  mlir::Value narrowed(mlir::Value x) const {
    return mlir::arith::TruncFOp::create(b, loc, b.getF32Type(), x);
  }

  /// The nearest integer to an f64 of at most 2^51, ties to even, as of
  /// math.roundeven, which is a call if the processor has no instruction for
  /// it. The result for -0 is 0.
  mlir::Value nearest(mlir::Value x) const {
    constexpr double kUnitStep = 0x1.8p52; // the last bit has the value one
    return sub(add(x, kUnitStep), number(kUnitStep, x));
  }

  /// The f64 x as an angle; 0 from 2^51 on, where nearest() ends. NaN for
  /// infinities and NaN.
  mlir::Value angle(mlir::Value x) const {
    mlir::Value size = abs(x);
    return select(compare(mlir::arith::CmpFPredicate::OLT, size, 0x1p51), x,
                  mul(size, 0.0));
  }

  /// c[0] + c[1] x + ...
  mlir::Value polynomial(mlir::Value x,
                         llvm::ArrayRef<double> coefficients) const {
    mlir::Value sum = number(coefficients.back(), x);
    for (double coefficient : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, number(coefficient, x));
    return sum;
  }
};

/// Replaces an op on floats of one width by a formula.
template <typename Op> struct ByFormula : mlir::OpRewritePattern<Op> {
  ByFormula(mlir::MLIRContext *context, unsigned width,
            mlir::Value (*build)(const Formula &, Op))
      : mlir::OpRewritePattern<Op>(context, /*benefit=*/2), width(width),
        build(build) {}
  unsigned width;
  mlir::Value (*build)(const Formula &, Op);

  llvm::LogicalResult
  matchAndRewrite(Op op, mlir::PatternRewriter &rewriter) const override {
    auto type = llvm::dyn_cast<mlir::FloatType>(op.getType());
    if (!type || type.getWidth() != width || (width == 32 && !type.isF32()))
      return mlir::failure();
    rewriter.replaceOp(op, build(Formula{rewriter, op.getLoc()}, op));
    return mlir::success();
  }
};

} // namespace weft::elements

#endif // WEFT_COMPILER_CODEGEN_ELEMENTS_FORMULA_H
