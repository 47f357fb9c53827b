//===- LocalLookups.cpp - one device's part of look-ups -------------------===//
//
// Rows 0 to 7 over two devices, indices 2, 9, 5. Starts that one device clamps
// are first clamped to the whole dimension (2, 7, 5), and all are then counted
// from the device's first row: device 1 with rows 4 to 7 looks for -2, 3, 1 and
// has two of them. A row that it lacks is absent, -0 (gather: the devices'
// results are summands of the value) or not written (scatter).
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/weft/ShapeChecks.h"
#include "weft/dialects/weft/local/AbsentElement.h"
#include "weft/dialects/weft/local/LocalBuilder.h"
#include "weft/dialects/weft/ops/IndexingOps.h"
#include "weft/layout/Sizes.h"

using namespace mlir;
using namespace weft;

namespace {
/// The starts of blocks along the sharded dimensions of a tensor, relative to
/// the device's shard.
struct LocalStarts {
  LocalBuilder b;
  const LocalPlacement &placement;
  ShardingRule rule;
  RankedTensorType global; ///< type of the tensor, operand 0

  bool isSharded(int64_t dim) const {
    const DimFactors &factors = rule.operands[0][dim];
    return factors.size() == 1 &&
           rule.factors[factors[0]].kind == FactorKind::Lookup &&
           placement.shards(factors[0]) > 1;
  }
  bool anySharded() const {
    for (int64_t dim = 0; dim < global.getRank(); ++dim)
      if (isSharded(dim))
        return true;
    return false;
  }
  /// The first position that the device has, as tensor<i64>; null for 0.
  Value first(int64_t dim) {
    if (!isSharded(dim))
      return {};
    unsigned factor = rule.operands[0][dim][0];
    int64_t block = shardSize(global.getDimSize(dim), placement.shards(factor));
    Value k = placement.coordinate(b.builder, b.loc, factor);
    return MulOp::create(b.builder, b.loc, k, b.integer(block));
  }
  /// Start operands, clamped to the whole dimension, relative to the device's
  /// first position.
  SmallVector<Value> scalars(ValueRange starts, ArrayRef<int64_t> sizes) {
    SmallVector<Value> local;
    for (auto [dim, start] : llvm::enumerate(starts)) {
      Value at =
          b.clamp(b.asI64(start), 0, global.getDimSize(dim) - sizes[dim]);
      if (Value offset = first(dim))
        at = SubOp::create(b.builder, b.loc, at, offset);
      local.push_back(at);
    }
    return local;
  }
  /// Index vectors relative to the device's block; clamped if `sizes` are
  /// given.
  Value vectors(Value indices, const IndexedBlocks &blocks,
                std::optional<ArrayRef<int64_t>> sizes);

private:
  /// One number for each entry of an index vector, repeated for all vectors.
  Value forEach(ArrayRef<int64_t> numbers, ArrayRef<int64_t> shape,
                int64_t vectorDim);
};
} // namespace

Value LocalStarts::forEach(ArrayRef<int64_t> numbers, ArrayRef<int64_t> shape,
                           int64_t vectorDim) {
  if (vectorDim >= static_cast<int64_t>(shape.size()))
    return b.integer(numbers[0], shape);
  auto type = RankedTensorType::get({static_cast<int64_t>(numbers.size())},
                                    b.builder.getI64Type());
  Value vector = ConstantOp::create(b.builder, b.loc,
                                    DenseElementsAttr::get(type, numbers));
  return b.along(vector, shape, vectorDim);
}

Value LocalStarts::vectors(Value indices, const IndexedBlocks &blocks,
                           std::optional<ArrayRef<int64_t>> sizes) {
  OpBuilder &builder = b.builder;
  Value at = b.asI64(indices);
  auto shape = typeOf(at).getShape();
  int64_t vectorDim = blocks.indexVectorDim;
  if (blocks.indexMap.empty())
    return at;
  if (sizes) {
    SmallVector<int64_t> most, least(blocks.indexMap.size(), 0);
    for (int64_t dim : blocks.indexMap)
      most.push_back(global.getDimSize(dim) - (*sizes)[dim]);
    at = MaxOp::create(builder, b.loc, at, forEach(least, shape, vectorDim));
    at = MinOp::create(builder, b.loc, at, forEach(most, shape, vectorDim));
  }
  for (auto [entry, dim] : llvm::enumerate(blocks.indexMap)) {
    Value offset = first(dim);
    if (!offset)
      continue;
    SmallVector<int64_t> only(blocks.indexMap.size(), 0);
    only[entry] = 1;
    Value moved = MulOp::create(builder, b.loc, b.along(offset, shape),
                                forEach(only, shape, vectorDim));
    at = SubOp::create(builder, b.loc, at, moved);
  }
  return at;
}

//===----------------------------------------------------------------------===//
// Gather, scatter
//===----------------------------------------------------------------------===//

/// The device's shard of a tensor, padded to at least a block of these sizes.
/// Padding is absent, like elements of other devices.
static Value withRoom(LocalBuilder &b, Value tensor, ArrayRef<int64_t> sizes) {
  Type element = typeOf(tensor).getElementType();
  auto number = dyn_cast<FloatAttr>(absentElement(ReduceKind::Sum, element));
  if (!number || !number.getValue().isNegZero())
    return b.padTo(tensor, sizes);
  return b.padTo(
      tensor, sizes,
      absentData(ReduceKind::Sum, RankedTensorType::get({}, element)));
}

SmallVector<Value> GatherOp::buildLocal(OpBuilder &builder, ValueRange operands,
                                        TypeRange resultTypes,
                                        const LocalPlacement &placement) {
  LocalStarts starts{
      {builder, getLoc()}, placement, getShardingRule(), typeOf(getInput())};
  // Slices that cover a dimension cover its local part.
  SmallVector<int64_t> sizes(getSliceSizes());
  ArrayRef<int64_t> local = typeOf(operands[0]).getShape();
  for (int64_t dim : getBlocks().tensorDims())
    if (sizes[dim] == typeOf(getInput()).getDimSize(dim) &&
        !starts.isSharded(dim))
      sizes[dim] = local[dim];
  SmallVector<Value> inputs(operands);
  bool looks = starts.anySharded();
  if (looks) {
    inputs[0] = withRoom(starts.b, inputs[0], sizes);
    inputs[1] = starts.vectors(inputs[1], getBlocks(),
                               staysOutside() ? std::nullopt
                                              : std::optional(getSliceSizes()));
  }
  auto results = cloneWithTypes(builder, *this, inputs, resultTypes);
  auto gather = results[0].getDefiningOp<GatherOp>();
  gather.setSliceSizes(sizes);
  // Positions outside of the whole tensor are on no device. They are absent on
  // every device, unless the op asks for zeros.
  gather.setAbsentOutside((looks && !getZeroOutside()) || getAbsentOutside());
  return results;
}

SmallVector<Value> ScatterOp::buildLocal(OpBuilder &builder,
                                         ValueRange operands,
                                         TypeRange resultTypes,
                                         const LocalPlacement &placement) {
  LocalStarts starts{
      {builder, getLoc()}, placement, getShardingRule(), typeOf(getInput())};
  if (!starts.anySharded())
    return cloneWithTypes(builder, *this, operands, resultTypes);
  // Padding for blocks that are larger than the device's shard.
  SmallVector<int64_t> extents(getBlocks().tensor.getRank(), 1);
  for (auto [dim, blockDim] :
       llvm::zip(getBlocks().tensorDims(), getUpdateWindowDims()))
    extents[dim] = typeOf(operands[2]).getDimSize(blockDim);
  Value input = starts.b.padTo(operands[0], extents);
  Value at = starts.vectors(operands[1], getBlocks(), std::nullopt);
  auto results = cloneWithTypes(builder, *this, {input, at, operands[2]},
                                {input.getType()});
  return {starts.b.cutTo(results[0],
                         cast<RankedTensorType>(resultTypes[0]).getShape())};
}

//===----------------------------------------------------------------------===//
// Dynamic slices
//===----------------------------------------------------------------------===//

/// The block at `starts`, absent at positions outside of the tensor.
static Value blockAt(LocalBuilder &b, Value tensor, ArrayRef<Value> starts,
                     ArrayRef<int64_t> sizes) {
  auto type = typeOf(tensor).clone(sizes);
  auto all = llvm::to_vector(
      llvm::seq<int64_t>(0, static_cast<int64_t>(sizes.size())));
  auto gather = GatherOp::create(
      b.builder, b.loc, type, withRoom(b, tensor, sizes), b.vectorOf(starts),
      /*offset_dims=*/all, /*collapsed_slice_dims=*/ArrayRef<int64_t>(),
      /*operand_batching_dims=*/ArrayRef<int64_t>(),
      /*start_indices_batching_dims=*/ArrayRef<int64_t>(),
      /*start_index_map=*/all, /*index_vector_dim=*/0, sizes,
      /*zero_outside=*/false, /*absent_outside=*/true);
  return gather.getResult();
}

SmallVector<Value> DynamicSliceOp::buildLocal(OpBuilder &builder,
                                              ValueRange operands,
                                              TypeRange resultTypes,
                                              const LocalPlacement &placement) {
  LocalStarts starts{
      {builder, getLoc()}, placement, getShardingRule(), typeOf(getInput())};
  if (!starts.anySharded())
    return cloneWithTypes(builder, *this, operands, resultTypes);
  auto at =
      starts.scalars(operands.drop_front(1), typeOf(getResult()).getShape());
  return {blockAt(starts.b, operands[0], at,
                  cast<RankedTensorType>(resultTypes[0]).getShape())};
}

/// How often the update must fit in the device's shard for a scatter, which
/// changes its elements one by one, to be faster than a choice at each element
/// of the shard, which is vectorized.
static constexpr int64_t kUpdatesOfShard = 8;

/// The input with the elements of the update that are in it.
static Value scattered(LocalBuilder &b, Value input, Value update,
                       ArrayRef<Value> starts) {
  auto all = llvm::to_vector(
      llvm::seq<int64_t>(0, static_cast<int64_t>(starts.size())));
  return ScatterOp::create(
      b.builder, b.loc, input.getType(), ScatterKind::Set, input,
      b.vectorOf(starts), update, /*update_window_dims=*/all,
      /*inserted_window_dims=*/ArrayRef<int64_t>(),
      /*input_batching_dims=*/ArrayRef<int64_t>(),
      /*scatter_indices_batching_dims=*/ArrayRef<int64_t>(),
      /*scatter_dims_to_operand_dims=*/all, /*index_vector_dim=*/0);
}

/// Selects, at each position, the element of the update or of the input.
static Value selected(LocalBuilder &b, Value input, Value update,
                      ArrayRef<Value> starts) {
  auto shape = typeOf(input).getShape();
  SmallVector<Value> back;
  for (Value start : starts)
    back.push_back(SubOp::create(b.builder, b.loc, b.integer(0), start));
  Value block = blockAt(b, update, back, shape);
  // Element p of the input is replaced where start <= p < start + size.
  Value inside;
  for (auto [dim, start] : llvm::enumerate(starts)) {
    int64_t size = typeOf(update).getDimSize(dim);
    Value from = SubOp::create(b.builder, b.loc, b.positions(shape[dim]),
                               b.along(start, {shape[dim]}));
    Value here = AndOp::create(
        b.builder, b.loc,
        b.compare(CompareKind::GE, from, b.integer(0, shape[dim])),
        b.compare(CompareKind::LT, from, b.integer(size, shape[dim])));
    here = b.along(here, shape, dim);
    inside =
        inside ? AndOp::create(b.builder, b.loc, inside, here) : Value(here);
  }
  return SelectOp::create(b.builder, b.loc, inside, block, input);
}

SmallVector<Value>
DynamicUpdateSliceOp::buildLocal(OpBuilder &builder, ValueRange operands,
                                 TypeRange resultTypes,
                                 const LocalPlacement &placement) {
  LocalStarts starts{
      {builder, getLoc()}, placement, getShardingRule(), typeOf(getInput())};
  if (!starts.anySharded())
    return cloneWithTypes(builder, *this, operands, resultTypes);
  auto at =
      starts.scalars(operands.drop_front(2), typeOf(getUpdate()).getShape());
  RankedTensorType shard = typeOf(operands[0]), update = typeOf(operands[1]);
  bool fits = llvm::all_of(
      llvm::zip_equal(update.getShape(), shard.getShape()),
      [](auto sizes) { return std::get<0>(sizes) <= std::get<1>(sizes); });
  bool isSmall = saturatingMultiply(update.getNumElements(), kUpdatesOfShard) <=
                 shard.getNumElements();
  auto build = fits && isSmall ? scattered : selected;
  return {build(starts.b, operands[0], operands[1], at)};
}
