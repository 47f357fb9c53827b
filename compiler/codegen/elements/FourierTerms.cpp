//===- FourierTerms.cpp - terms of Fourier transforms ---------------------===//
//
//   Y[k] = sum over j of X[j] exp(-2 pi i j k / n)
//
// A thread, or several together, add up one Y[k]; the roots are tables
// (UnitRoots.h).
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/codegen/elements/AttachElements.h"
#include "weft/compiler/codegen/elements/ComplexOps.h"
#include "weft/compiler/codegen/elements/ScalarOps.h"
#include "weft/compiler/codegen/elements/UnitRoots.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/ops/LinearAlgebraOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace weft::elements {

static bool isInverse(FftOp op) {
  return op.getKind() == FftKind::IFFT || op.getKind() == FftKind::IRFFT;
}

namespace {
struct FourierTerms : TermCodeOpInterface::ExternalModel<FourierTerms, FftOp> {
  ReduceKind getCombination(Operation *) const { return ReduceKind::Sum; }
  FailureOr<Value> emitTerm(Operation *of, ElementEmitter &e,
                            ArrayRef<Value> position,
                            ArrayRef<Value> term) const {
    auto op = cast<FftOp>(of);
    OpBuilder &b = e.builder;
    ComplexEmitter c{b, e.loc};
    int64_t n = op.getLength(), dim = op.getDim(),
            given = typeOf(op.getInput()).getDimSize(dim);
    Type component = componentType(typeOf(op.getInput()).getElementType());
    // The second half of the spectrum of a real result mirrors the first.
    Value at = term[0], mirrored;
    if (given < n) {
      mirrored = arith::CmpIOp::create(b, e.loc, arith::CmpIPredicate::sge, at,
                                       e.constant(given));
      Value other = arith::SubIOp::create(b, e.loc, e.constant(n), at);
      at = arith::SelectOp::create(b, e.loc, mirrored, other, at);
    }
    SmallVector<Value> dims(position);
    dims[dim] = at;
    FailureOr<Value> x = operandElement(e, op.getInput(), dims,
                                        typeOf(op.getInput()).getElementType());
    if (failed(x))
      return failure();
    Value turn = arith::RemUIOp::create(
        b, e.loc, arith::MulIOp::create(b, e.loc, position[dim], term[0]),
        e.constant(n));
    auto [rootRe, rootIm] = rootsOf(e, op, component).load(turn);
    Value root = c.make(rootRe, rootIm);
    if (op.getKind() == FftKind::RFFT)
      return c.make(arith::MulFOp::create(b, e.loc, *x, c.re(root)),
                    arith::MulFOp::create(b, e.loc, *x, c.im(root)));
    if (op.getKind() != FftKind::IRFFT)
      return c.multiply(*x, root);
    // The real part of x or of its conjugate, times the root.
    Value im = c.im(*x);
    if (mirrored)
      im = arith::SelectOp::create(b, e.loc, mirrored,
                                   arith::NegFOp::create(b, e.loc, im), im);
    return arith::SubFOp::create(
               b, e.loc, arith::MulFOp::create(b, e.loc, c.re(*x), c.re(root)),
               arith::MulFOp::create(b, e.loc, im, c.im(root)))
        .getResult();
  }
  /// exp(-2 pi i k / n), or exp(2 pi i k / n) / n for an inverse.
  static UnitRoots rootsOf(ElementEmitter &e, FftOp op, Type component) {
    OpBuilder::InsertionGuard guard(e.builder);
    e.enterDepth(0);
    int64_t n = op.getLength();
    return isInverse(op) ? UnitRoots(e, component, n, true, 1.0 / double(n))
                         : UnitRoots(e, component, n);
  }
};
} // namespace

void attachFourierTerms(MLIRContext *context) {
  FftOp::attachInterface<FourierTerms>(*context);
}

} // namespace weft::elements
