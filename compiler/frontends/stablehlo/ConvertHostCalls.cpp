//===- ConvertHostCalls.cpp - functions of the script ---------------------===//
//
//   custom_call @weft.host_call(%x) {backend_config = "7"}
//
// is a weft.manual on whole values with one host.call inside; in per-device code
// (shard_map) it is a host.call of each device, with its part of the values.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/frontends/stablehlo/ConvertHostCalls.h"
#include "weft/dialects/coll/Coll.h"
#include "weft/dialects/host/Host.h"
#include "weft/dialects/weft/FlowOps.h"

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;

static ArrayAttr wholeLayouts(Converter &c, TypeRange types) {
  return c.builder.getArrayAttr(llvm::map_to_vector(types, [&](Type type) {
    int64_t rank = cast<RankedTensorType>(type).getRank();
    return Attribute(
        LayoutAttr::get(c.shardings.mesh(), Layout::replicated(rank)));
  }));
}

LogicalResult stablehlo::convertHostCall(Converter &c, ForeignOp op) {
  MeshAttr mesh = c.shardings.mesh();
  int64_t number = 0;
  if (op.word("backend_config").getAsInteger(10, number) || number < 0)
    return op.refuse() << "calls function \"" << op.word("backend_config")
                       << "\" of the host; expected its number";
  if (c.shardings.isIgnored() || !mesh)
    return op.refuse() << "calls the host from a program without a mesh, which "
                          "is not supported; run it from the script";
  SmallVector<Value> inputs = c.inputs(op);
  Location loc = op->getLoc();
  if (inputs.empty())
    inputs.push_back(c.splat(op, 0, RankedTensorType::get({}, c.builder.getI1Type())));
  TypeRange types(op->getResultTypes());
  if (c.perDevice && c.freeAxes.empty()) {
    auto call = host::CallOp::create(c.builder, loc, types, number, inputs,
                                     coll::groupOver(mesh, {}));
    return c.give(op, call.getResults());
  }
  auto manual = ManualOp::create(c.builder, loc, types, inputs,
                                 wholeLayouts(c, TypeRange(ValueRange(inputs))),
                                 wholeLayouts(c, types), ArrayAttr());
  OpBuilder::InsertionGuard guard(c.builder);
  Block &block = manual.getBody().emplaceBlock();
  c.builder.setInsertionPointToEnd(&block);
  for (Value input : inputs)
    block.addArgument(input.getType(), loc);
  auto call = host::CallOp::create(c.builder, loc, types, number,
                                       block.getArguments(),
                                       coll::groupOver(mesh, c.perDevice ? c.freeAxes : allAxes(mesh.getMesh())));
  YieldOp::create(c.builder, loc, call.getResults());
  return c.give(op, manual.getResults());
}
