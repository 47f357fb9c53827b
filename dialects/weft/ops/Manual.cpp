//===- Manual.cpp - checks of per-device code -----------------------------===//

#include "weft/dialects/weft/ops/FlowOps.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace weft;

Layout ManualOp::fromLayout(unsigned operand) {
  return cast<LayoutAttr>(getFrom()[operand]).getLayout();
}

Layout ManualOp::toLayout(unsigned result) {
  return cast<LayoutAttr>(getTo()[result]).getLayout();
}

/// The layout of the stated axes, followed by those of the region's value;
/// nothing if they use an axis twice, or have different meshes.
static std::optional<Layout> joined(LayoutAttr outer, LayoutAttr inner) {
  const Mesh mesh = outer.getMesh().getMesh();
  Layout stated = outer.getLayout(), within = inner.getLayout();
  if (outer.getMesh() != inner.getMesh() ||
      stated.dims.size() != within.dims.size())
    return std::nullopt;
  Layout both = compose(stated, within);
  bool isValid = invalidReason(mesh, both, both.dims.size()).empty();
  return isValid ? std::optional(both) : std::nullopt;
}

/// The layout of the stated axes, followed by the free axes of the region's
/// value. (C4) refuses a value with other axes.
static LayoutAttr behind(Attribute said, Value block) {
  auto outer = cast<LayoutAttr>(said);
  LayoutAttr inner = getLayout(block.getType());
  std::optional<Layout> both = inner ? joined(outer, inner) : std::nullopt;
  return both ? LayoutAttr::get(outer.getMesh(), *both) : outer;
}

LayoutAttr ManualOp::getOperandLayout(unsigned operand) {
  return behind(getFrom()[operand], getBody().getArgument(operand));
}

LayoutAttr ManualOp::getResultLayout(unsigned result) {
  return behind(getTo()[result],
                getBody().front().getTerminator()->getOperand(result));
}

SubAxes ManualOp::getFreeAxes() {
  SubAxes axes;
  if (!getFree())
    return axes;
  const Mesh mesh = getMesh().getMesh();
  for (StringRef name : getFreeAttr().getAsValueRange<StringAttr>())
    if (auto axis = mesh.find(name))
      axes.push_back(fullAxis(mesh, *axis));
  return axes;
}

SmallVector<Value> ManualOp::buildOnBlocks(OpBuilder &builder,
                                           ValueRange blocks) {
  Block &body = getBody().front();
  IRMapping local;
  local.map(body.getArguments(), blocks);
  for (Operation &op : body.without_terminator())
    builder.clone(op, local);
  return llvm::map_to_vector(body.getTerminator()->getOperands(),
                             [&](Value value) { return local.lookup(value); });
}

/// Whether all blocks of the tensor are full.
static bool dividesEvenly(const Layout &layout, ArrayRef<int64_t> shape) {
  return llvm::all_of(llvm::zip(layout.dims, shape), [](auto dim) {
    return std::get<1>(dim) % shardCount(std::get<0>(dim)) == 0;
  });
}

/// Checks (C1), (C2) for the operands or the results.
static LogicalResult checkLayouts(ManualOp op, StringRef what, TypeRange types,
                                  ArrayAttr layouts, MeshAttr mesh) {
  if (types.size() != layouts.size()) // (C1)
    return op.emitOpError("has ") << types.size() << " " << what
                                  << "s, but layouts for " << layouts.size();
  for (auto [index, pair] : llvm::enumerate(llvm::zip(types, layouts))) {
    auto type = cast<RankedTensorType>(std::get<0>(pair));
    auto attr = cast<LayoutAttr>(std::get<1>(pair));
    Layout layout = attr.getLayout();
    auto refuse = [&]() {
      return op.emitOpError() << what << " " << index << " of type " << type
                              << " cannot lie as " << attr << ": ";
    };
    if (attr.getMesh() != mesh) // (C1)
      return refuse() << "all layouts are over one mesh";
    std::string why = invalidReason(mesh.getMesh(), layout, type.getRank());
    if (!why.empty()) // (C1)
      return refuse() << why;
    if (!dividesEvenly(layout, type.getShape())) // (C2)
      return refuse() << "the axes do not divide its dimensions; pad it, or "
                         "shard other dimensions";
  }
  return success();
}

MeshAttr ManualOp::getMesh() {
  ArrayAttr any = getFrom().empty() ? getTo() : getFrom();
  return any.empty() ? MeshAttr() : cast<LayoutAttr>(any[0]).getMesh();
}

/// Calls `visit` for every axis of the layouts.
static void forEachAxis(ArrayAttr layouts,
                        function_ref<void(const SubAxis &)> visit) {
  for (Attribute attribute : layouts) {
    Layout layout = cast<LayoutAttr>(attribute).getLayout();
    for (const SubAxes &dim : layout.dims)
      llvm::for_each(dim, visit);
    llvm::for_each(layout.partial, visit);
  }
}

/// (C6)
static LogicalResult checkFree(ManualOp op, const Mesh &mesh) {
  ArrayAttr names = op.getFreeAttr();
  if (!names)
    return success();
  SmallVector<bool> used(mesh.axes.size());
  auto use = [&](const SubAxis &axis) { used[axis.axis] = true; };
  forEachAxis(op.getFrom(), use);
  forEachAxis(op.getTo(), use);
  for (Attribute name : names) {
    auto axis = mesh.find(cast<StringAttr>(name).getValue());
    if (!axis)
      return op.emitOpError("leaves ")
             << name << " free, which is no axis of " << op.getMesh();
    if (used[*axis])
      return op.emitOpError("leaves ")
             << name
             << " free, but one of its layouts uses it; remove one of both";
  }
  return success();
}

LogicalResult ManualOp::verify() {
  MeshAttr mesh = getMesh();
  if (!mesh)
    return emitOpError("has neither operands nor results, so no mesh");
  if (failed(checkLayouts(*this, "operand", getInputs().getTypes(), getFrom(),
                          mesh)) ||
      failed(checkLayouts(*this, "result", getResults().getTypes(), getTo(),
                          mesh)))
    return failure();
  return checkFree(*this, mesh.getMesh());
}

/// Checks (C3), (C4) for the operands and the region's arguments, or for the
/// results and the yielded values.
static LogicalResult checkBlocks(ManualOp op, StringRef what, StringRef verb,
                                 TypeRange blocks, TypeRange types,
                                 ArrayAttr said,
                                 function_ref<LayoutAttr(unsigned)> outside) {
  if (blocks.size() != types.size())
    return op.emitOpError("the region ")
           << verb << " " << blocks.size() << " values, not " << types.size();
  for (auto [index, block] : llvm::enumerate(blocks)) {
    auto type = cast<RankedTensorType>(types[index]),
         ours = cast<RankedTensorType>(block);
    Layout layout = cast<LayoutAttr>(said[index]).getLayout();
    auto expected = RankedTensorType::get(localShape(layout, type.getShape()),
                                          type.getElementType());
    if (withLayout(ours, nullptr) != expected) // (C3)
      return op.emitOpError("the region ")
             << verb << " " << block << " where the block of " << type << " is "
             << expected;
    LayoutAttr lies = getLayout(type), inner = getLayout(ours);
    if (inner && !joined(cast<LayoutAttr>(said[index]), inner)) // (C4)
      return op.emitOpError("the region ")
             << verb << " " << block << ", whose axes cannot follow those of "
             << said[index] << "; name axes that it leaves free";
    if (lies && lies != outside(index)) // (C4)
      return op.emitOpError() << what << " " << index << " of type " << type
                              << " cannot lie as " << outside(index) << ": "
                              << "its type says otherwise";
  }
  return success();
}

/// (C5)
static LogicalResult checkInner(ManualOp op) {
  SubAxes free = op.getFreeAxes();
  auto check = [&](ManualOp inner) {
    bool within = true;
    auto see = [&](const SubAxis &axis) {
      within &= llvm::any_of(
          free, [&](const SubAxis &x) { return overlaps(x, axis); });
    };
    forEachAxis(inner.getFrom(), see);
    forEachAxis(inner.getTo(), see);
    llvm::for_each(inner.getFreeAxes(), see);
    return within ? WalkResult::advance() : WalkResult::interrupt();
  };
  if (op.getBody().walk(check).wasInterrupted())
    return op.emitOpError(
        "has another weft.manual inside, over axes that it does not leave "
        "free; slice and gather there instead");
  return success();
}

LogicalResult ManualOp::verifyRegions() {
  Block &body = getBody().front();
  if (failed(checkBlocks(*this, "operand", "takes", body.getArgumentTypes(),
                         getInputs().getTypes(), getFrom(),
                         [&](unsigned i) { return getOperandLayout(i); })) ||
      failed(checkBlocks(*this, "result", "yields",
                         body.getTerminator()->getOperandTypes(),
                         getResults().getTypes(), getTo(),
                         [&](unsigned i) { return getResultLayout(i); })))
    return failure();
  return checkInner(*this);
}
