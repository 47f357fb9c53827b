//===- Manual.cpp - what holds of per-device code --------------------------===//

#include "weft/dialects/weft/FlowOps.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace weft;

LayoutAttr ManualOp::getOperandLayout(unsigned operand) {
  return cast<LayoutAttr>(getFrom()[operand]);
}

LayoutAttr ManualOp::getResultLayout(unsigned result) {
  return cast<LayoutAttr>(getTo()[result]);
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

/// Are all blocks of the tensor full?
static bool dividesEvenly(const Layout &layout, ArrayRef<int64_t> shape) {
  return llvm::all_of(llvm::zip(layout.dims, shape), [](auto dim) {
    return std::get<1>(dim) % shardCount(std::get<0>(dim)) == 0;
  });
}

/// (C1), (C2), (C4) for the operands or the results.
static LogicalResult checkLayouts(ManualOp op, StringRef what, TypeRange types,
                                  ArrayAttr layouts, MeshAttr mesh) {
  if (types.size() != layouts.size()) // (C1)
    return op.emitOpError("has ")
           << types.size() << " " << what << "s, but layouts for " << layouts.size();
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
    if (layout.isPartial()) // (C1)
      return refuse() << "it is partial";
    if (!dividesEvenly(layout, type.getShape())) // (C2)
      return refuse() << "the axes do not divide its dimensions; pad it, or "
                         "shard other dimensions";
    if (LayoutAttr said = getLayout(type); said && said != attr) // (C4)
      return refuse() << "its type says otherwise";
  }
  return success();
}

MeshAttr ManualOp::getMesh() {
  ArrayAttr any = getFrom().empty() ? getTo() : getFrom();
  return any.empty() ? MeshAttr() : cast<LayoutAttr>(any[0]).getMesh();
}

LogicalResult ManualOp::verify() {
  MeshAttr mesh = getMesh();
  if (!mesh)
    return emitOpError("has neither operands nor results, so no mesh");
  if (failed(checkLayouts(*this, "operand", getInputs().getTypes(), getFrom(), mesh)))
    return failure();
  return checkLayouts(*this, "result", getResults().getTypes(), getTo(), mesh);
}

/// (C3) for the region's arguments or what it yields.
static LogicalResult checkBlocks(ManualOp op, StringRef what, TypeRange blocks,
                                 TypeRange types, ArrayAttr layouts) {
  if (blocks.size() != types.size())
    return op.emitOpError("the region ")
           << what << " " << blocks.size() << " values, not " << types.size();
  for (auto [index, block] : llvm::enumerate(blocks)) {
    auto type = cast<RankedTensorType>(types[index]);
    Layout layout = cast<LayoutAttr>(layouts[index]).getLayout();
    auto expected = RankedTensorType::get(localShape(layout, type.getShape()),
                                          type.getElementType());
    if (block != expected)
      return op.emitOpError("the region ")
             << what << " " << block << " where the block of " << type << " is " << expected;
  }
  return success();
}

LogicalResult ManualOp::verifyRegions() {
  Block &body = getBody().front();
  if (failed(checkBlocks(*this, "takes", body.getArgumentTypes(), getInputs().getTypes(), getFrom())) ||
      failed(checkBlocks(*this, "yields", body.getTerminator()->getOperandTypes(),
                         getResults().getTypes(), getTo()))) // (C3)
    return failure();
  WalkResult inner = getBody().walk([](ManualOp) { return WalkResult::interrupt(); });
  if (inner.wasInterrupted()) // (C5)
    return emitOpError("has another weft.manual inside; slice and gather there instead");
  return success();
}
