//===- ConvertHostCalls.cpp - functions of the script ---------------------===//
//
//   custom_call @weft.host_call(%x) {backend_config = "7"}
//
// becomes a weft.manual that contains one host.call on the full values. In
// per-device code (shard_map) without free axes it becomes a host.call of each
// device on the device's values. @weft.observe becomes a host.observe.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/frontends/stablehlo/convert/ConvertHostCalls.h"
#include "weft/dialects/coll/Coll.h"
#include "weft/dialects/host/Host.h"
#include "weft/dialects/weft/ops/FlowOps.h"
#include "weft/runtime/abi/HostFunctions.h"

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;

static ArrayAttr replicatedLayouts(Converter &c, TypeRange types) {
  return c.builder.getArrayAttr(llvm::map_to_vector(types, [&](Type type) {
    int64_t rank = cast<RankedTensorType>(type).getRank();
    return Attribute(
        LayoutAttr::get(c.shardings.mesh(), Layout::replicated(rank)));
  }));
}

LogicalResult stablehlo::convertObservation(Converter &c, ForeignOp op) {
  if (op->getNumOperands() != 1 || op->getNumResults() != 0)
    return op.refuse() << "observes " << op->getNumOperands()
                       << " values; expected one, and no result";
  if (c.perDevice && c.freeAxes.empty())
    return op.refuse() << "observes a value of per-device code, which has no "
                          "layout";
  if (c.shardings.isIgnored() || !c.shardings.mesh())
    return success(); // there is one device, so no layout
  host::ObserveOp::create(c.builder, op->getLoc(), c.input(op, 0),
                          c.builder.getStringAttr(op.word("backend_config")));
  return success();
}

/// The results of a host call, which runs once for all devices or, in
/// per-device code, once for the devices along the free axes, which is once for
/// each device if there are none. Emits errors on the op.
static FailureOr<SmallVector<Value>> callHost(Converter &c, ForeignOp op,
                                              int64_t number,
                                              SmallVector<Value> inputs,
                                              TypeRange types) {
  MeshAttr mesh = c.shardings.mesh();
  if (c.shardings.isIgnored() || !mesh)
    return op.refuse() << "calls the host from a program without a mesh, which "
                          "is not supported; run it from the script";
  Location loc = op->getLoc();
  if (inputs.empty())
    inputs.push_back(
        c.splat(op, 0, RankedTensorType::get({}, c.builder.getI1Type())));
  if (c.perDevice && c.freeAxes.empty())
    return SmallVector<Value>(host::CallOp::create(c.builder, loc, types,
                                                   number, inputs,
                                                   coll::groupOver(mesh, {}))
                                  .getResults());
  auto manual =
      ManualOp::create(c.builder, loc, types, inputs,
                       replicatedLayouts(c, TypeRange(ValueRange(inputs))),
                       replicatedLayouts(c, types), ArrayAttr());
  OpBuilder::InsertionGuard guard(c.builder);
  Block &block = manual.getBody().emplaceBlock();
  c.builder.setInsertionPointToEnd(&block);
  for (Value input : inputs)
    block.addArgument(input.getType(), loc);
  auto call = host::CallOp::create(
      c.builder, loc, types, number, block.getArguments(),
      coll::groupOver(mesh,
                      c.perDevice ? c.freeAxes : allAxes(mesh.getMesh())));
  YieldOp::create(c.builder, loc, call.getResults());
  return SmallVector<Value>(manual.getResults());
}

LogicalResult stablehlo::convertHostCall(Converter &c, ForeignOp op) {
  int64_t number = 0;
  if (op.word("backend_config").getAsInteger(10, number) || number < 0 ||
      number >= WEFT_HOST_SEND)
    return op.refuse() << "calls function \"" << op.word("backend_config")
                       << "\" of the host; expected its number";
  auto results = callHost(c, op, number, c.inputs(op), op->getResultTypes());
  return failed(results) ? failure() : c.give(op, *results);
}

/// The channel of a transfer between the host and all devices; emits an error
/// on the op if there is none.
static FailureOr<int64_t> channelOf(Converter &c, ForeignOp op) {
  auto handle =
      dyn_cast_or_null<DictionaryAttr>(op.attribute("channel_handle"));
  auto number = handle
                    ? handle.getAs<IntegerAttr>("handle")
                    : dyn_cast_or_null<IntegerAttr>(op.attribute("channel_id"));
  if (!op.flag("is_host_transfer"))
    return op.refuse() << "is a transfer between devices, which is not "
                          "supported; only is_host_transfer is";
  if (!number || number.getInt() < 0 || number.getInt() >= WEFT_HOST_CHANNELS)
    return op.refuse() << "names no channel from 0 to "
                       << WEFT_HOST_CHANNELS - 1;
  if (c.perDevice)
    return op.refuse() << "transfers from per-device code, which is not "
                          "supported; only whole values are";
  return number.getInt();
}

LogicalResult stablehlo::convertSend(Converter &c, ForeignOp op) {
  auto channel = channelOf(c, op);
  if (failed(channel))
    return failure();
  if (op->getNumOperands() != 2)
    return op.refuse() << "sends " << op->getNumOperands() - 1
                       << " values; expected one";
  auto sent = callHost(c, op, WEFT_HOST_SEND + *channel, {c.input(op, 0)}, {});
  return failed(sent) ? failure() : c.give(op, c.splat(op, 0, op.resultType()));
}

LogicalResult stablehlo::convertReceive(Converter &c, ForeignOp op) {
  auto channel = channelOf(c, op);
  if (failed(channel))
    return failure();
  if (op->getNumResults() != 2)
    return op.refuse() << "receives " << op->getNumResults() - 1
                       << " values; expected one";
  auto values =
      callHost(c, op, WEFT_HOST_RECEIVE + *channel, {}, {op.resultType()});
  if (failed(values))
    return failure();
  return c.give(op, {values->front(), c.splat(op, 0, op.resultType(1))});
}
