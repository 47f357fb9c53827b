//===- ScanNests.cpp - cumulative ops and orders --------------------------===//

#include "weft/compiler/codegen/elements/OwnNests.h"
#include "weft/compiler/codegen/elements/RowNest.h"
#include "weft/compiler/codegen/elements/ScalarOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;

namespace weft::elements {

/// log(e^a + e^b) without overflow.
static Value emitLogSumExp(ElementEmitter &e, Type type, Value a, Value b) {
  OpBuilder &builder = e.builder;
  Location loc = e.loc;
  Value larger = arith::MaximumFOp::create(builder, loc, a, b);
  Value apart = arith::SubFOp::create(builder, loc, a, b);
  Value falling = arith::NegFOp::create(
      builder, loc, math::AbsFOp::create(builder, loc, apart));
  Value more = math::Log1pOp::create(
      builder, loc, math::ExpOp::create(builder, loc, falling));
  Value sum = arith::AddFOp::create(builder, loc, larger, more);
  Value infinity = arith::ConstantOp::create(
      builder, loc,
      builder.getFloatAttr(type, std::numeric_limits<double>::infinity()));
  Value isInfinite = arith::CmpFOp::create(
      builder, loc, arith::CmpFPredicate::OEQ,
      math::AbsFOp::create(builder, loc, larger), infinity);
  return arith::SelectOp::create(builder, loc, isInfinite, larger, sum);
}

LogicalResult emitCumulative(ElementEmitter &e, CumulativeOp op) {
  constexpr ReduceKind kinds[] = {ReduceKind::Sum, ReduceKind::Prod,
                                  ReduceKind::Max, ReduceKind::Min,
                                  ReduceKind::Max};
  ReduceKind kind = kinds[static_cast<unsigned>(op.getKind())];
  RowNest row(e, op.getInput(), op.getDim());
  Value counter = e.openLoop(
      row.size, emitNeutral(e.builder, e.loc, kind, row.elementType));
  Value sum = e.innermostLoop().getRegionIterArgs()[0];
  Value position =
      op.getReverse() ? arith::SubIOp::create(e.builder, e.loc,
                                              e.constant(row.size - 1), counter)
                            .getResult()
                      : counter;
  FailureOr<Value> value = e.element(op.getInput(), row.at(position));
  if (failed(value))
    return failure();
  e.enterDepth(e.depth());
  Value next =
      op.getKind() == ScanKind::LogSumExp
          ? emitLogSumExp(e, computeType(row.elementType), sum, *value)
          : emitCombine(e.builder, e.loc, kind, row.elementType, sum, *value);
  row.put(op.getExclusive() ? sum : next, op.getResult(), position);
  row.close(next);
  return success();
}

/// Emits the first position of the largest, or smallest, element of each row.
static LogicalResult emitArgument(ElementEmitter &e, Operation *op, int64_t dim,
                                  bool largest) {
  Value input = op->getOperand(0);
  RowNest row(e, input, dim);
  FailureOr<Value> first = e.element(input, row.at(e.constant(0)));
  if (failed(first))
    return failure();
  e.enterDepth(e.depth());
  Value counter = e.openLoop(row.size, {*first, e.constant(0)});
  ValueRange best = e.innermostLoop().getRegionIterArgs();
  FailureOr<Value> value = e.element(input, row.at(counter));
  if (failed(value))
    return failure();
  e.enterDepth(e.depth());
  Value better = largest ? row.less(row.elementType, best[0], *value)
                         : row.less(row.elementType, *value, best[0]);
  if (!largest && isa<FloatType>(row.elementType)) {
    // NaN comes first, as in the loop above.
    Value isBefore = row.both(row.isNan(*value), row.isNumber(best[0]));
    better = row.either(row.both(better, row.isNumber(best[0])), isBefore);
  }
  SmallVector<Value> next{row.select(better, *value, best[0]),
                          row.select(better, counter, best[1])};
  SmallVector<Value> found = row.close(next);
  row.put(e.narrowed(found[1], op->getResult(0)), op->getResult(0), {});
  return success();
}

/// Emits k searches, each for the first largest of the elements that come after
/// the previous result in descending order.
LogicalResult emitTopK(ElementEmitter &e, TopKOp op) {
  using P = arith::CmpIPredicate;
  RowNest row(e, op.getInput(), op.getDim());
  Value none = e.constant(-1);
  Value start = emitNeutral(e.builder, e.loc, ReduceKind::Max, row.elementType);
  Value k =
      e.openLoop(typeOf(op.getValues()).getDimSize(op.getDim()), {start, none});
  Value lastValue = e.innermostLoop().getRegionIterArgs()[0],
        last = e.innermostLoop().getRegionIterArgs()[1];
  Value i = e.openLoop(row.size, {start, none});
  ValueRange best = e.innermostLoop().getRegionIterArgs();
  FailureOr<Value> value = e.element(op.getInput(), row.at(i));
  if (failed(value))
    return failure();
  e.enterDepth(e.depth());
  Type type = row.elementType;
  Value isSmaller = row.less(type, *value, lastValue),
        isLarger = row.less(type, lastValue, *value);
  Value later = row.compare(P::sgt, i, last);
  // Equal elements are ordered by position; larger elements were taken before.
  Value truth =
      arith::ConstantOp::create(e.builder, e.loc, e.builder.getBoolAttr(true));
  Value notLarger = arith::XOrIOp::create(e.builder, e.loc, isLarger, truth);
  Value isLeft = row.either(isSmaller, row.both(notLarger, later));
  isLeft = row.either(isLeft, row.compare(P::eq, last, none));
  Value better = row.either(row.compare(P::eq, best[1], none),
                            row.less(type, best[0], *value));
  better = row.both(better, isLeft);
  SmallVector<Value> found = row.close(
      {row.select(better, *value, best[0]), row.select(better, i, best[1])});
  row.put(found[0], op.getValues(), k);
  row.put(e.narrowed(found[1], op.getPositions()), op.getPositions(), k);
  row.close(found);
  return success();
}

LogicalResult emitArgMax(ElementEmitter &e, ArgMaxOp op) {
  return emitArgument(e, op, op.getDim(), true);
}

LogicalResult emitArgMin(ElementEmitter &e, ArgMinOp op) {
  return emitArgument(e, op, op.getDim(), false);
}

} // namespace weft::elements
