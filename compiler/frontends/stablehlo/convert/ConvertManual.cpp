//===- ConvertManual.cpp - shard_map: code of one device ------------------===//
//
// A manual computation becomes weft.manual over the axes that it names. Other
// axes, which it leaves to the compiler ("auto"), are free inside. A nested
// computation can be manual over some of these.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/frontends/stablehlo/convert/Converter.h"

#include "weft/dialects/weft/ops/FlowOps.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;

namespace {

/// Reads the layouts of all values from the attribute `name`. A layout has the
/// manual axes, along which a device has a block, a copy or a summand.
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
    if (!known->devices.empty())
      return op.refuse() << "is over a mesh whose devices are in another order "
                            "than those of the program's mesh "
                         << c.shardings.mesh() << "; give both one order";
    Layout layout =
        known->layout ? known->layout.getLayout() : Layout::replicated(rank);
    auto isUnit = [](const SubAxis &axis) { return axis.size == 1; };
    for (SubAxes &dim : layout.dims)
      llvm::erase_if(dim, isUnit);
    llvm::erase_if(layout.partial, isUnit);
    layouts.push_back(std::move(layout));
  }
  return success();
}

ArrayAttr asAttribute(Converter &c, ArrayRef<Layout> layouts) {
  return c.builder.getArrayAttr(
      llvm::map_to_vector(layouts, [&](const Layout &layout) -> Attribute {
        return LayoutAttr::get(c.shardings.mesh(), layout);
      }));
}

/// The axes of the surrounding region that stay free in the computation; none
/// if its shardings are over another mesh than the program's.
SubAxes freeInside(Converter &c, ForeignOp op) {
  const Mesh mesh = c.shardings.mesh().getMesh();
  auto names = ::cast<ArrayAttr>(op.attribute("manual_axes"));
  for (StringRef list : {"in_shardings", "out_shardings"})
    for (Attribute sharding : ::cast<ArrayAttr>(op.attribute(list)))
      if (!c.shardings.isOverMesh(op->getLoc(), sharding))
        return {};
  SubAxes free;
  for (const SubAxis &axis : c.perDevice ? c.freeAxes : allAxes(mesh)) {
    auto name = c.builder.getStringAttr(mesh.axes[axis.axis].name);
    if (!llvm::is_contained(names, name) && axis.size > 1)
      free.push_back(axis);
  }
  return free;
}

ArrayAttr namesOf(Converter &c, ArrayRef<SubAxis> axes) {
  const Mesh mesh = c.shardings.mesh().getMesh();
  return axes.empty()
             ? ArrayAttr()
             : c.builder.getStrArrayAttr(llvm::map_to_vector(
                   axes, [&](const SubAxis &axis) -> StringRef {
                     return c.builder.getStringAttr(mesh.axes[axis.axis].name);
                   }));
}

/// Constrains an operand or a result to its sharding, if the sharding adds to
/// the manual axes: free axes, or dimensions that are closed to free axes.
FailureOr<Value> constrained(Converter &c, ForeignOp op, Value value,
                             Attribute sharding, const Layout &manual,
                             ArrayRef<SubAxis> free, ArrayAttr seen) {
  auto said =
      c.shardings.resolve(op->getLoc(), sharding, manual.dims.size(), seen);
  if (failed(said))
    return failure();
  bool closed =
      said->open.size() < manual.dims.size() || !said->replicated.empty();
  if (!said->layout ||
      (said->layout.getLayout() == manual && (free.empty() || !closed)))
    return value;
  Value result = c.make<ConstrainOp>(
      op, value.getType(), value, said->layout,
      c.builder.getStringAttr("sharding of a manual computation"));
  for (NamedAttribute option : said->options())
    result.getDefiningOp()->setDiscardableAttr(option.getName(),
                                               option.getValue());
  return result;
}

/// Constrains all operands or results outside of the computation, by the
/// shardings in the attribute `name`.
FailureOr<SmallVector<Value>>
constrainedAround(Converter &c, ForeignOp op, ValueRange values, StringRef name,
                  ArrayRef<Layout> manual, ArrayRef<SubAxis> free) {
  SmallVector<Value> all(values);
  ArrayAttr seen = c.perDevice ? namesOf(c, c.freeAxes) : ArrayAttr();
  if (c.perDevice && !seen)
    return all;
  auto shardings = ::cast<ArrayAttr>(op.attribute(name));
  for (auto [value, sharding, layout] :
       llvm::zip_equal(all, shardings, manual)) {
    auto known = constrained(c, op, value, sharding, layout, free, seen);
    if (failed(known))
      return failure();
    value = *known;
  }
  return all;
}

/// Constrains all arguments or results inside of the computation, along free
/// axes.
FailureOr<SmallVector<Value>> constrainedInside(Converter &c, ForeignOp op,
                                                ValueRange values,
                                                StringRef name,
                                                ArrayRef<SubAxis> free) {
  SmallVector<Value> all(values);
  if (free.empty())
    return all;
  auto shardings = ::cast<ArrayAttr>(op.attribute(name));
  for (auto [value, sharding] : llvm::zip_equal(all, shardings)) {
    Layout replicated =
        Layout::replicated(::cast<RankedTensorType>(value.getType()).getRank());
    auto known =
        constrained(c, op, value, sharding, replicated, free, namesOf(c, free));
    if (failed(known))
      return failure();
    value = *known;
  }
  return all;
}

LogicalResult convertBody(Converter &c, ForeignOp op, ManualOp manual,
                          const SubAxes &free) {
  OpBuilder::InsertionGuard guard(c.builder);
  Block &foreign = op->getRegion(0).front();
  Block &block = manual.getBody().emplaceBlock();
  c.builder.setInsertionPointToEnd(&block);
  SmallVector<Value> blocks, results;
  for (BlockArgument argument : foreign.getArguments())
    blocks.push_back(block.addArgument(argument.getType(), op->getLoc()));
  for (Value more : manual.getInputs().drop_front(blocks.size()))
    block.addArgument(more.getType(), op->getLoc());
  auto inside = constrainedInside(c, op, blocks, "in_shardings", free);
  if (failed(inside))
    return failure();
  {
    llvm::SaveAndRestore perDevice(c.perDevice, true);
    llvm::SaveAndRestore freeAxes(c.freeAxes, free);
    if (failed(c.inlineBlock(op, foreign, *inside, results)))
      return failure();
  }
  auto given = constrainedInside(c, op, results, "out_shardings", free);
  if (failed(given))
    return failure();
  YieldOp::create(c.builder, op->getLoc(), *given);
  return success();
}

LogicalResult manualComputation(Converter &c, ForeignOp op) {
  if (c.shardings.isIgnored())
    return op.refuse() << "is written for a mesh of " << c.shardings.devices()
                       << " devices; give it as many";
  if (!c.shardings.mesh()) { // a single device has all values
    SmallVector<Value> results;
    llvm::SaveAndRestore perDevice(c.perDevice, true);
    if (failed(
            c.inlineBlock(op, op->getRegion(0).front(), c.inputs(op), results)))
      return failure();
    return c.give(op, results);
  }
  SmallVector<Layout, 4> from, to;
  if (failed(readLayouts(c, op, "in_shardings", op->getOperandTypes(), from)) ||
      failed(readLayouts(c, op, "out_shardings", op->getResultTypes(), to)))
    return failure();
  SubAxes free = freeInside(c, op);
  auto inputs =
      constrainedAround(c, op, c.inputs(op), "in_shardings", from, free);
  if (failed(inputs))
    return failure();
  // A computation without values, for its effects, gets one value that carries
  // the mesh.
  if (inputs->empty() && op->getNumResults() == 0) {
    inputs->push_back(
        c.splat(op, 0, RankedTensorType::get({}, c.builder.getI1Type())));
    from.push_back(Layout::replicated(0));
  }
  auto manual = ManualOp::create(c.builder, op->getLoc(), op->getResultTypes(),
                                 *inputs, asAttribute(c, from),
                                 asAttribute(c, to), namesOf(c, free));
  if (failed(convertBody(c, op, manual, free)))
    return failure();
  auto results =
      constrainedAround(c, op, manual.getResults(), "out_shardings", to, free);
  return failed(results) ? failure() : c.give(op, *results);
}

constexpr ConversionEntry kEntries[] = {
    {"sdy.manual_computation", manualComputation, 0, 1, OpRole::HasEffect},
};

} // namespace

ArrayRef<ConversionEntry> stablehlo::manualConversions() { return kEntries; }
