//===- Annotations.cpp - the layouts that a program states ----------------===//

#include "weft/passes/sharding/propagation/Annotations.h"

#include "weft/base/PortRole.h"
#include "weft/dialects/weft/Ports.h"
#include "weft/passes/sharding/FreeRegions.h"
#include "weft/passes/sharding/propagation/LayoutJournal.h"

#include "llvm/ADT/STLExtras.h"

using namespace weft;
using namespace mlir;

/// The layout without axes of size 1, which split nothing.
static Layout withoutUnitAxes(const Mesh &mesh, Layout layout) {
  auto isUnit = [](const SubAxis &axis) { return axis.size == 1; };
  for (SubAxes &dim : layout.dims)
    llvm::erase_if(dim, isUnit);
  llvm::erase_if(layout.partial, isUnit);
  return normalise(mesh, layout);
}

std::optional<Layout> Annotations::read(Attribute attribute, Type type,
                                        const llvm::Twine &what) {
  auto layout = dyn_cast_or_null<LayoutAttr>(attribute);
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto fail = [&](const llvm::Twine &why) -> std::optional<Layout> {
    emitError(function.getLoc())
        << "@" << function.getName() << ": " << what << ": " << why;
    return std::nullopt;
  };
  if (!layout || !tensor)
    return fail("the annotation is no layout of a ranked tensor");
  if (layout.getMesh() != table.meshAttr())
    return fail("the layout's mesh is not the module's weft.mesh; use one "
                "mesh for all annotations");
  Layout value = layout.getLayout();
  if (int64_t(value.dims.size()) != tensor.getRank())
    return fail("layout has " + llvm::Twine(value.dims.size()) +
                " dimensions, the tensor " + llvm::Twine(tensor.getRank()) +
                "; give each dimension a list of axes");
  std::string why = invalidReason(mesh, value, tensor.getRank());
  if (!why.empty())
    return fail(why);
  return withoutUnitAxes(mesh, value);
}

void Annotations::fix(Value value, const Layout &layout, bool isState,
                      Operation *by) {
  LayoutEntry *entry = table.find(value);
  if (!entry || entry->fixed || table.isSource(value) ||
      entry->layout.part != layout.part)
    return; // A result may be on another part of the mesh than its value.
  if (LayoutJournal *journal = table.kept())
    journal->record({.value = table.flow().leader(value), .op = by},
                    entry->layout, layout);
  entry->layout.dims = layout.dims;
  entry->fixed = true;
  entry->isState = isState;
}

void Annotations::leavePartial(Value value, const Layout &layout) {
  if (!layout.isPartial() || !table.knows(value) ||
      table.flow().leader(value) != value)
    return;
  llvm::append_range(table.entryOf(value).forbiddenAxes, layout.partial);
  table.setPartial(value, layout);
}

//===----------------------------------------------------------------------===//
// Ports
//===----------------------------------------------------------------------===//

static bool isStateRole(Attribute role) {
  auto text = dyn_cast_or_null<StringAttr>(role);
  std::optional<Role> known = text ? roleNamed(text.getValue()) : std::nullopt;
  return known && holdsState(*known);
}

LogicalResult Annotations::enterArgument(BlockArgument argument) {
  unsigned index = argument.getArgNumber();
  bool isState = isStateRole(function.getArgAttr(index, kRoleAttr));
  LayoutEntry *entry = table.find(argument);
  if (entry)
    entry->isState = isState;
  Attribute attribute = function.getArgAttr(index, kLayoutAttr);
  if (attribute && argument != ignored) {
    auto layout =
        read(attribute, argument.getType(), "argument " + llvm::Twine(index));
    if (!layout)
      return failure();
    fix(argument, *layout, isState, /*by=*/nullptr);
    leavePartial(argument, *layout);
  }
  return entry ? enterOptions(argument) : success();
}

LogicalResult Annotations::enterDonation(BlockArgument argument) {
  unsigned index = argument.getArgNumber();
  auto result = function.getArgAttrOfType<IntegerAttr>(index, kDonatedAttr);
  if (!result)
    return success();
  if (result.getInt() < 0 || result.getInt() >= function.getNumResults())
    return function.emitError()
           << "argument " << index << " is donated to result "
           << result.getInt() << ", the function has "
           << function.getNumResults();
  table.donate(argument, result.getInt());
  return success();
}

LogicalResult Annotations::enterArguments() {
  for (BlockArgument argument : function.getArguments())
    if (failed(enterArgument(argument)) || failed(enterDonation(argument)))
      return failure();
  return success();
}

LogicalResult Annotations::enterResult(unsigned index) {
  Operation *end = function.getBody().front().getTerminator();
  Value returned = end->getOperand(index),
        donated = table.donatedArgument(index);
  const LayoutEntry *memory = donated ? table.find(donated) : nullptr;
  bool isMemoryClosed = memory && !memory->isOpen();
  std::optional<Layout> layout;
  Attribute attribute = function.getResultAttr(index, kLayoutAttr);
  if (attribute && returned != ignored) {
    layout = read(attribute, function.getResultTypes()[index],
                  "result " + llvm::Twine(index));
    if (!layout)
      return failure();
    if (isMemoryClosed && *layout != table.annotated(donated))
      return function.emitError()
             << "result " << index << " reuses the memory of an argument "
             << "laid out " << toString(mesh, table.annotated(donated))
             << ", but is annotated " << toString(mesh, *layout);
  } else if (isMemoryClosed) {
    layout = table.annotated(donated);
  }
  if (!layout)
    return success();
  table.annotateResult(index, *layout);
  if (!isMemoryClosed && table.isCarried(returned))
    return success(); // may be moved after the loop
  fix(returned, *layout, memory && memory->isState, end);
  if (LayoutEntry *entry = table.find(returned);
      entry && !entry->mustDivide.empty())
    entry->extend(*layout);
  return success();
}

LogicalResult Annotations::enterResults() {
  for (unsigned index = 0; index < function.getNumResults(); ++index)
    if (failed(enterResult(index)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult Annotations::enterConstraints() {
  for (const OpWithRule &op : table.ops())
    if (auto constrain = dyn_cast<ConstrainOp>(op.op);
        constrain && constrain.getResult() != ignored) {
      auto layout =
          read(constrain.getLayout(), constrain.getType(), "weft.constrain");
      if (!layout)
        return failure();
      if (MeshPart place = table.placeOf(op.op); place != layout->part)
        return op.op->emitError("puts a value on ")
               << describe(mesh.axes, layout->part)
               << ", but the op with regions around it runs on "
               << describe(mesh.axes, place)
               << "; put all values of its regions on one part";
      fix(constrain.getResult(), *layout, /*isState=*/false, op.op);
      leavePartial(constrain.getResult(), *layout);
      if (failed(checkBound(op.op, *layout)) ||
          failed(enterOptions(constrain.getResult())))
        return failure();
    }
  return success();
}

/// Lets a value at the border of a region take free axes of the region, as long
/// as its blocks are full.
void Annotations::openToFreeAxes(Value value, llvm::ArrayRef<SubAxis> free) {
  LayoutEntry &entry = table.entryOf(value);
  entry.mustDivide = cast<RankedTensorType>(value.getType()).getShape();
  entry.open = ~uint64_t(0);
  llvm::append_range(entry.forbiddenAxes, boundAxes(mesh, free));
}

LogicalResult Annotations::enterFixedLayouts() {
  for (const OpWithRule &op : table.ops()) {
    auto says = dyn_cast<FixedLayoutsOpInterface>(op.op);
    if (!says)
      continue;
    SubAxes free = says.getFreeAxes();
    for (OpResult result : op.op->getResults()) {
      auto layout = read(says.getResultLayout(result.getResultNumber()),
                         result.getType(), op.op->getName().getStringRef());
      if (!layout)
        return failure();
      fix(result, *layout, /*isState=*/false, op.op);
      leavePartial(result, *layout);
      if (!free.empty())
        openToFreeAxes(result, free);
    }
    if (!free.empty())
      for (BlockArgument argument : op.op->getRegion(0).getArguments())
        openToFreeAxes(argument, free);
  }
  return success();
}

static bool uses(const Layout &layout, unsigned axis) {
  auto isOf = [&](const SubAxis &used) { return used.axis == axis; };
  return llvm::any_of(layout.partial, isOf) ||
         llvm::any_of(layout.dims, [&](const SubAxes &dim) {
           return llvm::any_of(dim, isOf);
         });
}

LogicalResult Annotations::checkBound(Operation *op, const Layout &layout) {
  FixedLayoutsOpInterface around = freeRegionAround(op);
  if (!around)
    return success();
  for (const SubAxis &axis : boundAxes(mesh, around.getFreeAxes()))
    if (uses(layout, axis.axis))
      return op->emitError("lays a value out over \"")
             << mesh.axes[axis.axis].name << "\", but " << around->getName()
             << " around it takes that axis itself; "
             << "name axes that it leaves free";
  return success();
}

LogicalResult Annotations::enter() {
  if (failed(enterArguments()) || failed(enterConstraints()) ||
      failed(enterFixedLayouts()) || failed(joinGroups()))
    return failure();
  return enterResults();
}
