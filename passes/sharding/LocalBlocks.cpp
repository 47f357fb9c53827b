//===- LocalBlocks.cpp - one device's block of a tensor -------------------===//

#include "weft/passes/sharding/LocalBlocks.h"

#include "weft/dialects/coll/Coll.h"
#include "weft/dialects/weft/local/AbsentElement.h"

using namespace weft;
using namespace mlir;

Type weft::localType(Type global) {
  LayoutAttr layout = getLayout(global);
  if (!layout)
    return global;
  auto tensor = cast<RankedTensorType>(global);
  return RankedTensorType::get(
      localShape(layout.getLayout(), tensor.getShape()),
      tensor.getElementType());
}

LayoutAttr weft::groupOf(MeshAttr mesh, const SubAxes &axes) {
  Layout group;
  group.dims.push_back(axes);
  return LayoutAttr::get(mesh, group);
}

static Value constant(OpBuilder &builder, Location loc, ElementsAttr value) {
  return ConstantOp::create(builder, loc, value);
}

Value weft::blockOffset(OpBuilder &builder, Location loc, MeshAttr mesh,
                        const SubAxes &axes, int64_t blockSize) {
  auto scalar = RankedTensorType::get({}, builder.getI64Type());
  Value coordinate =
      coll::CoordinateOp::create(builder, loc, scalar, groupOf(mesh, axes));
  Value size =
      constant(builder, loc, DenseElementsAttr::get(scalar, blockSize));
  return MulOp::create(builder, loc, scalar, coordinate, size);
}

Value weft::maskPadding(OpBuilder &builder, Location loc, Value block,
                        unsigned dim, int64_t size, MeshAttr mesh,
                        const SubAxes &axes, ReduceKind kind) {
  auto type = cast<RankedTensorType>(block.getType());
  auto positions = type.clone(builder.getI64Type());
  Value offset = blockOffset(builder, loc, mesh, axes, type.getDimSize(dim));
  Value index = IotaOp::create(builder, loc, positions,
                               builder.getI64IntegerAttr(dim), offset);
  Value limit = constant(builder, loc, DenseElementsAttr::get(positions, size));
  Value valid = CompareOp::create(builder, loc, type.clone(builder.getI1Type()),
                                  CompareKind::LT, index, limit);
  Value absent = constant(builder, loc, absentData(kind, type));
  return SelectOp::create(builder, loc, type, valid, block, absent);
}

OpBlocks::OpBlocks(Operation &op) : ruled(OpWithRule::get(&op)) {
  axes.resize(ruled.rule.factors.size());
  for (unsigned tensor = 0; tensor < ruled.numTensors(); ++tensor) {
    LayoutAttr layout = getLayout(ruled.value(tensor).getType());
    if (!layout)
      continue;
    mesh = layout.getMesh();
    mergeInto(ruled, axes,
              ruled.project(mesh.getMesh(), tensor, layout.getLayout()));
  }
}

BlockPlacement::BlockPlacement(TypeRange globalTypes, const OpBlocks &blocks)
    : types(globalTypes), blocks(blocks) {}

int64_t BlockPlacement::shards(unsigned factor) const {
  return shardCount(blocks.axes[factor]);
}

Value BlockPlacement::coordinate(OpBuilder &builder, Location loc,
                                 unsigned factor) const {
  if (shards(factor) == 1)
    return {};
  return coll::CoordinateOp::create(
      builder, loc, RankedTensorType::get({}, builder.getI64Type()),
      groupOf(blocks.mesh, blocks.axes[factor]));
}

LayoutAttr BlockPlacement::groupOfFactor(unsigned factor) const {
  return groupOf(blocks.mesh, blocks.axes[factor]);
}

StringAttr BlockPlacement::reasonFor(unsigned factor, StringRef action) const {
  ++numCollectives;
  Operation *op = blocks.ruled.op;
  return StringAttr::get(
      op->getContext(),
      "shards of " + op->getName().getStringRef() + " along its " +
          stringifyFactorKind(blocks.ruled.rule.factors[factor].kind) +
          " dimension are " + action);
}

Value BlockPlacement::gather(OpBuilder &builder, Location loc, Value value,
                             unsigned factor, unsigned dim) const {
  if (shards(factor) == 1)
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  llvm::SmallVector<int64_t> shape(type.getShape());
  shape[dim] *= shards(factor);
  return coll::AllGatherOp::create(builder, loc, type.clone(shape), value, dim,
                                   groupOfFactor(factor),
                                   reasonFor(factor, "combined"));
}

Value BlockPlacement::fetch(OpBuilder &builder, Location loc, Value value,
                            unsigned factor, unsigned dim, int64_t block,
                            int64_t offset, int64_t count) const {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t size = type.getDimSize(dim) * shards(factor);
  llvm::SmallVector<int64_t> shape(type.getShape());
  shape[dim] = count;
  auto number = [&](int64_t n) { return builder.getI64IntegerAttr(n); };
  return coll::FetchOp::create(
      builder, loc, type.clone(shape), value, number(dim), number(size),
      number(block), number(1), number(offset), number(1), number(0),
      groupOfFactor(factor), reasonFor(factor, "fetched"));
}

Value BlockPlacement::pick(OpBuilder &builder, Location loc, Value value,
                           Value positions, unsigned factor,
                           unsigned dim) const {
  auto type = cast<RankedTensorType>(value.getType());
  auto shape = cast<RankedTensorType>(positions.getType()).getShape();
  return coll::PickOp::create(builder, loc, type.clone(shape), value, positions,
                              builder.getI64IntegerAttr(dim),
                              groupOfFactor(factor),
                              reasonFor(factor, "exchanged"));
}

Value BlockPlacement::resultOffset(OpBuilder &builder, Location loc,
                                   unsigned result, unsigned dim) const {
  LayoutAttr layout = getLayout(types[result]);
  if (!layout)
    return {};
  Layout value = layout.getLayout();
  if (value.dims[dim].empty())
    return {};
  int64_t block =
      shardSize(globalShape(result)[dim], shardCount(value.dims[dim]));
  return blockOffset(builder, loc, layout.getMesh(), value.dims[dim], block);
}

llvm::ArrayRef<int64_t> BlockPlacement::globalShape(unsigned result) const {
  return cast<RankedTensorType>(types[result]).getShape();
}
