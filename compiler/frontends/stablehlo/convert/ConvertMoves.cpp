//===- ConvertMoves.cpp - sources, and ops that move elements -------------===//

#include "weft/compiler/frontends/stablehlo/convert/Converter.h"

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;

namespace {

LogicalResult constant(Converter &c, ForeignOp op) {
  auto data = dyn_cast_or_null<DenseElementsAttr>(op.attribute("value"));
  if (!data)
    return op.refuse() << "has no data";
  return c.give(op, c.make<ConstantOp>(op, data));
}

LogicalResult iota(Converter &c, ForeignOp op) {
  auto dim = op.integer("iota_dimension");
  if (!dim)
    return op.refuse() << "names no dimension";
  return c.give(op, c.make<IotaOp>(op, op.resultType(), *dim, Value()));
}

/// Converts a broadcast. StableHLO allows dimensions in any order, and sizes of
/// 1 that grow. A transpose and a reshape put the dimensions in order and drop
/// those that grow; then a broadcast adds them.
LogicalResult broadcast(Converter &c, ForeignOp op) {
  Value x = c.input(op, 0);
  auto from = op.operandType(0), to = op.resultType();
  Ints dims = op.ints("broadcast_dimensions");
  if (static_cast<int64_t>(dims.size()) != from.getRank())
    return op.refuse() << "names " << dims.size()
                       << " dimensions, the operand has " << from.getRank();
  Ints order(dims.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](int64_t a, int64_t b) { return dims[a] < dims[b]; });
  if (!llvm::is_sorted(order))
    x = c.make<TransposeOp>(op, x, order);
  Ints kept, sizes;
  for (int64_t dim : order) {
    int64_t target = dims[dim];
    if (target < 0 || target >= to.getRank())
      return op.refuse() << "names dimension " << target << ", the result has "
                         << to.getRank();
    if (from.getDimSize(dim) == 1 && to.getDimSize(target) != 1)
      continue;
    kept.push_back(target);
    sizes.push_back(from.getDimSize(dim));
  }
  if (kept.size() != dims.size())
    x = c.make<ReshapeOp>(op, x, sizes);
  if (x.getType() != to)
    x = c.make<BroadcastOp>(op, x, to.getShape(), kept);
  return c.give(op, x);
}

/// Converts a broadcast that adds dimensions in front.
LogicalResult prefixed(Converter &c, ForeignOp op) {
  Ints shape = op.ints("broadcast_sizes"), dims;
  auto from = op.operandType(0);
  for (int64_t dim = 0; dim < from.getRank(); ++dim)
    dims.push_back(dim + static_cast<int64_t>(shape.size()));
  llvm::append_range(shape, from.getShape());
  if (shape != op.resultType().getShape())
    return op.refuse() << "adds sizes in front of " << from
                       << " that do not give " << op.resultType();
  return c.give(op,
                c.make<BroadcastOp>(op, c.input(op, 0), ArrayRef(shape), dims));
}

/// The data of a constant of at most 64 elements, else null. Its slices and
/// reshapes are computed at once, as JAX keeps the rotations of its random
/// numbers in such constants.
DenseElementsAttr smallConstant(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto data = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                       : DenseElementsAttr();
  return data && data.getNumElements() <= 64 ? data : DenseElementsAttr();
}

LogicalResult reshape(Converter &c, ForeignOp op) {
  auto data = smallConstant(c.input(op, 0));
  if (data && data.getNumElements() == op.resultType().getNumElements())
    return c.give(op, c.make<ConstantOp>(op, data.reshape(op.resultType())));
  return c.give(
      op, c.make<ReshapeOp>(op, c.input(op, 0), op.resultType().getShape()));
}

LogicalResult transpose(Converter &c, ForeignOp op) {
  Ints order = op.ints("permutation");
  int64_t rank = op.operandType(0).getRank();
  if (static_cast<int64_t>(order.size()) != rank ||
      llvm::any_of(order, [&](int64_t d) { return d < 0 || d >= rank; }))
    return op.refuse() << "has no permutation of " << rank << " dimensions";
  return c.give(op, c.make<TransposeOp>(op, c.input(op, 0), order));
}

LogicalResult reverse(Converter &c, ForeignOp op) {
  Ints dims = op.ints("dimensions");
  llvm::sort(dims);
  return c.give(op, c.make<ReverseOp>(op, c.input(op, 0), dims));
}

LogicalResult slice(Converter &c, ForeignOp op) {
  Ints start = op.ints("start_indices"), limit = op.ints("limit_indices"),
       stride = op.ints("strides");
  size_t rank = op.operandType(0).getRank();
  if (start.size() != rank || limit.size() != rank || stride.size() != rank)
    return op.refuse() << "has not one range for each of " << rank
                       << " dimensions";
  auto data = smallConstant(c.input(op, 0));
  if (data && rank == 1 && stride[0] > 0 && start[0] >= 0 &&
      limit[0] <= data.getNumElements() &&
      op.resultType().getNumElements() * stride[0] <= limit[0] - start[0]) {
    auto all = llvm::to_vector(data.getValues<Attribute>());
    SmallVector<Attribute> kept;
    for (int64_t i = start[0]; i < limit[0]; i += stride[0])
      kept.push_back(all[i]);
    if (static_cast<int64_t>(kept.size()) == op.resultType().getNumElements())
      return c.give(op, c.make<ConstantOp>(
                            op, DenseElementsAttr::get(op.resultType(), kept)));
  }
  return c.give(op,
                Value(SliceOp::create(c.builder, op->getLoc(), op.resultType(),
                                      c.input(op, 0), start, limit, stride)));
}

LogicalResult pad(Converter &c, ForeignOp op) {
  Ints low = op.ints("edge_padding_low"), high = op.ints("edge_padding_high"),
       interior = op.ints("interior_padding");
  if (op->getNumOperands() != 2)
    return op.refuse() << "has " << op->getNumOperands() << " operands, not 2";
  return c.give(op, Value(PadOp::create(c.builder, op->getLoc(),
                                        op.resultType(), c.input(op, 0),
                                        c.input(op, 1), low, high, interior)));
}

LogicalResult concatenate(Converter &c, ForeignOp op) {
  auto dim = op.integer("dimension");
  if (!dim)
    return op.refuse() << "names no dimension";
  SmallVector<Value> all = c.inputs(op);
  return c.give(op, c.make<ConcatenateOp>(op, op.resultType(), all, *dim));
}

/// The starts of a dynamic slice if they are constants, clamped to the bounds.
std::optional<Ints> knownStarts(ArrayRef<Value> starts, ArrayRef<int64_t> shape,
                                ArrayRef<int64_t> sizes) {
  Ints known;
  for (auto [d, start] : llvm::enumerate(starts)) {
    auto data = dyn_cast_or_null<DenseIntElementsAttr>(smallConstant(start));
    if (!data || !data.isSplat() || d >= shape.size() || d >= sizes.size())
      return std::nullopt;
    int64_t at = data.getSplatValue<APInt>().sextOrTrunc(64).getSExtValue();
    known.push_back(
        std::clamp<int64_t>(at, 0, std::max<int64_t>(shape[d] - sizes[d], 0)));
  }
  return known.size() == shape.size() ? std::optional(known) : std::nullopt;
}

LogicalResult dynamicSlice(Converter &c, ForeignOp op) {
  SmallVector<Value> all = c.inputs(op);
  if (all.empty())
    return op.refuse() << "has 0 operands, not 1 or more";
  ArrayRef<int64_t> sizes = op.resultType().getShape();
  if (auto starts = knownStarts(ArrayRef(all).drop_front(),
                                op.operandType(0).getShape(), sizes)) {
    Ints limit;
    for (auto [start, size] : llvm::zip_equal(*starts, sizes))
      limit.push_back(start + size);
    return c.give(
        op, c.make<SliceOp>(op, all[0], *starts, limit, Ints(sizes.size(), 1)));
  }
  return c.give(op, c.make<DynamicSliceOp>(op, op.resultType(), all[0],
                                           ArrayRef(all).drop_front()));
}

LogicalResult dynamicUpdateSlice(Converter &c, ForeignOp op) {
  SmallVector<Value> all = c.inputs(op);
  if (all.size() < 2)
    return op.refuse() << "has " << all.size() << " operands, not 2 or more";
  return c.give(op, c.make<DynamicUpdateSliceOp>(op, all[0], all[1],
                                                 ArrayRef(all).drop_front(2)));
}

constexpr ConversionEntry kEntries[] = {
    {"constant", constant, 0},
    {"arith.constant", constant, 0},
    {"broadcast", prefixed},
    {"chlo.constant", constant, 0},
    {"sdy.constant", constant, 0},
    {"iota", iota, 0},
    {"broadcast_in_dim", broadcast},
    {"reshape", reshape},
    {"transpose", transpose},
    {"reverse", reverse},
    {"slice", slice},
    {"pad", pad},
    {"concatenate", concatenate},
    {"dynamic_slice", dynamicSlice},
    {"dynamic_update_slice", dynamicUpdateSlice},
};

} // namespace

ArrayRef<ConversionEntry> stablehlo::moveConversions() { return kEntries; }
