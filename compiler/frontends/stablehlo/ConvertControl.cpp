//===- ConvertControl.cpp - calls, branches, annotations ------------------===//

#include "weft/compiler/frontends/stablehlo/ConvertHostCalls.h"
#include "weft/compiler/frontends/stablehlo/RegionInputs.h"

#include "weft/dialects/weft/FlowOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;

namespace {

LogicalResult call(Converter &c, ForeignOp op) {
  if (auto symbol =
          dyn_cast_or_null<FlatSymbolRefAttr>(op.attribute("callee")))
    return c.call(op, symbol.getValue());
  return c.call(op, op.word("callee"));
}

/// A cast between equal types, as stand around sdy's ops in an artifact.
LogicalResult forward(Converter &c, ForeignOp op) {
  return c.give(op, c.inputs(op));
}

LogicalResult barrier(Converter &c, ForeignOp op) {
  SmallVector<Value> inputs = c.inputs(op);
  return c.give(op, OptimizationBarrierOp::create(
                        c.builder, op->getLoc(),
                        TypeRange(ValueRange(inputs)), inputs)
                        .getResults());
}

/// Names of the axes that a constraint may speak of; null for all.
ArrayAttr constrainable(Converter &c) {
  if (!c.perDevice)
    return {};
  SmallVector<Attribute> names;
  for (const SubAxis &axis : c.freeAxes)
    names.push_back(c.builder.getStringAttr(c.shardings.mesh().getMesh().axes[axis.axis].name));
  return c.builder.getArrayAttr(names);
}

LogicalResult constrain(Converter &c, ForeignOp op) {
  // JAX says of every value in a manual computation that it is open.
  if (c.perDevice && (c.freeAxes.empty() || op.resultType().getRank() == 0))
    return forward(c, op);
  auto said = c.shardings.resolve(op->getLoc(), op.attribute("sharding"),
                                  op.resultType().getRank(), constrainable(c));
  if (failed(said))
    return failure();
  Value value = c.input(op, 0);
  if (said->layout) {
    value = c.make<ConstrainOp>(
        op, value.getType(), value, said->layout,
        c.builder.getStringAttr("sharding constraint"));
    for (NamedAttribute wish : said->wishes())
      value.getDefiningOp()->setDiscardableAttr(wish.getName(),
                                                wish.getValue());
  }
  return c.give(op, value);
}

LogicalResult branches(Converter &c, ForeignOp op) {
  if (op->getNumRegions() == 0)
    return op.refuse() << "has no branch";
  OpBuilder::InsertionGuard guard(c.builder);
  RegionInputs surroundings(c, op);
  TypeRange types(op->getResultTypes());
  auto choice = CaseOp::create(c.builder, op->getLoc(), types, c.input(op, 0),
                               surroundings.passed(), op->getNumRegions());
  for (auto [from, into] :
       llvm::zip_equal(op->getRegions(), choice.getBranches())) {
    SmallVector<Value> results;
    if (failed(surroundings.convert(from, into, TypeRange(), results)))
      return failure();
    if (TypeRange(ValueRange(results)) != types)
      return op.refuse() << "has results of types " << types
                         << ", but a branch returns "
                         << ValueRange(results).getTypes();
    YieldOp::create(c.builder, op->getLoc(), results);
  }
  return c.give(op, choice.getResults());
}

/// Order is that of the program.
LogicalResult token(Converter &c, ForeignOp op) {
  return c.give(op, c.splat(op, 0, op.resultType()));
}

LogicalResult customCall(Converter &c, ForeignOp op) {
  StringRef target = op.word("call_target_name");
  if (target == kHostCall)
    return convertHostCall(c, op);
  if (target == kObserve)
    return convertObservation(c, op);
  if (target == "Sharding" && op->getNumOperands() == 1 &&
      op->getNumResults() == 1)
    return constrain(c, op);
  return op.refuse() << "calls @" << target << ", which is not supported";
}

constexpr ConversionEntry kEntries[] = {
    {"func.call", call, 0},
    {"builtin.unrealized_conversion_cast", forward},
    {"optimization_barrier", barrier},
    {"sdy.propagation_barrier", forward},
    {"sdy.sharding_constraint", constrain},
    {"sdy.reshard", constrain},
    {"case", branches, 1, -1},
    {"if", branches, 1, -1},
    {"custom_call", customCall, 0},
    {"send", convertSend, 2},
    {"recv", convertReceive, 1},
    {"create_token", token, 0},
    {"after_all", token, 0},
};

} // namespace

ArrayRef<ConversionEntry> stablehlo::controlConversions() { return kEntries; }
