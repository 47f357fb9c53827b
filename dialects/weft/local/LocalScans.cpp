//===- LocalScans.cpp - one device's part of scans and selections ---------===//
//
// Local scans. Example: the cumulative sum of 1 2 | 3 4 | 5 6 over three
// devices. Each scans its block (1 3 | 3 7 | 5 11), the last elements 3 7 11
// are gathered and scanned without themselves (0 3 10), and each adds its
// entry: 1 3 | 6 10 | 15 21.
//
// The results of arg_max, arg_min and top_k of each block are gathered. arg_max
// and arg_min are applied to them again, those of top_k are sorted. The
// gathered results are in the order of their positions, so that the first of
// equal elements stays the first.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/weft/ShapeChecks.h"
#include "weft/dialects/weft/local/LocalBuilder.h"
#include "weft/dialects/weft/ops/ScanOps.h"

using namespace mlir;
using namespace weft;

/// log(e^a + e^b), also where both are -inf.
static Value logAddExp(OpBuilder &builder, Location loc, Value a, Value b) {
  Value most = MaxOp::create(builder, loc, a, b);
  auto type = typeOf(a);
  Value nothing =
      ConstantOp::create(builder, loc, neutralData(ReduceKind::Max, type));
  auto part = [&](Value x) -> Value {
    return ExpOp::create(builder, loc, SubOp::create(builder, loc, x, most));
  };
  Value sum = AddOp::create(
      builder, loc, most,
      LogOp::create(builder, loc,
                    AddOp::create(builder, loc, part(a), part(b))));
  Value empty = CompareOp::create(builder, loc, CompareKind::EQ, most, nothing);
  return SelectOp::create(builder, loc, empty, most, sum);
}

static Value combine(OpBuilder &builder, Location loc, ScanKind kind, Value a,
                     Value b) {
  switch (kind) {
  case ScanKind::Sum:
    return AddOp::create(builder, loc, a, b);
  case ScanKind::Prod:
    return MulOp::create(builder, loc, a, b);
  case ScanKind::Max:
    return MaxOp::create(builder, loc, a, b);
  case ScanKind::Min:
    return MinOp::create(builder, loc, a, b);
  case ScanKind::LogSumExp:
    return logAddExp(builder, loc, a, b);
  }
  return {};
}

/// The element at `start` along a dimension, which stays with size 1.
static Value elementAt(LocalBuilder &b, Value value, int64_t dim, Value start) {
  SmallVector<int64_t> sizes(typeOf(value).getShape());
  SmallVector<Value> starts(sizes.size(), b.integer(0));
  sizes[dim] = 1;
  starts[dim] = start;
  return DynamicSliceOp::create(b.builder, b.loc, value, starts, sizes);
}

SmallVector<Value> CumulativeOp::buildLocal(OpBuilder &builder,
                                            ValueRange operands,
                                            TypeRange resultTypes,
                                            const LocalPlacement &placement) {
  auto local = cloneWithTypes(builder, *this, operands, resultTypes);
  unsigned dim = getDim();
  auto shape = cast<RankedTensorType>(resultTypes[0]).getShape();
  if (placement.shards(dim) == 1 || shape[dim] == 0)
    return local;
  LocalBuilder b{builder, getLoc()};
  Value inclusive = getExclusive()
                        ? CumulativeOp::create(builder, getLoc(), getKind(),
                                               operands[0], dim, getReverse())
                              .getResult()
                        : local[0];
  Value total = elementAt(b, inclusive, dim,
                          b.integer(getReverse() ? 0 : shape[dim] - 1));
  Value totals = placement.gather(builder, getLoc(), total, dim, dim);
  Value before = CumulativeOp::create(builder, getLoc(), getKind(), totals, dim,
                                      getReverse(), /*exclusive=*/true);
  Value carry =
      elementAt(b, before, dim, placement.coordinate(builder, getLoc(), dim));
  // The shape without the dimension of size 1, from which it is broadcast along
  // the block.
  SmallVector<int64_t> others, kept;
  for (int64_t other = 0; other < static_cast<int64_t>(shape.size()); ++other)
    if (other != static_cast<int64_t>(dim)) {
      others.push_back(other);
      kept.push_back(shape[other]);
    }
  carry = ReshapeOp::create(builder, getLoc(), carry, kept);
  carry = BroadcastOp::create(builder, getLoc(), carry, shape, others);
  return {combine(builder, getLoc(), getKind(), carry, local[0])};
}

//===----------------------------------------------------------------------===//
// Positions of the largest and smallest
//===----------------------------------------------------------------------===//

/// Converts local positions to global positions.
static Value toGlobal(LocalBuilder &b, Value positions, int64_t blockSize,
                      Value coordinate) {
  Value offset =
      MulOp::create(b.builder, b.loc, coordinate, b.integer(blockSize));
  Type element = typeOf(positions).getElementType();
  if (element != offset.getType())
    offset = ConvertOp::create(b.builder, b.loc,
                               RankedTensorType::get({}, element), offset);
  return AddOp::create(b.builder, b.loc, positions,
                       b.along(offset, typeOf(positions).getShape()));
}

/// The value with a new dimension of size 1 at `dim`.
static Value expanded(LocalBuilder &b, Value value, int64_t dim) {
  SmallVector<int64_t> shape(typeOf(value).getShape());
  shape.insert(shape.begin() + dim, 1);
  return ReshapeOp::create(b.builder, b.loc, value, shape);
}

template <typename Op>
static SmallVector<Value>
buildLocalArg(Op op, ReduceKind kind, OpBuilder &builder, ValueRange operands,
              TypeRange resultTypes, const LocalPlacement &placement) {
  int64_t dim = op.getDim();
  Location loc = op.getLoc();
  if (placement.shards(dim) == 1)
    return cloneWithTypes(builder, op, operands, resultTypes);
  LocalBuilder b{builder, loc};
  auto type = cast<RankedTensorType>(resultTypes[0]);
  Value position = Op::create(builder, loc, type, operands[0],
                              builder.getI64IntegerAttr(dim));
  position = toGlobal(b, position, typeOf(operands[0]).getDimSize(dim),
                      placement.coordinate(builder, loc, dim));
  Value best = ReduceOp::create(builder, loc, kind, operands[0], {dim});
  Value bests =
      placement.gather(builder, loc, expanded(b, best, dim), dim, dim);
  Value positions =
      placement.gather(builder, loc, expanded(b, position, dim), dim, dim);
  Value winner =
      Op::create(builder, loc, type, bests, builder.getI64IntegerAttr(dim));
  // The winner's position: positions of all others are replaced by 0.
  auto shape = typeOf(positions).getShape();
  auto numbers = typeOf(positions);
  SmallVector<int64_t> others;
  for (int64_t other = 0; other < numbers.getRank(); ++other)
    if (other != dim)
      others.push_back(other);
  Value shard = IotaOp::create(builder, loc, numbers,
                               builder.getI64IntegerAttr(dim), Value());
  Value wins =
      b.compare(CompareKind::EQ, shard,
                BroadcastOp::create(builder, loc, winner, shape, others));
  Value zero = ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(numbers, Attribute(builder.getIntegerAttr(
                                          numbers.getElementType(), 0))));
  Value chosen = SelectOp::create(builder, loc, wins, positions, zero);
  return {ReduceOp::create(builder, loc, ReduceKind::Sum, chosen, {dim})};
}

SmallVector<Value> ArgMaxOp::buildLocal(OpBuilder &builder, ValueRange operands,
                                        TypeRange resultTypes,
                                        const LocalPlacement &placement) {
  return buildLocalArg(*this, ReduceKind::Max, builder, operands, resultTypes,
                       placement);
}
SmallVector<Value> ArgMinOp::buildLocal(OpBuilder &builder, ValueRange operands,
                                        TypeRange resultTypes,
                                        const LocalPlacement &placement) {
  return buildLocalArg(*this, ReduceKind::Min, builder, operands, resultTypes,
                       placement);
}

//===----------------------------------------------------------------------===//
// Top-k
//===----------------------------------------------------------------------===//

SmallVector<Value> TopKOp::buildLocal(OpBuilder &builder, ValueRange operands,
                                      TypeRange resultTypes,
                                      const LocalPlacement &placement) {
  int64_t dim = getDim();
  if (placement.shards(dim) == 1)
    return cloneWithTypes(builder, *this, operands, resultTypes);
  LocalBuilder b{builder, getLoc()};
  RankedTensorType block = typeOf(operands[0]);
  SmallVector<int64_t> shape(cast<RankedTensorType>(resultTypes[0]).getShape());
  SmallVector<int64_t> few = shape;
  few[dim] = std::min(shape[dim], block.getDimSize(dim));
  auto numbers = cast<RankedTensorType>(resultTypes[1]).getElementType();
  auto local = TopKOp::create(
      builder, getLoc(),
      TypeRange{block.clone(few), RankedTensorType::get(few, numbers)},
      operands[0], getDimAttr());
  Value positions = toGlobal(b, local.getPositions(), block.getDimSize(dim),
                             placement.coordinate(builder, getLoc(), dim));
  Value all = placement.gather(builder, getLoc(), local.getValues(), dim, dim);
  positions = placement.gather(builder, getLoc(), positions, dim, dim);
  auto merged = SortOp::create(
      builder, getLoc(), TypeRange{all.getType(), positions.getType()},
      ValueRange{all, positions}, getDimAttr(), builder.getI64IntegerAttr(1),
      /*descending=*/builder.getUnitAttr());
  return {b.cutTo(merged.getResult(0), shape),
          b.cutTo(merged.getResult(1), shape)};
}
