//===- ConvertControl.cpp - calls, branches, annotations ------------------===//

#include "weft/compiler/frontends/stablehlo/convert/CallLimits.h"
#include "weft/compiler/frontends/stablehlo/convert/ConvertHostCalls.h"
#include "weft/compiler/frontends/stablehlo/convert/RegionInputs.h"

#include "weft/dialects/host/Host.h"
#include "weft/dialects/weft/ops/FlowOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;

namespace {

LogicalResult call(Converter &c, ForeignOp op) {
  return c.call(op, calleeOf(op));
}

/// Replaces an op that has no effect by its operands, such as the casts between
/// equal types around Shardy's ops in an artifact.
LogicalResult forward(Converter &c, ForeignOp op) {
  return c.give(op, c.inputs(op));
}

LogicalResult barrier(Converter &c, ForeignOp op) {
  SmallVector<Value> inputs = c.inputs(op);
  return c.give(op, OptimizationBarrierOp::create(c.builder, op->getLoc(),
                                                  TypeRange(ValueRange(inputs)),
                                                  inputs)
                        .getResults());
}

/// The names of the axes that a constraint may use; null if it may use all.
ArrayAttr constrainable(Converter &c) {
  if (!c.perDevice)
    return {};
  SmallVector<Attribute> names;
  for (const SubAxis &axis : c.freeAxes)
    names.push_back(c.builder.getStringAttr(
        c.shardings.mesh().getMesh().axes[axis.axis].name));
  return c.builder.getArrayAttr(names);
}

/// Converts a sharding constraint or one of Shardy's collectives, which change
/// the layout of a value but not its elements.
LogicalResult constrain(Converter &c, ForeignOp op) {
  // JAX annotates every value in a manual computation as open.
  if (c.ofElements ||
      (c.perDevice && (c.freeAxes.empty() || op.resultType().getRank() == 0)))
    return forward(c, op);
  Attribute sharding = op.attribute("sharding");
  auto said = c.shardings.resolve(
      op->getLoc(), sharding ? sharding : op.attribute("out_sharding"),
      op.resultType().getRank(), constrainable(c));
  if (failed(said))
    return failure();
  Value value = c.input(op, 0);
  if (said->layout) {
    value = c.make<ConstrainOp>(op, value.getType(), value, said->layout,
                                c.builder.getStringAttr("sharding constraint"));
    for (NamedAttribute option : said->options())
      value.getDefiningOp()->setDiscardableAttr(option.getName(),
                                                option.getValue());
  }
  return c.give(op, value);
}

/// Adds the value to a sharding group; later uses take the value with the
/// group's layout.
LogicalResult joinGroup(Converter &c, ForeignOp op) {
  auto type = op.operandType(0);
  if ((c.perDevice && c.freeAxes.empty()) || c.shardings.isIgnored() ||
      !c.shardings.mesh() || type.getRank() == 0)
    return success();
  auto nothing =
      LayoutAttr::get(c.shardings.mesh(), Layout::replicated(type.getRank()));
  auto member =
      c.make<ConstrainOp>(op, c.input(op, 0).getType(), c.input(op, 0), nothing,
                          c.builder.getStringAttr("sharding group"));
  Operation *constrain = member.getDefiningOp();
  SmallVector<int64_t> dims =
      llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  constrain->setDiscardableAttr("weft.open",
                                c.builder.getDenseI64ArrayAttr(dims));
  constrain->setDiscardableAttr(
      "weft.group", c.builder.getStringAttr(
                        "group " + Twine(op.integer("group_id").value_or(0))));
  // A member without uses has a say in the group's layout, too.
  host::ObserveOp::create(c.builder, op->getLoc(), member, StringAttr());
  Value value = op->getOperand(0);
  c.map(value, member);
  while (Operation *cast =
             definedBy(value, "builtin.unrealized_conversion_cast", 1)) {
    value = cast->getOperand(0);
    c.map(value, member);
  }
  return success();
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

/// Replaces a token by a placeholder: effects keep the order of the program.
LogicalResult token(Converter &c, ForeignOp op) {
  return c.give(op, c.splat(op, 0, op.resultType()));
}

/// The op that a call of @mhlo.NAME stands for: NAME of mhlo, chlo or
/// StableHLO. Older exports write ops of mhlo and chlo as such calls.
std::string operationOfCall(StringRef name) {
  for (StringRef dialect : {"mhlo.", "chlo.", ""}) {
    const ConversionEntry *entry = findConversion((dialect + name).str());
    if (entry && entry->role == OpRole::Plain && entry->regions == 0)
      return ((dialect.empty() ? "stablehlo." : dialect) + name).str();
  }
  return "";
}

LogicalResult customCall(Converter &c, ForeignOp op) {
  StringRef target = op.word("call_target_name");
  if (target == kHostCall)
    return convertHostCall(c, op);
  if (target == kObserve)
    return convertObservation(c, op);
  if (std::optional<StringRef> routine = routineOfCall(target))
    return convertLapack(c, op, *routine);
  if (target == "Sharding" && op->getNumOperands() == 1 &&
      op->getNumResults() == 1)
    return constrain(c, op);
  // A constraint on the order in memory has no effect, as arrays are row-major.
  if (target == "LayoutConstraint" && op->getNumOperands() == 1 &&
      op->getNumResults() == 1)
    return forward(c, op);
  // All kinds of memory are the host's, in which devices compute.
  if (target == "annotate_device_placement" && op->getNumOperands() == 1 &&
      op->getNumResults() == 1)
    return forward(c, op);
  // dce_sink only keeps the computation of its operand alive.
  if (target == "dce_sink" && op->getNumResults() == 0)
    return success();
  if (StringRef rest = target; rest.consume_front("mhlo."))
    if (std::string name = operationOfCall(rest); !name.empty())
      return c.convertAs(
          op, name,
          dyn_cast_or_null<DictionaryAttr>(op.attribute("mhlo.attributes")));
  return op.refuse() << "calls @" << target
                     << ", which is not supported; if it was lowered for "
                        "another platform, such as linear algebra for "
                        "a vendor's library, lower the function for Weft: "
                        "weft.compile(f, ...), or JAX_PLATFORMS=weft";
}

constexpr ConversionEntry kEntries[] = {
    {"func.call", call, 0, 0, OpRole::HasEffect},
    {"builtin.unrealized_conversion_cast", forward, 1, 0, OpRole::Annotation},
    {"optimization_barrier", barrier},
    {"sdy.propagation_barrier", forward, 1, 0, OpRole::Annotation},
    {"sdy.sharding_constraint", constrain, 1, 0, OpRole::Annotation},
    {"sdy.reshard", constrain, 1, 0, OpRole::Annotation},
    {"sdy.sharding_group", joinGroup, 1, 0, OpRole::HasEffect},
    {"sdy.all_gather", constrain, 1, 0, OpRole::Annotation},
    {"sdy.all_reduce", constrain, 1, 0, OpRole::Annotation},
    {"sdy.all_slice", constrain, 1, 0, OpRole::Annotation},
    {"sdy.all_to_all", constrain, 1, 0, OpRole::Annotation},
    {"sdy.collective_permute", constrain, 1, 0, OpRole::Annotation},
    {"sdy.reduce_scatter", constrain, 1, 0, OpRole::Annotation},
    {"sdy.replicated_to_unreduced", constrain, 1, 0, OpRole::Annotation},
    {"sdy.sharded_to_unreduced", constrain, 1, 0, OpRole::Annotation},
    {"sdy.data_flow_edge", constrain, 1, 0, OpRole::Annotation},
    {"sdy.func_data_flow_edge", constrain, 1, 0, OpRole::Annotation},
    {"case", branches, 1, -1, OpRole::HasEffect},
    {"if", branches, 1, -1, OpRole::HasEffect},
    {"custom_call", customCall, 0, 0, OpRole::HasEffect},
    {"send", convertSend, 2},
    {"recv", convertReceive, 1},
    {"create_token", token, 0},
    {"after_all", token, 0},
};

} // namespace

ArrayRef<ConversionEntry> stablehlo::controlConversions() { return kEntries; }
