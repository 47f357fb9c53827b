//===- ScalarEmitter.h - one elementwise op on registers --------*- C++ -*-===//

#ifndef WEFT_COMPILER_CODEGEN_ELEMENTS_SCALAREMITTER_H
#define WEFT_COMPILER_CODEGEN_ELEMENTS_SCALAREMITTER_H

#include "weft/compiler/codegen/elements/Registers.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/Weft.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace weft::elements {

/// Emits one op; `type` is the type of arithmetic on its first operand.
struct ScalarEmitter {
  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Type type;
  mlir::ValueRange in;

  bool isFloat() const { return mlir::isa<mlir::FloatType>(type); }
  mlir::Value number(double value) const {
    if (isFloat())
      return mlir::arith::ConstantOp::create(b, loc,
                                             b.getFloatAttr(type, value));
    return mlir::arith::ConstantOp::create(
        b, loc, b.getIntegerAttr(computeType(type), int64_t(value)));
  }
  template <typename Float, typename Signed, typename Unsigned = Signed>
  mlir::Value pick() const {
    if (isFloat())
      return Float::create(b, loc, in[0], in[1]).getResult();
    if (isUnsigned(type))
      return Unsigned::create(b, loc, in[0], in[1]).getResult();
    return Signed::create(b, loc, in[0], in[1]).getResult();
  }
  template <typename MathOp> mlir::Value math() const {
    // Approximations exist for f32; narrower types are converted to it.
    if (type.getIntOrFloatBitWidth() >= 32)
      return MathOp::create(b, loc, in);
    llvm::SmallVector<mlir::Value, 2> wide;
    for (mlir::Value operand : in)
      wide.push_back(
          mlir::arith::ExtFOp::create(b, loc, b.getF32Type(), operand));
    mlir::Value result = MathOp::create(b, loc, mlir::ValueRange(wide));
    return mlir::arith::TruncFOp::create(b, loc, type, result);
  }
  mlir::Value compare(mlir::arith::CmpFPredicate onFloat,
                      mlir::arith::CmpIPredicate onInteger, mlir::Value x,
                      mlir::Value y) const {
    if (isFloat())
      return mlir::arith::CmpFOp::create(b, loc, onFloat, x, y);
    return mlir::arith::CmpIOp::create(b, loc, onInteger, x, y);
  }
  mlir::Value negative() const;
  mlir::Value inverse(mlir::Value x) const;
  mlir::Value power() const;
  mlir::Value sign() const;
  mlir::Value absolute() const;
  mlir::Value relu() const;
  mlir::Value logistic() const;
  mlir::Value shift(bool left) const;
  mlir::Value shiftArithmetic() const;
  mlir::Value divide(bool remainder) const;
  mlir::Value integerPower() const;
  mlir::Value isFinite() const;
  mlir::Value clamp() const;
  mlir::Value reducePrecision(int64_t exponentBits, int64_t mantissaBits) const;
  mlir::Value compareOp(CompareKind kind) const;
  mlir::Value convert(mlir::Type to) const;
};

} // namespace weft::elements

#endif // WEFT_COMPILER_CODEGEN_ELEMENTS_SCALAREMITTER_H
