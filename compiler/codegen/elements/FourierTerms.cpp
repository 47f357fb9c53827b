//===- FourierTerms.cpp - terms of Fourier transforms ---------------------===//
//
//   Y[k] = sum over j of X[j] exp(-2 pi i j k / n)
//
// A thread, or several that share it, adds up one Y[k]; the roots are a table
// of n numbers.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/codegen/elements/AttachElements.h"
#include "weft/compiler/codegen/elements/ComplexOps.h"
#include "weft/compiler/codegen/elements/ScalarOps.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/ops/LinearAlgebraOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;

namespace weft::elements {

static bool isInverse(FftOp op) {
  return op.getKind() == FftKind::IFFT || op.getKind() == FftKind::IRFFT;
}

/// exp(-2 pi i k / n), or exp(2 pi i k / n) / n for an inverse; quarters of a
/// turn are exact.
static DenseElementsAttr rootsOf(FftOp op, Type component) {
  int64_t n = op.getLength();
  double size = isInverse(op) ? 1.0 / n : 1, sign = isInverse(op) ? 1 : -1;
  Builder builder(op.getContext());
  SmallVector<APFloat> numbers;
  auto push = [&](double value) {
    double exact = std::fabs(value) < 1e-15 ? 0 : value;
    numbers.push_back(builder.getFloatAttr(component, size * exact).getValue());
  };
  for (int64_t k = 0; k < n; ++k) {
    double angle = 2 * M_PI * double(k) / double(n);
    push(std::cos(angle));
    push(sign * std::sin(angle));
  }
  auto type = RankedTensorType::get(int64_t(numbers.size()), component);
  return DenseElementsAttr::get(type, numbers);
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
    Value root =
        e.load(rootsTable(e, op, component), ComplexType::get(component), turn);
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
  static Value rootsTable(ElementEmitter &e, FftOp op, Type component) {
    OpBuilder::InsertionGuard guard(e.builder);
    e.enterDepth(0);
    return e.globalData(rootsOf(op, component));
  }
};
} // namespace

void attachFourierTerms(MLIRContext *context) {
  FftOp::attachInterface<FourierTerms>(*context);
}

} // namespace weft::elements
