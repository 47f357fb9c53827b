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
  auto step = [&](Value counter, ValueRange sum) -> LoopNest::Carried {
    Value position = counter;
    if (op.getReverse())
      position = arith::SubIOp::create(e.builder, e.loc,
                                       e.constant(row.size - 1), counter);
    FailureOr<Value> value = e.element(op.getInput(), row.at(position));
    if (failed(value))
      return failure();
    e.enterDepth(e.depth());
    Value next =
        op.getKind() == ScanKind::LogSumExp
            ? emitLogSumExp(e, computeType(row.elementType), sum[0], *value)
            : emitCombine(e.builder, e.loc, kind, row.elementType, sum[0],
                          *value);
    row.put(op.getExclusive() ? sum[0] : next, op.getResult(), position);
    return LoopNest::Values{next};
  };
  return e.loop(row.size, emitNeutral(e.builder, e.loc, kind, row.elementType),
                step);
}

/// Emits the first position of the largest, or smallest, element of each row by
/// two loops, of which a processor makes vectors. The first finds the element,
/// the second the least position of an equal element, or of a NaN if the row has
/// one.
static LogicalResult emitInTwoLoops(ElementEmitter &e, Operation *op,
                                    const RowNest &row, ReduceKind kind) {
  OpBuilder &b = e.builder;
  Value input = op->getOperand(0);
  auto found = row.fold(
      input, emitNeutral(b, e.loc, kind, row.elementType),
      [&](Value i, Value value, ValueRange best) -> LoopNest::Values {
        return {emitCombine(b, e.loc, kind, row.elementType, best[0], value)};
      });
  if (failed(found))
    return failure();
  Value most = found->front();
  bool isNarrow = row.size <= std::numeric_limits<int32_t>::max();
  Type type = isNarrow ? b.getI32Type() : b.getI64Type();
  Value none = e.constant(row.size, type);
  auto isMost = [&](Value value) {
    if (!isa<FloatType>(most.getType()))
      return row.compare(arith::CmpIPredicate::eq, value, most);
    return row.either(
        arith::CmpFOp::create(b, e.loc, arith::CmpFPredicate::OEQ, value, most),
        row.both(row.isNan(value), row.isNan(most)));
  };
  auto first =
      row.fold(input, none,
               [&](Value i, Value value, ValueRange least) -> LoopNest::Values {
                 Value at = row.select(isMost(value), e.resized(i, type), none);
                 return {arith::MinUIOp::create(b, e.loc, least[0], at)};
               });
  if (failed(first))
    return failure();
  row.put(
      e.narrowed(e.resized(first->front(), b.getI64Type()), op->getResult(0)),
      op->getResult(0), {});
  return success();
}

/// Emits the first position of the largest, or smallest, element of each row.
static LogicalResult emitArgument(ElementEmitter &e, Operation *op, int64_t dim,
                                  bool largest) {
  Value input = op->getOperand(0);
  RowNest row(e, input, dim);
  if (e.hasVectors() && dim + 1 == typeOf(input).getRank())
    return emitInTwoLoops(e, op, row,
                          largest ? ReduceKind::Max : ReduceKind::Min);
  FailureOr<Value> first = e.element(input, row.at(e.constant(0)));
  if (failed(first))
    return failure();
  e.enterDepth(e.depth());
  auto choose = [&](Value counter, Value value,
                    ValueRange best) -> LoopNest::Values {
    Value better = largest ? row.less(row.elementType, best[0], value)
                           : row.less(row.elementType, value, best[0]);
    if (!largest && isa<FloatType>(row.elementType)) {
      // NaN comes first, as in the loop above.
      Value isBefore = row.both(row.isNan(value), row.isNumber(best[0]));
      better = row.either(row.both(better, row.isNumber(best[0])), isBefore);
    }
    return {row.select(better, value, best[0]),
            row.select(better, counter, best[1])};
  };
  auto found = row.fold(input, {*first, e.constant(0)}, choose);
  if (failed(found))
    return failure();
  row.put(e.narrowed((*found)[1], op->getResult(0)), op->getResult(0), {});
  return success();
}

namespace {
/// The k largest elements so far of a row, in the memory of the results: in
/// descending order, equal ones by position. Free slots have position -1.
///
///   input 3 9 5, k = 2:   3 -  ->  9 3  ->  9 5
struct LargestElements {
  ElementEmitter &e;
  TopKOp op;
  RowNest row;
  int64_t size; ///< k

  LargestElements(ElementEmitter &e [[clang::lifetimebound]], TopKOp op)
      : e(e), op(op), row(e, op.getInput(), op.getDim()),
        size(typeOf(op.getValues()).getDimSize(op.getDim())) {}
  Value load(Value result, Value slot) {
    RankedTensorType type = typeOf(result);
    return e.load(e.memoryOf(result), type.getElementType(),
                  e.linearIndex(type.getShape(), row.at(slot)));
  }
  /// Whether a slot is free or has a smaller element.
  Value gives(Value held, Value position, Value value) {
    Value isFree = row.compare(arith::CmpIPredicate::eq, position,
                               e.constant(-1, position.getType()));
    return row.either(isFree, row.less(row.elementType, held, value));
  }
  void clear();
  SmallVector<Value> insert(Value value, Value position, ValueRange last);
  /// Changes the slot of one step of an insertion.
  SmallVector<Value> shift(Value value, Value position, Value step,
                           ValueRange last);
};
} // namespace

void LargestElements::clear() {
  e.each(size, [&](Value slot) {
    row.put(emitNeutral(e.builder, e.loc, ReduceKind::Max, row.elementType),
            op.getValues(), slot);
    row.put(e.narrowed(e.constant(-1), op.getPositions()), op.getPositions(),
            slot);
  });
}

/// Inserts an element that is larger than the last one, of the slot k - 1;
/// returns the last one after that. Slots change from the last to the first, so
/// that each still finds the element of the slot before it.
SmallVector<Value> LargestElements::insert(Value value, Value position,
                                           ValueRange last) {
  Value slots = row.select(gives(last[0], last[1], value), e.constant(size),
                           e.constant(0));
  return e.fold(e.constant(0), slots, e.constant(1), last,
                [&](Value step, ValueRange carried) {
                  return shift(value, position, step, carried);
                });
}

SmallVector<Value> LargestElements::shift(Value value, Value position,
                                          Value step, ValueRange carried) {
  using P = arith::CmpIPredicate;
  Value slot =
            arith::SubIOp::create(e.builder, e.loc, e.constant(size - 1), step),
        isFirst = row.compare(P::eq, slot, e.constant(0)),
        before = row.select(isFirst, slot, e.add(slot, e.constant(-1)));
  SmallVector<Value> held{load(op.getValues(), slot),
                          load(op.getPositions(), slot)},
      above{load(op.getValues(), before), load(op.getPositions(), before)},
      given{value, position};
  Value takes = gives(held[0], held[1], value);
  Value no =
      arith::ConstantOp::create(e.builder, e.loc, e.builder.getBoolAttr(false));
  Value moves = row.select(isFirst, no, gives(above[0], above[1], value));
  SmallVector<Value> next;
  for (int i = 0; i < 2; ++i)
    next.push_back(
        row.select(takes, row.select(moves, above[i], given[i]), held[i]));
  row.put(next[0], op.getValues(), slot);
  row.put(next[1], op.getPositions(), slot);
  Value isLast = row.compare(P::eq, step, e.constant(0));
  return {row.select(isLast, next[0], carried[0]),
          row.select(isLast, next[1], carried[1])};
}

/// Emits one search of the row, which keeps the largest elements so far: most
/// elements are compared with the last of these alone.
LogicalResult emitTopK(ElementEmitter &e, TopKOp op) {
  LargestElements largest(e, op);
  const RowNest &row = largest.row;
  largest.clear();
  Value none = e.narrowed(e.constant(-1), op.getPositions());
  return row.fold(
      op.getInput(),
      {emitNeutral(e.builder, e.loc, ReduceKind::Max, row.elementType), none},
      [&](Value i, Value value, ValueRange last) {
        return largest.insert(value, e.narrowed(i, op.getPositions()), last);
      });
}

LogicalResult emitArgMax(ElementEmitter &e, ArgMaxOp op) {
  return emitArgument(e, op, op.getDim(), true);
}

LogicalResult emitArgMin(ElementEmitter &e, ArgMinOp op) {
  return emitArgument(e, op, op.getDim(), false);
}

} // namespace weft::elements
