//===- LocalShifts.cpp - one device's part of ops that move elements ------===//
//
// Local forms of shifts. A fetched operand dimension already has the result's
// elements: the local op keeps only the other dimensions.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/weft/ShapeChecks.h"
#include "weft/dialects/weft/local/LocalBuilder.h"

using namespace mlir;
using namespace weft;

/// In dimensions that do not align, every device fetches the elements of its
/// shard of the result: 18 each in 9x4 to 4x9 over "x"=2.
SmallVector<Value> ReshapeOp::buildLocal(OpBuilder &builder,
                                         ValueRange operands,
                                         TypeRange resultTypes,
                                         const LocalPlacement &placement) {
  ShardingRule rule = getShardingRule();
  Value value = operands[0];
  auto to = cast<RankedTensorType>(resultTypes[0]);
  SmallVector<int64_t> sizes(typeOf(value).getShape());
  auto dimOf = [](const TensorFactors &factors, unsigned factor) {
    return llvm::find(factors, DimFactors{factor}) - factors.begin();
  };
  for (const PositionMap &map : rule.positions) {
    if (placement.shards(map.factor) == 1)
      continue;
    unsigned first = dimOf(rule.operands[0], map.factor), last = first + 1;
    for (int64_t unit = 1; unit < map.operandUnit; ++last)
      unit *= typeOf(getInput()).getDimSize(last);
    auto product = [&](unsigned from, unsigned to) {
      int64_t result = 1;
      for (unsigned dim = from; dim < to; ++dim)
        result *= sizes[dim];
      return result;
    };
    int64_t before = product(0, first), inner = product(first, last),
            behind = product(last, sizes.size());
    value =
        ReshapeOp::create(builder, getLoc(), value, {before, inner, behind});
    int64_t count =
        to.getDimSize(dimOf(rule.results[0], map.factor)) * map.resultUnit;
    value = placement.fetch(builder, getLoc(), value, map.factor, 1, count, 0,
                            count);
    sizes[first] = count;
    std::fill(sizes.begin() + first + 1, sizes.begin() + last, 1);
  }
  return {ReshapeOp::create(builder, getLoc(), to, value)};
}

SmallVector<Value> SliceOp::buildLocal(OpBuilder &builder, ValueRange operands,
                                       TypeRange resultTypes,
                                       const LocalPlacement &placement) {
  SmallVector<int64_t> start(getStart()), limit(getLimit()),
      stride(getStride());
  RankedTensorType from = typeOf(getInput()), to = typeOf(getResult());
  for (unsigned dim = 0; dim < from.getRank(); ++dim)
    if (placement.isFetched(0, dim) ||
        from.getDimSize(dim) == to.getDimSize(dim)) {
      start[dim] = 0;
      limit[dim] = typeOf(operands[0]).getDimSize(dim);
      stride[dim] = 1;
    }
  if (operands[0].getType() == resultTypes[0])
    if (typeOf(operands[0]).getShape() == ArrayRef<int64_t>(limit))
      return {operands[0]};
  return {SliceOp::create(builder, getLoc(), resultTypes[0], operands[0], start,
                          limit, stride)};
}

SmallVector<Value> PadOp::buildLocal(OpBuilder &builder, ValueRange operands,
                                     TypeRange resultTypes,
                                     const LocalPlacement &placement) {
  SmallVector<int64_t> low(getLow()), high(getHigh()), interior(getInterior());
  bool moves = false;
  for (unsigned dim = 0; dim < low.size(); ++dim) {
    // A fetched dimension contains its padding already, and padding between
    // elements does not change a dimension of at most one element.
    if (placement.isFetched(0, dim) || (low[dim] == 0 && high[dim] == 0 &&
                                        typeOf(getInput()).getDimSize(dim) < 2))
      low[dim] = high[dim] = interior[dim] = 0;
    moves |= low[dim] != 0 || high[dim] != 0 || interior[dim] != 0;
  }
  if (!moves)
    return {operands[0]};
  Value value = operands.size() > 1 ? operands[1] : Value();
  return {PadOp::create(builder, getLoc(), resultTypes[0], operands[0], value,
                        low, high, interior)};
}

SmallVector<Value> ConcatenateOp::buildLocal(OpBuilder &builder,
                                             ValueRange operands,
                                             TypeRange resultTypes,
                                             const LocalPlacement &placement) {
  unsigned dim = getDim();
  if (!placement.isFetched(0, dim))
    return cloneWithTypes(builder, *this, operands, resultTypes);
  LocalBuilder b{builder, getLoc()};
  auto shape = cast<RankedTensorType>(resultTypes[0]).getShape();
  Value at = b.positions(shape[dim],
                         placement.resultOffset(builder, getLoc(), 0, dim));
  int64_t end = typeOf(getResult()).getDimSize(dim);
  Value result = operands.back();
  // Inputs from the last to the first: positions before an input's end belong
  // to it or to inputs before it.
  for (unsigned i = operands.size() - 1; i > 0; --i) {
    end -= typeOf(getInputs()[i]).getDimSize(dim);
    Value before = b.compare(CompareKind::LT, at, b.integer(end, shape[dim]));
    result = SelectOp::create(builder, getLoc(), b.along(before, shape, dim),
                              operands[i - 1], result);
  }
  return {result};
}

SmallVector<Value> ReverseOp::buildLocal(OpBuilder &builder,
                                         ValueRange operands,
                                         TypeRange resultTypes,
                                         const LocalPlacement &placement) {
  SmallVector<int64_t> dims;
  for (int64_t dim : getDims())
    if (!placement.isFetched(0, dim) && typeOf(getInput()).getDimSize(dim) > 1)
      dims.push_back(dim);
  if (dims.empty())
    return {operands[0]};
  return {ReverseOp::create(builder, getLoc(), operands[0], dims)};
}

SmallVector<Value> RollOp::buildLocal(OpBuilder &builder, ValueRange operands,
                                      TypeRange resultTypes,
                                      const LocalPlacement &placement) {
  SmallVector<int64_t> shift(getShift());
  for (unsigned dim = 0; dim < shift.size(); ++dim) {
    int64_t size = typeOf(getInput()).getDimSize(dim);
    if (placement.isFetched(0, dim) || size == 0 || shift[dim] % size == 0)
      shift[dim] = 0;
  }
  if (llvm::all_of(shift, [](int64_t by) { return by == 0; }))
    return {operands[0]};
  return {RollOp::create(builder, getLoc(), operands[0], shift)};
}
