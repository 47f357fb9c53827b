//===- WindowTerms.cpp - terms of convolutions and windows ----------------===//
//
//   weft.convolution          the product at each element of the kernel's window
//                             and each input feature
//   weft.reduce_window        each element of the window
//   weft.select_and_scatter   each window that may have the element: the source
//                             value if it selects the element, or 0
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/codegen/elements/AttachElements.h"
#include "weft/compiler/codegen/elements/ScalarOps.h"
#include "weft/compiler/codegen/elements/WindowPlace.h"

using namespace mlir;

namespace weft::elements {

namespace {
/// The positions of a term of a convolution in both operands; `seen.inside` is
/// whether it is outside of the padding.
struct ConvolutionPlace {
  WindowPlace seen;
  SmallVector<Value> from, with;
};

ConvolutionPlace placeOf(ConvolutionOp op, ElementEmitter &e,
                         ArrayRef<Value> position, ArrayRef<Value> term) {
  RankedTensorType lhs = typeOf(op.getLhs()), rhs = typeOf(op.getRhs()),
                   result = typeOf(op.getResult());
  ArrayRef<int64_t> l = op.getLhsDims(), r = op.getRhsDims(),
                    out = op.getResultDims();
  ConvolutionPlace place{{e, {}},
                         SmallVector<Value>(lhs.getRank()),
                         SmallVector<Value>(rhs.getRank())};
  auto &[seen, from, with] = place;
  for (auto [i, window] : llvm::enumerate(op.getWindows())) {
    from[l[2 + i]] = seen.at(window, position[out[2 + i]], term[i],
                             lhs.getDimSize(l[2 + i]));
    with[r[2 + i]] = term[i];
  }
  Value feature = position[out[1]], channel = term.back();
  from[l[0]] = position[out[0]];
  from[l[1]] = with[r[1]] = channel;
  with[r[0]] = feature;
  // The group of the feature, times `size`.
  auto groupStart = [&](int64_t groups, int64_t size) {
    int64_t each = result.getDimSize(out[1]) / groups;
    Value group =
        arith::DivUIOp::create(e.builder, e.loc, feature, e.constant(each));
    return e.mul(group, size);
  };
  if (op.getBatchGroups() > 1)
    from[l[0]] = e.add(
        from[l[0]], groupStart(op.getBatchGroups(), result.getDimSize(out[0])));
  if (op.getFeatureGroups() > 1)
    from[l[1]] =
        e.add(channel, groupStart(op.getFeatureGroups(), rhs.getDimSize(r[1])));
  return place;
}

struct ConvolutionTerms
    : TermCodeOpInterface::ExternalModel<ConvolutionTerms, ConvolutionOp> {
  ReduceKind getCombination(Operation *) const { return ReduceKind::Sum; }
  FailureOr<Value> emitTerm(Operation *of, ElementEmitter &e,
                            ArrayRef<Value> position,
                            ArrayRef<Value> term) const {
    auto op = cast<ConvolutionOp>(of);
    Type element = typeOf(op.getResult()).getElementType();
    if (elementCount(op.getLhs()) == 0)
      return zeroOf(e, element);
    ConvolutionPlace place = placeOf(op, e, position, term);
    FailureOr<Value> x = operandElement(e, op.getLhs(), place.from, element);
    FailureOr<Value> weight =
        operandElement(e, op.getRhs(), place.with, element);
    if (failed(x) || failed(weight))
      return failure();
    return place.seen.orElse(emitProduct(e, element, *x, *weight),
                             zeroOf(e, element));
  }
  FailureOr<Value> emitFactor(Operation *of, ElementEmitter &e, unsigned number,
                              ArrayRef<Value> position,
                              ArrayRef<Value> term) const {
    auto op = cast<ConvolutionOp>(of);
    Value operand = op->getOperand(number);
    Type element = typeOf(operand).getElementType();
    if (elementCount(operand) == 0)
      return zeroOf(e, element);
    ConvolutionPlace place = placeOf(op, e, position, term);
    FailureOr<Value> value =
        operandElement(e, operand, number ? place.with : place.from, element);
    if (failed(value) || number == 1)
      return value;
    return place.seen.orElse(*value, zeroOf(e, element));
  }
};

struct ReduceWindowTerms
    : TermCodeOpInterface::ExternalModel<ReduceWindowTerms, ReduceWindowOp> {
  ReduceKind getCombination(Operation *op) const {
    return cast<ReduceWindowOp>(op).getKind();
  }
  FailureOr<Value> emitTerm(Operation *of, ElementEmitter &e,
                            ArrayRef<Value> position,
                            ArrayRef<Value> term) const {
    auto op = cast<ReduceWindowOp>(of);
    RankedTensorType from = typeOf(op.getInput());
    Type element = typeOf(op.getResult()).getElementType();
    Value neutral = emitNeutral(e.builder, e.loc, op.getKind(), element);
    if (from.getNumElements() == 0)
      return neutral;
    WindowPlace place{e, {}};
    SmallVector<Value> dims;
    for (auto [dim, window] : llvm::enumerate(op.getWindows()))
      dims.push_back(
          place.at(window, position[dim], term[dim], from.getDimSize(dim)));
    FailureOr<Value> value = operandElement(e, op.getInput(), dims, element);
    if (failed(value))
      return failure();
    return place.orElse(*value, neutral);
  }
};

struct SelectTerms
    : TermCodeOpInterface::ExternalModel<SelectTerms, SelectAndScatterOp> {
  ReduceKind getCombination(Operation *) const { return ReduceKind::Sum; }
  /// Emits a term. The windows that may select the element are the last window
  /// that starts at or before the element, and the windows before it; term 0 is
  /// the first of these.
  FailureOr<Value> emitTerm(Operation *of, ElementEmitter &e,
                            ArrayRef<Value> position,
                            ArrayRef<Value> term) const {
    auto op = cast<SelectAndScatterOp>(of);
    RankedTensorType type = typeOf(op.getResult()),
                     windows = typeOf(op.getSource());
    Type element = type.getElementType();
    OpBuilder &b = e.builder;
    if (windows.getNumElements() == 0)
      return zeroOf(e, element);
    Value exists;
    SmallVector<Value> window;
    for (auto [dim, each] : llvm::enumerate(op.getWindows())) {
      int64_t count = llvm::divideCeil(each.size, each.stride),
              // The number of windows that negative padding removes at the
          // front.
          skipped = each.low < 0 ? llvm::divideCeil(-each.low, each.stride) : 0;
      Value begin =
          e.add(position[dim], e.constant(each.low + skipped * each.stride));
      Value last =
          arith::DivUIOp::create(b, e.loc, begin, e.constant(each.stride));
      Value at = e.add(e.add(last, term[dim]), e.constant(1 - count - skipped));
      int64_t n = windows.getDimSize(dim);
      Value is = arith::CmpIOp::create(b, e.loc, arith::CmpIPredicate::ult, at,
                                       e.constant(n));
      exists =
          exists ? arith::AndIOp::create(b, e.loc, exists, is).getResult() : is;
      at = arith::MaxSIOp::create(b, e.loc, at, e.constant(0));
      window.push_back(arith::MinSIOp::create(b, e.loc, at, e.constant(n - 1)));
    }
    Value mine =
        e.linearIndex(type.getShape(), e.makeIndex(position, e.depth()));
    FailureOr<Value> best = selectedPosition(e, op, window);
    FailureOr<Value> source =
        operandElement(e, op.getSource(), window, element);
    if (failed(best) || failed(source))
      return failure();
    Value isMine =
        arith::CmpIOp::create(b, e.loc, arith::CmpIPredicate::eq, *best, mine);
    if (exists)
      isMine = arith::AndIOp::create(b, e.loc, isMine, exists);
    return arith::SelectOp::create(b, e.loc, isMine, *source,
                                   zeroOf(e, element))
        .getResult();
  }
};
} // namespace

void attachWindowTerms(MLIRContext *context) {
  ConvolutionOp::attachInterface<ConvolutionTerms>(*context);
  ReduceWindowOp::attachInterface<ReduceWindowTerms>(*context);
  SelectAndScatterOp::attachInterface<SelectTerms>(*context);
}

} // namespace weft::elements
