//===- LocalBuilder.cpp - small things that local ops are built of --------===//

#include "weft/dialects/weft/local/LocalBuilder.h"

#include "weft/dialects/weft/ShapeChecks.h"
#include "weft/dialects/weft/ops/IndexingOps.h"

using namespace mlir;
using namespace weft;

Value LocalBuilder::integer(int64_t value, ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, builder.getI64Type());
  return ConstantOp::create(builder, loc, DenseElementsAttr::get(type, value));
}

Value LocalBuilder::asI64(Value value) {
  if (typeOf(value).getElementType().isSignlessInteger(64))
    return value;
  RankedTensorType type = typeOf(value);
  // Positions beyond i64 stay beyond the end and do not become negative.
  if (type.getElementType().isUnsignedInteger(64)) {
    Attribute most =
        IntegerAttr::get(type.getElementType(), APInt::getSignedMaxValue(64));
    value = MinOp::create(
        builder, loc, value,
        ConstantOp::create(builder, loc, DenseElementsAttr::get(type, most)));
  }
  return ConvertOp::create(builder, loc, type.clone(builder.getI64Type()),
                           value);
}

Value LocalBuilder::clamp(Value value, int64_t least, int64_t most) {
  ArrayRef<int64_t> shape = typeOf(value).getShape();
  Value above = MaxOp::create(builder, loc, value, integer(least, shape));
  return MinOp::create(builder, loc, above, integer(most, shape));
}

Value LocalBuilder::positions(int64_t count, Value start) {
  auto type = RankedTensorType::get({count}, builder.getI64Type());
  return IotaOp::create(builder, loc, type, builder.getI64IntegerAttr(0),
                        start);
}

Value LocalBuilder::along(Value value, ArrayRef<int64_t> shape, int64_t dim) {
  SmallVector<int64_t> dims;
  if (dim >= 0)
    dims.push_back(dim);
  if (typeOf(value).getShape() == shape)
    return value;
  return BroadcastOp::create(builder, loc, value, shape, dims);
}

Value LocalBuilder::compare(CompareKind kind, Value a, Value b) {
  return CompareOp::create(builder, loc, kind, a, b);
}

Value LocalBuilder::padTo(Value value, ArrayRef<int64_t> shape,
                          DenseElementsAttr with) {
  SmallVector<int64_t> none(shape.size(), 0), high;
  bool grows = false;
  for (auto [has, wants] : llvm::zip(typeOf(value).getShape(), shape)) {
    high.push_back(std::max<int64_t>(wants - has, 0));
    grows |= high.back() > 0;
  }
  if (!grows)
    return value;
  Value element = with ? ConstantOp::create(builder, loc, with) : Value();
  return PadOp::create(builder, loc, value, none, high, none, element);
}

Value LocalBuilder::cutTo(Value value, ArrayRef<int64_t> shape) {
  if (typeOf(value).getShape() == shape)
    return value;
  SmallVector<int64_t> start(shape.size(), 0), stride(shape.size(), 1);
  return SliceOp::create(builder, loc, value, start, shape, stride);
}

Value LocalBuilder::vectorOf(ArrayRef<Value> scalars) {
  SmallVector<Value> parts;
  for (Value scalar : scalars)
    parts.push_back(ReshapeOp::create(builder, loc, scalar, {1}));
  auto type = RankedTensorType::get({static_cast<int64_t>(scalars.size())},
                                    builder.getI64Type());
  return ConcatenateOp::create(builder, loc, type, parts,
                               builder.getI64IntegerAttr(0));
}

Value LocalBuilder::takeAlong(Value value, Value positions, int64_t dim) {
  RankedTensorType type = typeOf(value);
  SmallVector<int64_t> shape(type.getShape()), blocks(type.getShape()), others;
  shape[dim] = typeOf(positions).getDimSize(0);
  blocks[dim] = 1;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (d != dim)
      others.push_back(d);
  const ArrayRef<int64_t> none;
  return GatherOp::create(builder, loc, type.clone(shape), value, positions,
                          /*offset_dims=*/others,
                          /*collapsed_slice_dims=*/dim, none, none,
                          /*start_index_map=*/dim, /*index_vector_dim=*/1,
                          blocks, /*zero_outside=*/false,
                          /*absent_outside=*/false);
}
