//===- ScalarCode.cpp - elementwise ops on registers ----------------------===//
//
// One row for each elementwise op: its code on integers and floats, and on
// complex numbers where it has one.
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

/// No code for these numbers.
constexpr auto none = nullptr;

template <typename ConcreteOp, auto real, auto complex>
struct ScalarModel : ScalarCodeOpInterface::ExternalModel<
                         ScalarModel<ConcreteOp, real, complex>, ConcreteOp> {
  Value emitScalar(Operation *op, OpBuilder &builder,
                   ValueRange operands) const {
    auto concrete = cast<ConcreteOp>(op);
    if (hasComplex(op)) {
      if constexpr (!std::is_null_pointer_v<decltype(complex)>)
        return complex(ComplexEmitter{builder, op->getLoc()}, concrete,
                       operands);
      return {};
    }
    Type type = scalarType(tensorType(op->getOperand(0)).getElementType());
    if constexpr (!std::is_null_pointer_v<decltype(real)>)
      return real(ScalarEmitter{builder, op->getLoc(), type, operands},
                  concrete);
    return {};
  }
};
} // namespace

template <typename ConcreteOp, auto real, auto complex = none>
static void attach(MLIRContext *context) {
  ConcreteOp::template attachInterface<ScalarModel<ConcreteOp, real, complex>>(
      *context);
}

/// Bytes of small floats are not their registers' bits.
static Value emitBits(S s, BitcastOp op) {
  OpBuilder &b = s.b;
  Location loc = s.loc;
  Value value = s.in[0];
  Type from = tensorType(op.getInput()).getElementType(),
       to = tensorType(op.getResult()).getElementType();
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
  attach<NegOp, [](S s, NegOp) -> Value { return s.negative(); },
         [](C c, NegOp, ValueRange in) -> Value {
           return complex::NegOp::create(c.b, c.loc, in[0]);
         }>(c);
  attach<AbsOp, [](S s, AbsOp) -> Value { return s.absolute(); },
         [](C c, AbsOp, ValueRange in) -> Value {
           return complex::AbsOp::create(c.b, c.loc, in[0]);
         }>(c);
  attach<SignOp, [](S s, SignOp) -> Value { return s.sign(); },
         [](C c, SignOp, ValueRange in) -> Value {
           return complex::SignOp::create(c.b, c.loc, in[0]);
         }>(c);
  attach<ReluOp, [](S s, ReluOp) -> Value { return s.relu(); }>(c);
  attach<LogisticOp, [](S s, LogisticOp) -> Value { return s.logistic(); },
         [](C c, LogisticOp, ValueRange in) -> Value {
           return c.logistic(in[0]);
         }>(c);
  attach<ExpOp, [](S s, ExpOp) -> Value { return s.math<math::ExpOp>(); },
         [](C c, ExpOp, ValueRange in) -> Value {
           return complex::ExpOp::create(c.b, c.loc, in[0]);
         }>(c);
  attach<Expm1Op, [](S s, Expm1Op) -> Value { return s.math<math::ExpM1Op>(); },
         [](C c, Expm1Op, ValueRange in) -> Value { return c.expm1(in[0]); }>(
      c);
  attach<LogOp, [](S s, LogOp) -> Value { return s.math<math::LogOp>(); },
         [](C c, LogOp, ValueRange in) -> Value {
           return complex::LogOp::create(c.b, c.loc, in[0]);
         }>(c);
  attach<Log1pOp, [](S s, Log1pOp) -> Value { return s.math<math::Log1pOp>(); },
         [](C c, Log1pOp, ValueRange in) -> Value { return c.log1p(in[0]); }>(
      c);
  attach<SqrtOp, [](S s, SqrtOp) -> Value { return s.math<math::SqrtOp>(); },
         [](C c, SqrtOp, ValueRange in) -> Value {
           return complex::SqrtOp::create(c.b, c.loc, in[0]);
         }>(c);
  attach<RsqrtOp,
         [](S s, RsqrtOp) -> Value {
           return s.inverse(s.math<math::SqrtOp>());
         },
         [](C c, RsqrtOp, ValueRange in) -> Value {
           return c.inverse(complex::SqrtOp::create(c.b, c.loc, in[0]));
         }>(c);
  attach<TanhOp, [](S s, TanhOp) -> Value { return s.math<math::TanhOp>(); },
         [](C c, TanhOp, ValueRange in) -> Value {
           return complex::TanhOp::create(c.b, c.loc, in[0]);
         }>(c);
  attach<ErfOp, [](S s, ErfOp) -> Value { return s.math<math::ErfOp>(); }>(c);
  attach<FloorOp,
         [](S s, FloorOp) -> Value { return s.math<math::FloorOp>(); }>(c);
  attach<CeilOp, [](S s, CeilOp) -> Value { return s.math<math::CeilOp>(); }>(
      c);
  attach<RoundOp,
         [](S s, RoundOp) -> Value { return s.math<math::RoundOp>(); }>(c);
  attach<RoundEvenOp, [](S s, RoundEvenOp) -> Value {
    return s.math<math::RoundEvenOp>();
  }>(c);
  attach<CbrtOp, [](S s, CbrtOp) -> Value { return s.math<math::CbrtOp>(); }>(
      c);
  attach<SinOp, [](S s, SinOp) -> Value { return s.math<math::SinOp>(); },
         [](C c, SinOp, ValueRange in) -> Value {
           return complex::SinOp::create(c.b, c.loc, in[0]);
         }>(c);
  attach<CosOp, [](S s, CosOp) -> Value { return s.math<math::CosOp>(); },
         [](C c, CosOp, ValueRange in) -> Value {
           return complex::CosOp::create(c.b, c.loc, in[0]);
         }>(c);
  attach<TanOp, [](S s, TanOp) -> Value { return s.math<math::TanOp>(); },
         [](C c, TanOp, ValueRange in) -> Value {
           return complex::TanOp::create(c.b, c.loc, in[0]);
         }>(c);
}

static void attachConversions(MLIRContext *c) {
  attach<IsFiniteOp, [](S s, IsFiniteOp) -> Value { return s.isFinite(); }>(c);
  attach<ReducePrecisionOp, [](S s, ReducePrecisionOp op) -> Value {
    return s.reducePrecision(op.getExponentBits(), op.getMantissaBits());
  }>(c);
  attach<PopulationCountOp, [](S s, PopulationCountOp) -> Value {
    return math::CtPopOp::create(s.b, s.loc, s.in[0]);
  }>(c);
  attach<CountLeadingZerosOp, [](S s, CountLeadingZerosOp) -> Value {
    return math::CountLeadingZerosOp::create(s.b, s.loc, s.in[0]);
  }>(c);
  attach<NotOp, [](S s, NotOp) -> Value {
    return arith::XOrIOp::create(s.b, s.loc, s.in[0], s.number(-1));
  }>(c);
  attach<ConstrainOp, [](S s, ConstrainOp) -> Value { return s.in[0]; },
         [](C c, ConstrainOp, ValueRange in) -> Value { return in[0]; }>(c);
  attach<StopGradientOp, [](S s, StopGradientOp) -> Value { return s.in[0]; },
         [](C c, StopGradientOp, ValueRange in) -> Value { return in[0]; }>(c);
  attach<ConjOp, [](S s, ConjOp) -> Value { return s.in[0]; },
         [](C c, ConjOp, ValueRange in) -> Value { return c.conj(in[0]); }>(c);
  attach<RealOp, none,
         [](C c, RealOp, ValueRange in) -> Value { return c.re(in[0]); }>(c);
  attach<ImagOp, none,
         [](C c, ImagOp, ValueRange in) -> Value { return c.im(in[0]); }>(c);
  attach<ComplexOp, none, [](C c, ComplexOp, ValueRange in) -> Value {
    return c.make(in[0], in[1]);
  }>(c);
  attach<ConvertOp,
         [](S s, ConvertOp op) -> Value {
           return s.convert(op.getResult().getType().getElementType());
         },
         [](C c, ConvertOp op, ValueRange in) -> Value {
           return c.convert(tensorType(op.getInput()).getElementType(),
                            tensorType(op.getResult()).getElementType(), in[0]);
         }>(c);
  attach<BitcastOp, [](S s, BitcastOp op) -> Value { return emitBits(s, op); }>(
      c);
}

static void attachArithmetic(MLIRContext *c) {
  attach<AddOp,
         [](S s, AddOp) -> Value {
           return s.pick<arith::AddFOp, arith::AddIOp>();
         },
         [](C c, AddOp, ValueRange in) -> Value {
           return c.add(in[0], in[1]);
         }>(c);
  attach<SubOp,
         [](S s, SubOp) -> Value {
           return s.pick<arith::SubFOp, arith::SubIOp>();
         },
         [](C c, SubOp, ValueRange in) -> Value {
           return c.subtract(in[0], in[1]);
         }>(c);
  attach<MulOp,
         [](S s, MulOp) -> Value {
           return s.pick<arith::MulFOp, arith::MulIOp>();
         },
         [](C c, MulOp, ValueRange in) -> Value {
           return c.multiply(in[0], in[1]);
         }>(c);
  attach<DivOp,
         [](S s, DivOp) -> Value { return s.divide(/*remainder=*/false); },
         [](C c, DivOp, ValueRange in) -> Value {
           return c.divide(in[0], in[1]);
         }>(c);
  attach<RemOp,
         [](S s, RemOp) -> Value { return s.divide(/*remainder=*/true); }>(c);
  attach<Atan2Op, [](S s, Atan2Op) -> Value { return s.atan2(); }>(c);
  attach<MaxOp, [](S s, MaxOp) -> Value {
    return s.pick<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>();
  }>(c);
  attach<MinOp, [](S s, MinOp) -> Value {
    return s.pick<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>();
  }>(c);
  attach<PowOp, [](S s, PowOp) -> Value { return s.power(); },
         [](C c, PowOp, ValueRange in) -> Value {
           return c.power(in[0], in[1]);
         }>(c);
  attach<AndOp, [](S s, AndOp) -> Value {
    return arith::AndIOp::create(s.b, s.loc, s.in[0], s.in[1]);
  }>(c);
  attach<OrOp, [](S s, OrOp) -> Value {
    return arith::OrIOp::create(s.b, s.loc, s.in[0], s.in[1]);
  }>(c);
  attach<XorOp, [](S s, XorOp) -> Value {
    return arith::XOrIOp::create(s.b, s.loc, s.in[0], s.in[1]);
  }>(c);
  attach<ShiftLeftOp,
         [](S s, ShiftLeftOp) -> Value { return s.shift(/*left=*/true); }>(c);
  attach<ShiftRightLogicalOp, [](S s, ShiftRightLogicalOp) -> Value {
    return s.shift(/*left=*/false);
  }>(c);
  attach<ShiftRightArithmeticOp, [](S s, ShiftRightArithmeticOp) -> Value {
    return s.shiftArithmetic();
  }>(c);
  attach<CompareOp,
         [](S s, CompareOp op) -> Value { return s.compareOp(op.getKind()); },
         [](C c, CompareOp op, ValueRange in) -> Value {
           return c.compare(op.getKind(), in[0], in[1]);
         }>(c);
  attach<ClampOp, [](S s, ClampOp) -> Value { return s.clamp(); }>(c);
  attach<SelectOp,
         [](S s, SelectOp) -> Value {
           return arith::SelectOp::create(s.b, s.loc, s.in[0], s.in[1],
                                          s.in[2]);
         },
         [](C c, SelectOp, ValueRange in) -> Value {
           return arith::SelectOp::create(c.b, c.loc, in[0], in[1], in[2]);
         }>(c);
}

void attachScalarCode(MLIRContext *context) {
  attachFunctions(context);
  attachConversions(context);
  attachArithmetic(context);
}

} // namespace weft::elements
