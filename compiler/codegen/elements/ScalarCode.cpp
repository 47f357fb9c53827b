//===- ScalarCode.cpp - elementwise ops on registers ----------------------===//
//
// A table with a row for each elementwise op: code on integers and floats, and
// on complex numbers if the op has such code.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/codegen/elements/AttachElements.h"
#include "weft/compiler/codegen/elements/ComplexOps.h"
#include "weft/compiler/codegen/elements/ScalarEmitter.h"
#include "weft/compiler/codegen/elements/SmallFloatOps.h"
#include "weft/dialects/weft/ElementTypes.h"

#include "mlir/Dialect/Complex/IR/Complex.h"

using namespace mlir;

namespace weft::elements {

namespace {
using S = const ScalarEmitter &;
using C = const ComplexEmitter &;

/// The entry of an op without code for these numbers.
constexpr auto none = nullptr;

/// Whether an op's code takes its operands as numbers or as bits.
enum class Reads { Numbers, Bits };

/// Emits bf16 arithmetic in f32, rounded after each op, as processors have no
/// bf16 arithmetic. LLVM would round each element by a call.
template <auto real>
Value emitWide(OpBuilder &builder, auto op, Type type, ValueRange operands) {
  Location loc = op->getLoc();
  if (!type.isBF16())
    return real(ScalarEmitter{builder, loc, type, operands}, op);
  Type f32 = builder.getF32Type(), bf16 = builder.getBF16Type();
  SmallVector<Value> wide;
  for (Value operand : operands)
    wide.push_back(
        operand.getType() == bf16
            ? arith::ExtFOp::create(builder, loc, f32, operand).getResult()
            : operand);
  Value result = real(ScalarEmitter{builder, loc, f32, wide}, op);
  if (!result || result.getType() != f32 ||
      typeOf(op->getResult(0)).getElementType() != bf16)
    return result;
  return arith::TruncFOp::create(builder, loc, bf16, result);
}

template <typename ConcreteOp, auto real, auto complex, Reads reads>
struct ScalarModel
    : ScalarCodeOpInterface::ExternalModel<
          ScalarModel<ConcreteOp, real, complex, reads>, ConcreteOp> {
  Value emitScalar(Operation *op, OpBuilder &builder,
                   ValueRange operands) const {
    auto concrete = cast<ConcreteOp>(op);
    Location loc = op->getLoc();
    if (hasComplex(op)) {
      if constexpr (!std::is_null_pointer_v<decltype(complex)>)
        return complex(ComplexEmitter{builder, loc}, concrete, operands);
      return {};
    }
    Type type = scalarType(typeOf(op->getOperand(0)).getElementType());
    if constexpr (std::is_null_pointer_v<decltype(real)>)
      return {};
    else if constexpr (reads == Reads::Bits)
      return real(ScalarEmitter{builder, loc, type, operands}, concrete);
    else
      return emitWide<real>(builder, concrete, type, operands);
  }
};
} // namespace

template <typename ConcreteOp, auto real, auto complex = none,
          Reads reads = Reads::Numbers>
static void attachScalar(MLIRContext *context) {
  ConcreteOp::template attachInterface<
      ScalarModel<ConcreteOp, real, complex, reads>>(*context);
}

// Entries of common kinds: a function of math, a method of an emitter, or one
// of two or three ops of arith by the type.
template <typename MathOp>
static constexpr auto function =
    [](S s, auto) -> Value { return s.math<MathOp>(); };
template <auto method>
static constexpr auto by = [](S s, auto) -> Value { return (s.*method)(); };
template <typename... ArithOps>
static constexpr auto oneOf =
    [](S s, auto) -> Value { return s.pick<ArithOps...>(); };
/// Emits an op of another dialect on the same operands.
template <typename OtherOp>
static constexpr auto op =
    [](S s, auto) -> Value { return OtherOp::create(s.b, s.loc, s.in); };
template <typename ComplexOp>
static constexpr auto complexOp = [](C c, auto, ValueRange in) -> Value {
  return ComplexOp::create(c.b, c.loc, in[0]);
};
template <auto method>
static constexpr auto complexBy = [](C c, auto, ValueRange in) -> Value {
  if constexpr (std::is_invocable_v<decltype(method), C, Value>)
    return (c.*method)(in[0]);
  else
    return (c.*method)(in[0], in[1]);
};
static constexpr auto same = [](S s, auto) -> Value { return s.in[0]; };
static constexpr auto sameComplex = [](C, auto, ValueRange in) -> Value {
  return in[0];
};

/// A small float's bytes differ from its register's bits.
static Value emitBits(S s, BitcastOp op) {
  OpBuilder &b = s.b;
  Location loc = s.loc;
  Value value = s.in[0];
  Type from = typeOf(op.getInput()).getElementType(),
       to = typeOf(op.getResult()).getElementType();
  Type byte = b.getI8Type(), integer = computeType(to);
  if (bytesOf(to) > 1)
    return integer == value.getType()
               ? value
               : arith::BitcastOp::create(b, loc, integer, value).getResult();
  Value bits = isSmallFloat(from) ? smallToBits(b, loc, from, value) : value;
  if (isSmallFloat(to))
    return smallFromBits(b, loc, to,
                         bits.getType() == byte
                             ? bits
                             : arith::ExtUIOp::create(b, loc, byte, bits));
  return bits.getType() == integer
             ? bits
             : arith::TruncIOp::create(b, loc, integer, bits);
}

static void attachFunctions(MLIRContext *c) {
  attachScalar<NegOp, by<&ScalarEmitter::negative>, complexOp<complex::NegOp>>(
      c);
  attachScalar<AbsOp, by<&ScalarEmitter::absolute>, complexOp<complex::AbsOp>>(
      c);
  attachScalar<SignOp, by<&ScalarEmitter::sign>, complexOp<complex::SignOp>>(c);
  attachScalar<ReluOp, by<&ScalarEmitter::relu>>(c);
  attachScalar<LogisticOp, by<&ScalarEmitter::logistic>,
               complexBy<&ComplexEmitter::logistic>>(c);
  attachScalar<ExpOp, function<math::ExpOp>, complexOp<complex::ExpOp>>(c);
  attachScalar<Expm1Op, function<math::ExpM1Op>,
               complexBy<&ComplexEmitter::expm1>>(c);
  attachScalar<LogOp, function<math::LogOp>, complexOp<complex::LogOp>>(c);
  attachScalar<Log1pOp, function<math::Log1pOp>,
               complexBy<&ComplexEmitter::log1p>>(c);
  attachScalar<SqrtOp, function<math::SqrtOp>, complexOp<complex::SqrtOp>>(c);
  attachScalar<RsqrtOp,
               [](S s, RsqrtOp) -> Value {
                 return s.inverse(s.math<math::SqrtOp>());
               },
               [](C c, RsqrtOp, ValueRange in) -> Value {
                 return c.inverse(complex::SqrtOp::create(c.b, c.loc, in[0]));
               }>(c);
  attachScalar<TanhOp, function<math::TanhOp>, complexOp<complex::TanhOp>>(c);
  attachScalar<ErfOp, function<math::ErfOp>>(c);
  attachScalar<ErfcOp, function<math::ErfcOp>>(c);
  attachScalar<FloorOp, function<math::FloorOp>>(c);
  attachScalar<CeilOp, function<math::CeilOp>>(c);
  attachScalar<RoundOp, function<math::RoundOp>>(c);
  attachScalar<RoundEvenOp, function<math::RoundEvenOp>>(c);
  attachScalar<CbrtOp, function<math::CbrtOp>>(c);
  attachScalar<SinOp, function<math::SinOp>, complexOp<complex::SinOp>>(c);
  attachScalar<CosOp, function<math::CosOp>, complexOp<complex::CosOp>>(c);
  attachScalar<TanOp, function<math::TanOp>, complexOp<complex::TanOp>>(c);
}

static void attachConversions(MLIRContext *c) {
  attachScalar<IsFiniteOp, by<&ScalarEmitter::isFinite>>(c);
  attachScalar<ReducePrecisionOp, [](S s, ReducePrecisionOp op) -> Value {
    return s.reducePrecision(op.getExponentBits(), op.getMantissaBits());
  }>(c);
  attachScalar<PopulationCountOp, op<math::CtPopOp>>(c);
  attachScalar<CountLeadingZerosOp, op<math::CountLeadingZerosOp>>(c);
  attachScalar<NotOp, [](S s, NotOp) -> Value {
    return arith::XOrIOp::create(s.b, s.loc, s.in[0], s.number(-1));
  }>(c);
  attachScalar<ConstrainOp, same, sameComplex, Reads::Bits>(c);
  attachScalar<StopGradientOp, same, sameComplex, Reads::Bits>(c);
  attachScalar<ConjOp, same, complexBy<&ComplexEmitter::conj>, Reads::Bits>(c);
  attachScalar<RealOp, none, complexBy<&ComplexEmitter::re>>(c);
  attachScalar<ImagOp, none, complexBy<&ComplexEmitter::im>>(c);
  attachScalar<ComplexOp, none, complexBy<&ComplexEmitter::make>>(c);
  attachScalar<ConvertOp,
               [](S s, ConvertOp op) -> Value {
                 return s.convert(op.getResult().getType().getElementType());
               },
               [](C c, ConvertOp op, ValueRange in) -> Value {
                 return c.convert(typeOf(op.getInput()).getElementType(),
                                  typeOf(op.getResult()).getElementType(),
                                  in[0]);
               }>(c);
  attachScalar<BitcastOp, emitBits, none, Reads::Bits>(c);
}

static void attachArithmetic(MLIRContext *c) {
  attachScalar<AddOp, oneOf<arith::AddFOp, arith::AddIOp>,
               complexBy<&ComplexEmitter::add>>(c);
  attachScalar<SubOp, oneOf<arith::SubFOp, arith::SubIOp>,
               complexBy<&ComplexEmitter::subtract>>(c);
  attachScalar<MulOp, oneOf<arith::MulFOp, arith::MulIOp>,
               complexBy<&ComplexEmitter::multiply>>(c);
  attachScalar<
      DivOp, [](S s, DivOp) -> Value { return s.divide(/*remainder=*/false); },
      complexBy<&ComplexEmitter::divide>>(c);
  attachScalar<RemOp, [](S s, RemOp) -> Value {
    return s.divide(/*remainder=*/true);
  }>(c);
  attachScalar<Atan2Op, function<math::Atan2Op>>(c);
  attachScalar<MaxOp, oneOf<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>>(
      c);
  attachScalar<MinOp, oneOf<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>>(
      c);
  attachScalar<PowOp, by<&ScalarEmitter::power>,
               complexBy<&ComplexEmitter::power>>(c);
  attachScalar<AndOp, op<arith::AndIOp>>(c);
  attachScalar<OrOp, op<arith::OrIOp>>(c);
  attachScalar<XorOp, op<arith::XOrIOp>>(c);
  attachScalar<ShiftLeftOp, [](S s, ShiftLeftOp) -> Value {
    return s.shift(/*left=*/true);
  }>(c);
  attachScalar<ShiftRightLogicalOp, [](S s, ShiftRightLogicalOp) -> Value {
    return s.shift(/*left=*/false);
  }>(c);
  attachScalar<ShiftRightArithmeticOp, by<&ScalarEmitter::shiftArithmetic>>(c);
  attachScalar<CompareOp,
               [](S s, CompareOp op) -> Value {
                 return s.compareOp(op.getKind());
               },
               [](C c, CompareOp op, ValueRange in) -> Value {
                 return c.compare(op.getKind(), in[0], in[1]);
               }>(c);
  attachScalar<ClampOp, by<&ScalarEmitter::clamp>>(c);
  attachScalar<SelectOp, op<arith::SelectOp>,
               [](C c, SelectOp, ValueRange in) -> Value {
                 return arith::SelectOp::create(c.b, c.loc, in[0], in[1],
                                                in[2]);
               }>(c);
}

void attachScalarCode(MLIRContext *context) {
  attachFunctions(context);
  attachConversions(context);
  attachArithmetic(context);
}

} // namespace weft::elements
