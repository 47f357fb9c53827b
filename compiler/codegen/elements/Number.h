//===- Number.h - formulas on registers -------------------------*- C++ -*-===//
//
//   Number cube(Number x) { return x * x * x; }
//   Number half = select(x < 0, -0.5 * x, x * 0.5);
//   patterns.add<ByFormula<math::CbrtOp>>(context, 64, [](Numbers x) { return cubeRoot(x[0]); });
//
// Operators build arith's ops: those on floats for f32, f64 and vectors of them,
// those on unsigned integers for the rest. A number takes the type of the other
// operand.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_ELEMENTS_NUMBER_H
#define WEFT_COMPILER_CODEGEN_ELEMENTS_NUMBER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"

#include <numbers>

namespace weft::elements {

/// A value and the builder of ops on it, or no value.
class Number {
public:
  Number() = default;
  Number(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
         mlir::arith::FastMathFlags flags = mlir::arith::FastMathFlags::none)
      : place(&builder), loc(loc), value(value), flags(flags) {}

  operator mlir::Value() const { return value; }
  explicit operator bool() const { return bool(value); }
  mlir::OpBuilder &builder() const { return *place; }
  mlir::Type type() const { return value.getType(); }
  bool isFloat() const {
    return llvm::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(type()));
  }

  /// The result of an op at the same place.
  template <typename Op, typename... Args> Number make(Args &&...args) const {
    return with(
        Op::create(*place, loc, std::forward<Args>(args)...).getResult());
  }
  Number with(mlir::Value other) const { return {*place, loc, other, flags}; }
  /// This value in another type, by a conversion of arith.
  template <typename Op> Number to(mlir::Type element) const {
    return make<Op>(shaped(element), value);
  }
  /// A constant of this type, in each element of a vector.
  Number number(double number) const {
    return isFloat() ? constant(place->getFloatAttr(element(), number))
                     : integer(int64_t(number));
  }
  /// A constant of an integer type; bits that the type lacks are dropped.
  Number integer(int64_t number, mlir::Type type) const {
    llvm::APInt bits(type.getIntOrFloatBitWidth(), uint64_t(number),
                     /*isSigned=*/false, /*implicitTrunc=*/true);
    return constant(place->getIntegerAttr(type, bits));
  }
  Number integer(int64_t number) const { return integer(number, element()); }

  /// An op on two floats, or on two integers.
  template <typename OnFloats, typename OnIntegers>
  Number combine(Number other) const {
    return isFloat() ? make<OnFloats>(value, other.value, flags)
                     : make<OnIntegers>(value, other.value);
  }
  Number compare(mlir::arith::CmpFPredicate ofFloats,
                 mlir::arith::CmpIPredicate ofIntegers, Number other) const {
    return isFloat()
               ? make<mlir::arith::CmpFOp>(ofFloats, value, other.value)
               : make<mlir::arith::CmpIOp>(ofIntegers, value, other.value);
  }

private:
  mlir::Type element() const { return mlir::getElementTypeOrSelf(type()); }
  mlir::Type shaped(mlir::Type element) const {
    auto vector = llvm::dyn_cast<mlir::VectorType>(type());
    return vector ? vector.clone(element) : element;
  }
  Number constant(mlir::TypedAttr one) const {
    if (auto vector = llvm::dyn_cast<mlir::VectorType>(shaped(one.getType())))
      one = mlir::DenseElementsAttr::get(vector, mlir::Attribute(one));
    return make<mlir::arith::ConstantOp>(one);
  }

  mlir::OpBuilder *place = nullptr;
  mlir::LocationAttr loc; ///< null, as the others, until there is a value
  mlir::Value value;
  mlir::arith::FastMathFlags flags = mlir::arith::FastMathFlags::none;
};
using Numbers = llvm::ArrayRef<Number>;

inline Number operator+(Number x, Number y) {
  return x.combine<mlir::arith::AddFOp, mlir::arith::AddIOp>(y);
}
inline Number operator+(Number x, double y) { return x + x.number(y); }
inline Number operator+(double x, Number y) { return y.number(x) + y; }
inline Number operator-(Number x, Number y) {
  return x.combine<mlir::arith::SubFOp, mlir::arith::SubIOp>(y);
}
inline Number operator-(Number x, double y) { return x - x.number(y); }
inline Number operator-(double x, Number y) { return y.number(x) - y; }
inline Number operator*(Number x, Number y) {
  return x.combine<mlir::arith::MulFOp, mlir::arith::MulIOp>(y);
}
inline Number operator*(Number x, double y) { return x * x.number(y); }
inline Number operator*(double x, Number y) { return y.number(x) * y; }
inline Number operator/(Number x, Number y) {
  return x.combine<mlir::arith::DivFOp, mlir::arith::DivUIOp>(y);
}
inline Number operator/(Number x, double y) { return x / x.number(y); }
inline Number operator-(Number x) { return x.make<mlir::arith::NegFOp>(x); }

/// A comparison is false if a float is NaN.
#define WEFT_COMPARISON(symbol, ofFloats, ofIntegers)                          \
  inline Number operator symbol(Number x, Number y) {                          \
    return x.compare(mlir::arith::CmpFPredicate::ofFloats,                     \
                     mlir::arith::CmpIPredicate::ofIntegers, y);               \
  }                                                                            \
  inline Number operator symbol(Number x, double y) {                          \
    return x symbol x.number(y);                                               \
  }
WEFT_COMPARISON(<, OLT, ult)
WEFT_COMPARISON(>, OGT, ugt)
WEFT_COMPARISON(<=, OLE, ule)
WEFT_COMPARISON(>=, OGE, uge)
WEFT_COMPARISON(==, OEQ, eq)
WEFT_COMPARISON(!=, ONE, ne)
#undef WEFT_COMPARISON

/// Of the bits of integers, or of conditions.
inline Number operator&(Number x, Number y) {
  return x.make<mlir::arith::AndIOp>(x, y);
}
inline Number operator&(Number x, int64_t y) { return x & x.integer(y); }
inline Number operator|(Number x, Number y) {
  return x.make<mlir::arith::OrIOp>(x, y);
}
inline Number operator<<(Number x, int64_t by) {
  return x.make<mlir::arith::ShLIOp>(x, x.integer(by));
}
/// Zeros come from the left.
inline Number operator>>(Number x, int64_t by) {
  return x.make<mlir::arith::ShRUIOp>(x, x.integer(by));
}
/// The integer with its sign, divided by 2^by and rounded down.
inline Number halved(Number x, int64_t by) {
  return x.make<mlir::arith::ShRSIOp>(x, x.integer(by));
}

inline Number areNumbers(Number x, Number y) { // not NaN
  return x.make<mlir::arith::CmpFOp>(mlir::arith::CmpFPredicate::ORD, x, y);
}
inline Number select(Number condition, Number x, Number y) {
  return condition.make<mlir::arith::SelectOp>(condition, x, y);
}
inline Number fma(Number x, Number y, Number z) {
  return x.make<mlir::math::FmaOp>(x, y, z);
}
inline Number fma(Number x, double y, Number z) {
  return fma(x, x.number(y), z);
}
inline Number abs(Number x) { return x.make<mlir::math::AbsFOp>(x); }
inline Number floor(Number x) { return x.make<mlir::math::FloorOp>(x); }
inline Number withSignOf(Number size, Number x) {
  return x.make<mlir::math::CopySignOp>(size, x);
}
inline Number widened(Number x) {
  return x.to<mlir::arith::ExtFOp>(x.builder().getF64Type());
}
inline Number narrowed(Number x) {
  return x.to<mlir::arith::TruncFOp>(x.builder().getF32Type());
}
/// The bits of an f64, or the f64 with these bits.
inline Number bitsOf(Number x) {
  return x.to<mlir::arith::BitcastOp>(x.builder().getI64Type());
}
inline Number ofBits(Number bits) {
  return bits.to<mlir::arith::BitcastOp>(bits.builder().getF64Type());
}
/// The upper half of the bits of an f64.
inline Number highWord(Number x) {
  return (bitsOf(x) >> 32).to<mlir::arith::TruncIOp>(x.builder().getI32Type());
}
/// The f64 with this upper half, and zeros in the lower.
inline Number ofHighWord(Number high) {
  return ofBits(high.to<mlir::arith::ExtUIOp>(high.builder().getI64Type())
                << 32);
}

/// The nearest integer to an f64 of at most 2^51, ties to even, as of
/// math.roundeven, which is a call if the processor has no instruction for
/// it. The result for -0 is 0.
inline Number nearest(Number x) {
  constexpr double kUnitStep = 0x1.8p52; // the last bit has the value one
  return x + kUnitStep - kUnitStep;
}

/// The f64 x as an angle; 0 from 2^51 on, where nearest() ends. NaN for
/// infinities and NaN.
inline Number asAngle(Number x) {
  Number size = abs(x);
  return select(size < 0x1p51, x, size * 0.0);
}

/// c[0] + c[1] x + ...
inline Number polynomial(Number x, llvm::ArrayRef<double> coefficients) {
  Number sum = x.number(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    sum = fma(sum, x, x.number(coefficient));
  return sum;
}

/// Replaces an op on floats of one width by a formula of its operands.
template <typename Op> struct ByFormula : mlir::OpRewritePattern<Op> {
  ByFormula(mlir::MLIRContext *context, unsigned width,
            Number (*build)(Numbers operands))
      : mlir::OpRewritePattern<Op>(context, /*benefit=*/2), width(width),
        build(build) {}
  unsigned width;
  Number (*build)(Numbers operands);

  llvm::LogicalResult
  matchAndRewrite(Op op, mlir::PatternRewriter &rewriter) const override {
    auto type = llvm::dyn_cast<mlir::FloatType>(op.getType());
    if (!type || type.getWidth() != width || (width == 32 && !type.isF32()))
      return mlir::failure();
    auto operands = llvm::map_to_vector(op->getOperands(),
                                        [&](mlir::Value value) -> Number {
                                          return {rewriter, op.getLoc(), value};
                                        });
    rewriter.replaceOp(op, mlir::Value(build(operands)));
    return mlir::success();
  }
};

/// The angle of (x, y) by that of its first octant: `ofRatio` gets the lesser and
/// the greater of |x| and |y|, and gives the angle of their ratio, from 0 to pi/4.
template <typename OfRatio>
Number angleBy(Number y, Number x, OfRatio ofRatio) {
  Number height = abs(y), width = abs(x);
  Number isSteep = height > width;
  Number low = select(isSteep, width, height),
         high = select(isSteep, height, width);
  Number result = ofRatio(low, high);
  result = select(isSteep, y.number(std::numbers::pi / 2) - result, result);
  Number isLeft = withSignOf(x.number(1), x) < 0.0; // -0, too
  result = select(isLeft, y.number(std::numbers::pi) - result, result);
  return select(areNumbers(x, y), withSignOf(result, y), x + y);
}

} // namespace weft::elements

#endif // WEFT_COMPILER_CODEGEN_ELEMENTS_NUMBER_H
