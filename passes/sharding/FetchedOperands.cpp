//===- FetchedOperands.cpp - window and shift factors ---------------------===//

#include "weft/passes/sharding/FetchedOperands.h"

#include "weft/dialects/coll/Coll.h"
#include "weft/dialects/weft/local/LocalBuilder.h"
#include "weft/passes/sharding/LocalBlocks.h"

using namespace weft;
using namespace mlir;

const PositionMap *weft::findPositions(const ShardingRule &rule,
                                       unsigned operand, unsigned factor) {
  for (const PositionMap &map : rule.positions)
    if (map.operand == operand && map.factor == factor)
      return &map;
  return nullptr;
}

bool weft::isFetchable(const ShardingRule &rule, unsigned factor) {
  bool any = false;
  for (auto [operand, tensor] : llvm::enumerate(rule.operands))
    for (const DimFactors &dim : tensor) {
      if (!llvm::is_contained(dim, factor))
        continue;
      const PositionMap *map = findPositions(rule, operand, factor);
      if (!map && llvm::is_contained(rule.inits, operand))
        continue; // it has the result's layout
      if (dim.size() != 1 || !map)
        return false;
      any = true;
    }
  return any;
}

FetchedRange weft::fetchedRange(const PositionMap &map, FactorKind kind,
                                int64_t from, int64_t to, int64_t shards) {
  FetchedRange range;
  if (map.operandUnit != 0) {
    // Sizes count elements of the unaligned block.
    range.block = range.count =
        shardSize(to / map.resultUnit, shards) * map.resultUnit;
    return range;
  }
  int64_t c = shardSize(to, shards);
  int64_t reach = map.dilation * (map.window - 1);
  // The least and the greatest position that `count` results read, relative to
  // the first one's.
  auto bounds = [&](int64_t count) {
    int64_t last = map.scale * std::max<int64_t>(count - 1, 0);
    return std::pair(std::min<int64_t>(0, last) + std::min<int64_t>(0, reach),
                     std::max<int64_t>(0, last) + std::max<int64_t>(0, reach));
  };
  range.block = map.scale * c;
  range.offset = map.offset;
  range.divisor = map.divisor;
  range.modulus = map.modulus;
  if (kind == FactorKind::Shift) {
    range.step = map.scale;
    range.count = c;
  } else {
    auto [least, most] = bounds(c);
    range.offset += least;
    // A result without elements needs no window.
    range.count = most - least + (c > 0 ? 1 : 0);
  }
  auto [first, last] = bounds(to);
  range.complete =
      to == 0 || (map.divisor == 1 &&
                  ((map.modulus > 0 && map.modulus <= from) ||
                   (map.offset + first >= 0 && map.offset + last < from)));
  return range;
}

/// A tensor<countxi1> that is true for the elements of the range that exist.
static Value existing(LocalBuilder &b, const FetchedDim &dim,
                      const FetchedRange &range) {
  OpBuilder &builder = b.builder;
  llvm::SmallVector<int64_t> shape{range.count};
  auto apply = [&](auto op, Value x, int64_t y) -> Value {
    return decltype(op)::create(builder, b.loc, x, b.integer(y, shape));
  };
  Value start = blockOffset(builder, b.loc, dim.mesh, dim.axes, range.block);
  Value at = apply(MulOp(), b.positions(range.count), range.step);
  at = AddOp::create(builder, b.loc, at, b.along(start, shape));
  at = apply(AddOp(), at, range.offset);
  if (range.modulus > 0) {
    at = apply(AddOp(), apply(RemOp(), at, range.modulus), range.modulus);
    at = apply(RemOp(), at, range.modulus);
  }
  Value valid = AndOp::create(
      builder, b.loc, b.compare(CompareKind::GE, at, b.integer(0, shape)),
      b.compare(CompareKind::LT, at,
                b.integer(dim.size * range.divisor, shape)));
  if (range.divisor > 1)
    valid = AndOp::create(builder, b.loc, valid,
                          b.compare(CompareKind::EQ,
                                    apply(RemOp(), at, range.divisor),
                                    b.integer(0, shape)));
  return valid;
}

Value weft::fetchRange(OpBuilder &builder, Location loc, Value block,
                       const FetchedDim &dim, const FetchedRange &range,
                       Value fill, StringAttr reason) {
  auto type = cast<RankedTensorType>(block.getType());
  llvm::SmallVector<int64_t> shape(type.getShape());
  shape[dim.dim] = range.count;
  auto number = [&](int64_t value) { return builder.getI64IntegerAttr(value); };
  Value fetched = coll::FetchOp::create(
      builder, loc, type.clone(shape), block, number(dim.dim), number(dim.size),
      number(range.block), number(range.step), number(range.offset),
      number(range.divisor), number(range.modulus), groupOf(dim.mesh, dim.axes),
      reason);
  if (!fill || range.complete || range.count == 0)
    return fetched;
  LocalBuilder b{builder, loc};
  Value valid = b.along(existing(b, dim, range), shape, dim.dim);
  return SelectOp::create(builder, loc, valid, fetched, b.along(fill, shape));
}
