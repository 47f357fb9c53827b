//===- ConvertManual.cpp - shard_map: code of one device ------------------===//
//
// A manual computation becomes weft.manual over the axes that it names. Axes
// that it leaves to the compiler ("auto") shard nothing inside: blocks are
// whole along them. So one inside another is a slice of each operand and a
// gather of each result, along its own axes.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/frontends/stablehlo/Converter.h"

#include "weft/dialects/coll/Coll.h"
#include "weft/dialects/weft/FlowOps.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;

namespace {

/// One layout for each value, of the attribute of that name: its manual axes.
LogicalResult readLayouts(Converter &c, ForeignOp op, StringRef name,
                          TypeRange types, SmallVectorImpl<Layout> &layouts) {
  auto said = dyn_cast_or_null<ArrayAttr>(op.attribute(name));
  auto axes = dyn_cast_or_null<ArrayAttr>(op.attribute("manual_axes"));
  if (!said || !axes || said.size() != types.size())
    return op.refuse() << "has " << types.size() << " values, but not as many "
                       << name;
  for (auto [sharding, type] : llvm::zip_equal(said, types)) {
    int64_t rank = ::cast<RankedTensorType>(type).getRank();
    auto known = c.shardings.resolve(op->getLoc(), sharding, rank, axes);
    if (failed(known))
      return failure();
    layouts.push_back(known->layout ? known->layout.getLayout()
                                    : Layout::replicated(rank));
  }
  return success();
}

ArrayAttr asAttribute(Converter &c, ArrayRef<Layout> layouts) {
  return c.builder.getArrayAttr(llvm::map_to_vector(
      layouts, [&](const Layout &layout) -> Attribute {
        return LayoutAttr::get(c.shardings.mesh(), layout);
      }));
}

RankedTensorType withSize(Value value, int64_t dim, int64_t size) {
  auto type = ::cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = size;
  return type.clone(shape);
}

/// The device's block of a value that it has whole.
Value sliced(Converter &c, ForeignOp op, Value value, const Layout &layout) {
  for (auto [dim, axes] : llvm::enumerate(layout.dims))
    if (!axes.empty()) {
      auto type = ::cast<RankedTensorType>(value.getType());
      int64_t block = shardSize(type.getDimSize(dim), shardCount(axes));
      value = c.make<coll::SliceOp>(
          op, withSize(value, dim, block), value, dim,
          coll::groupOver(c.shardings.mesh(), axes), StringAttr());
    }
  return value;
}

/// The whole value, of which the device has a block.
Value gathered(Converter &c, ForeignOp op, Value value, const Layout &layout) {
  for (auto [dim, axes] : llvm::enumerate(layout.dims))
    if (!axes.empty()) {
      auto type = ::cast<RankedTensorType>(value.getType());
      value = c.make<coll::AllGatherOp>(
          op, withSize(value, dim, type.getDimSize(dim) * shardCount(axes)),
          value, dim, coll::groupOver(c.shardings.mesh(), axes),
          c.builder.getStringAttr("result of a manual computation inside another"));
    }
  return value;
}

LogicalResult inside(Converter &c, ForeignOp op, ArrayRef<Layout> from,
                     ArrayRef<Layout> to) {
  SmallVector<Value> blocks, results;
  for (auto [index, layout] : llvm::enumerate(from))
    blocks.push_back(sliced(c, op, c.input(op, index), layout));
  if (failed(c.inlineBlock(op, op->getRegion(0).front(), blocks, results)))
    return failure();
  if (results.size() != to.size())
    return op.refuse() << "returns " << results.size() << " values, not " << to.size();
  for (auto [value, layout] : llvm::zip_equal(results, to))
    value = gathered(c, op, value, layout);
  return c.give(op, results);
}

LogicalResult outermost(Converter &c, ForeignOp op, ArrayRef<Layout> from,
                        ArrayRef<Layout> to) {
  auto manual = ManualOp::create(c.builder, op->getLoc(), op->getResultTypes(),
                                 c.inputs(op), asAttribute(c, from),
                                 asAttribute(c, to));
  OpBuilder::InsertionGuard guard(c.builder);
  Block &foreign = op->getRegion(0).front();
  Block &block = manual.getBody().emplaceBlock();
  c.builder.setInsertionPointToEnd(&block);
  for (BlockArgument argument : foreign.getArguments())
    c.map(argument, block.addArgument(argument.getType(), op->getLoc()));
  SmallVector<Value> results;
  llvm::SaveAndRestore perDevice(c.perDevice, true);
  if (failed(c.convertBlock(foreign, results)))
    return failure();
  YieldOp::create(c.builder, op->getLoc(), results);
  return c.give(op, manual.getResults());
}

LogicalResult manualComputation(Converter &c, ForeignOp op) {
  if (c.shardings.isIgnored())
    return op.refuse() << "is written for a mesh of "
                       << c.shardings.devices() << " devices; give it as many";
  if (!c.shardings.mesh()) { // one device, which has everything
    SmallVector<Value> results;
    llvm::SaveAndRestore perDevice(c.perDevice, true);
    if (failed(c.inlineBlock(op, op->getRegion(0).front(), c.inputs(op), results)))
      return failure();
    return c.give(op, results);
  }
  SmallVector<Layout, 4> from, to;
  if (failed(readLayouts(c, op, "in_shardings", op->getOperandTypes(), from)) ||
      failed(readLayouts(c, op, "out_shardings", op->getResultTypes(), to)))
    return failure();
  return c.perDevice ? inside(c, op, from, to) : outermost(c, op, from, to);
}

constexpr ConversionEntry kEntries[] = {
    {"sdy.manual_computation", manualComputation, 0, 1},
};

} // namespace

ArrayRef<ConversionEntry> stablehlo::manualConversions() { return kEntries; }
