//===- FetchedOperands.cpp - window and shift factors ---------------------===//

#include "weft/passes/sharding/FetchedOperands.h"

#include "weft/dialects/coll/Coll.h"
#include "weft/dialects/weft/local/LocalBuilder.h"
#include "weft/layout/FetchTraffic.h"
#include "weft/layout/Sizes.h"
#include "weft/passes/sharding/LocalBlocks.h"

#include <cstdlib>

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
  // If one shard has all results, the others read nothing: their positions are
  // after the operand.
  if (to <= c && map.modulus == 0)
    range.block = 2 * range.divisor * from + std::abs(range.offset) +
                  (std::abs(range.step) + 1) * range.count;
  auto [first, last] = bounds(to);
  range.complete =
      to == 0 || (map.divisor == 1 &&
                  ((map.modulus > 0 && map.modulus <= from) ||
                   (map.offset + first >= 0 && map.offset + last < from)));
  return range;
}

/// The positions of the range, those of the operand times the divisor.
static Value positionsOf(LocalBuilder &b, const FetchedDim &dim,
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
  return at;
}

/// A tensor<countxi1> that is true for the elements of the range that exist.
static Value existing(LocalBuilder &b, const FetchedDim &dim,
                      const FetchedRange &range) {
  OpBuilder &builder = b.builder;
  llvm::SmallVector<int64_t> shape{range.count};
  Value at = positionsOf(b, dim, range);
  Value valid = AndOp::create(
      builder, b.loc, b.compare(CompareKind::GE, at, b.integer(0, shape)),
      b.compare(CompareKind::LT, at,
                b.integer(dim.size * range.divisor, shape)));
  if (range.divisor > 1) {
    Value rest =
        RemOp::create(builder, b.loc, at, b.integer(range.divisor, shape));
    valid =
        AndOp::create(builder, b.loc, valid,
                      b.compare(CompareKind::EQ, rest, b.integer(0, shape)));
  }
  return valid;
}

/// Whether each device has all that it reads.
static bool sendsNothing(const FetchedDim &dim, const FetchedRange &range) {
  return dim.size > 0 && range.count > 0 &&
         mostPositionsSent({dim.size, range.block, range.step, range.offset,
                            range.divisor, range.modulus},
                           shardCount(dim.axes), range.count) == 0;
}

namespace {
/// The part of its own block that a device reads if nobody sends anything.
struct OwnRange {
  int64_t start = 0, stepOfStart = 0; ///< start + stepOfStart * coordinate
  int64_t low = 0, high = 0;          ///< padding of the block for all devices
};
} // namespace

/// The range of positions in each device's own block; nothing if a device reads
/// another one's.
static std::optional<OwnRange> findOwnRange(const FetchedDim &dim,
                                            const FetchedRange &range) {
  int64_t shards = shardCount(dim.axes), held = shardSize(dim.size, shards);
  if (range.divisor != 1 || range.modulus != 0 || range.step < 1 ||
      !sendsNothing(dim, range))
    return std::nullopt;
  OwnRange own{range.offset, range.block - held, 0, 0};
  bool isAny = false, isEqual = true;
  int64_t first = 0, reach = range.step * (range.count - 1);
  for (int64_t k = 0; k < shards; ++k) {
    int64_t begin = range.block * k + range.offset;
    // Whether the device reads an element that exists.
    int64_t skipped = begin < 0 ? (range.step - 1 - begin) / range.step : 0;
    if (skipped >= range.count || begin + range.step * skipped >= dim.size)
      continue;
    int64_t start = begin - held * k;
    own.low = std::max(own.low, -start);
    own.high = std::max(own.high, start + reach + 1 - held);
    isEqual &= !isAny || start == first;
    first = isAny ? first : start;
    isAny = true;
  }
  if (!isAny)
    own.high = std::max<int64_t>(0, reach + 1 - held);
  if (isEqual)
    own.start = first, own.stepOfStart = 0;
  if ((own.stepOfStart != 0 && range.step != 1) ||
      own.low + own.high > held + reach)
    return std::nullopt;
  return own;
}

/// Takes each element of the range from the device's own block, by its number.
static Value takeOwn(LocalBuilder &b, Value block, const FetchedDim &dim,
                     const FetchedRange &range) {
  llvm::SmallVector<int64_t> shape{range.count};
  int64_t held = shardSize(dim.size, shardCount(dim.axes));
  Value at = positionsOf(b, dim, range);
  if (range.divisor > 1)
    at = DivOp::create(b.builder, b.loc, at, b.integer(range.divisor, shape));
  Value first = blockOffset(b.builder, b.loc, dim.mesh, dim.axes, held);
  at = SubOp::create(b.builder, b.loc, at, b.along(first, shape));
  return b.takeAlong(block, b.clamp(at, 0, held - 1), dim.dim);
}

/// Reads the range from the device's own block.
static Value readOwn(LocalBuilder &b, Value block, const FetchedDim &dim,
                     const FetchedRange &range, const OwnRange &own) {
  auto type = cast<RankedTensorType>(block.getType());
  llvm::SmallVector<int64_t> starts(type.getRank(), 0), low(starts),
      high(starts), strides(type.getRank(), 1), sizes(type.getShape());
  low[dim.dim] = own.low;
  high[dim.dim] = own.high;
  if (own.low + own.high > 0)
    block =
        PadOp::create(b.builder, b.loc, block, low, high,
                      llvm::SmallVector<int64_t>(type.getRank(), 0), Value());
  if (own.stepOfStart == 0) {
    llvm::SmallVector<int64_t> limits(sizes);
    starts[dim.dim] = own.start + own.low;
    strides[dim.dim] = range.step;
    limits[dim.dim] = starts[dim.dim] + range.step * (range.count - 1) + 1;
    if (cast<RankedTensorType>(block.getType()).getDimSize(dim.dim) ==
        range.count)
      return block;
    return SliceOp::create(b.builder, b.loc, block, starts, limits, strides);
  }
  sizes[dim.dim] = range.count;
  llvm::SmallVector<Value> from(type.getRank(), b.integer(0));
  from[dim.dim] = AddOp::create(
      b.builder, b.loc,
      blockOffset(b.builder, b.loc, dim.mesh, dim.axes, own.stepOfStart),
      b.integer(own.start + own.low));
  return DynamicSliceOp::create(b.builder, b.loc, block, from, sizes);
}

Value weft::fetchRange(OpBuilder &builder, Location loc, Value block,
                       const FetchedDim &dim, const FetchedRange &range,
                       Value fill, StringAttr reason) {
  auto type = cast<RankedTensorType>(block.getType());
  llvm::SmallVector<int64_t> shape(type.getShape());
  shape[dim.dim] = range.count;
  auto number = [&](int64_t value) { return builder.getI64IntegerAttr(value); };
  LocalBuilder b{builder, loc};
  std::optional<OwnRange> own = findOwnRange(dim, range);
  Value fetched;
  if (own)
    fetched = readOwn(b, block, dim, range, *own);
  else if (sendsNothing(dim, range))
    fetched = takeOwn(b, block, dim, range);
  else
    fetched = coll::FetchOp::create(
        builder, loc, type.clone(shape), block, number(dim.dim),
        number(dim.size), number(range.block), number(range.step),
        number(range.offset), number(range.divisor), number(range.modulus),
        groupOf(dim.mesh, dim.axes), reason);
  if (!fill || range.complete || range.count == 0)
    return fetched;
  Value valid = b.along(existing(b, dim, range), shape, dim.dim);
  return SelectOp::create(builder, loc, valid, fetched, b.along(fill, shape));
}

bool weft::isFetchedBefore(const ShardingRule &rule, const PositionMap &map) {
  return map.operandUnit == 0 &&
         (rule.factors[map.factor].kind == FactorKind::Reduce ||
          isFetchable(rule, map.factor));
}

unsigned weft::fetchOperand(OpBuilder &builder, const OpBlocks &blocks,
                            unsigned operand, BlockPlacement &placement,
                            llvm::MutableArrayRef<Value> operands) {
  Operation *op = blocks.ruled.op;
  const ShardingRule &rule = blocks.ruled.rule;
  unsigned numFetches = 0;
  for (auto [dim, factors] : llvm::enumerate(rule.operands[operand])) {
    if (factors.size() != 1 || blocks.axes[factors.front()].empty())
      continue;
    unsigned factor = factors.front();
    const PositionMap *map = findPositions(rule, operand, factor);
    bool reduced = rule.factors[factor].kind == FactorKind::Reduce;
    if (!map || !isFetchedBefore(rule, *map))
      continue;
    auto type = cast<RankedTensorType>(op->getOperand(operand).getType());
    FetchedDim from{static_cast<unsigned>(dim), type.getDimSize(dim),
                    blocks.mesh, blocks.axes[factor]};
    int64_t shards = shardCount(from.axes);
    // Positions are those of the result or, if the factor is reduced, of
    // another operand, including those in its padding, which are multiplied
    // too.
    const TensorFactors &result = rule.results[map->result];
    int64_t to =
        reduced
            ? shardSize(rule.factors[factor].size, shards) * shards
            : placement.globalShape(
                  map->result)[llvm::find(result, factors) - result.begin()];
    FetchedRange range =
        fetchedRange(*map, rule.factors[factor].kind, from.size, to, shards);
    Value fill;
    if (map->fillOperand >= 0)
      fill = operands[map->fillOperand];
    else if (map->fill)
      fill = ConstantOp::create(
          builder, op->getLoc(),
          neutralData(*map->fill,
                      RankedTensorType::get({}, type.getElementType())));
    operands[operand] = fetchRange(
        builder, op->getLoc(), operands[operand], from, range, fill,
        builder.getStringAttr(
            op->getName().getStringRef() + " needs other shards of dimension " +
            llvm::Twine(dim) + " (" +
            stringifyFactorKind(rule.factors[factor].kind) + ")"));
    placement.setFetched(operand, dim);
    numFetches += !sendsNothing(from, range);
  }
  return numFetches;
}
