//===- AnnotationOptions.cpp - options of an annotation besides its layout ===//

#include "weft/passes/sharding/propagation/Annotations.h"

#include "llvm/ADT/STLExtras.h"

using namespace weft;
using namespace mlir;

namespace {
/// An annotated argument, or the value of a `weft.constrain`.
struct Annotated {
  Value value;
  mutable func::FuncOp function;

  Attribute get(StringRef name) const {
    if (auto arg = dyn_cast<BlockArgument>(value))
      return function.getArgAttr(arg.getArgNumber(), name);
    return value.getDefiningOp()->getDiscardableAttr(name);
  }
  std::string name() const {
    if (auto arg = dyn_cast<BlockArgument>(value))
      return "argument " + std::to_string(arg.getArgNumber());
    return value.getDefiningOp()->getName().getStringRef().str();
  }
  Location location() const {
    return isa<BlockArgument>(value) ? function.getLoc() : value.getLoc();
  }
  InFlightDiagnostic refuse() const {
    return emitError(location())
           << "@" << function.getName() << ": " << name() << ": ";
  }
  /// Reads the attribute of that name, if it is there, into `out`.
  template <typename T>
  LogicalResult read(StringRef name, StringRef example, T &out) const {
    Attribute attribute = get(name);
    out = dyn_cast_or_null<T>(attribute);
    if (attribute && !out)
      return refuse() << name << " is " << attribute << "; write it as "
                      << example;
    return success();
  }
};
} // namespace

static LogicalResult readOpen(const Annotated &it, int64_t rank,
                              uint64_t &open) {
  DenseI64ArrayAttr dims;
  if (failed(it.read("weft.open", "array<i64: 0>", dims)))
    return failure();
  for (int64_t dim : dims ? dims.asArrayRef() : ArrayRef<int64_t>()) {
    if (dim < 0 || dim >= std::min<int64_t>(rank, 64))
      return it.refuse() << "weft.open names dimension " << dim
                         << ", the tensor has " << rank
                         << "; the first dimension is 0";
    open |= uint64_t(1) << dim;
  }
  return success();
}

static LogicalResult readPriority(const Annotated &it, int64_t &priority) {
  IntegerAttr said;
  if (failed(it.read("weft.priority", "1 : i64", said)))
    return failure();
  priority = said ? said.getInt() : 0;
  if (priority < 0)
    return it.refuse() << "weft.priority is " << priority
                       << ", the first is 0; count on from there";
  return success();
}

LogicalResult Annotations::enterReplicated(Value value, LayoutEntry &entry) {
  Annotated it{value, function};
  ArrayAttr names;
  if (failed(it.read("weft.replicated", "[\"model\"]", names)))
    return failure();
  for (Attribute attribute : names ? names.getValue() : ArrayRef<Attribute>()) {
    auto name = dyn_cast<StringAttr>(attribute);
    auto axis = name ? mesh.find(name.getValue()) : std::nullopt;
    if (!axis)
      return it.refuse() << "weft.replicated names " << attribute
                         << ", which is no axis of " << table.meshAttr()
                         << "; name one of its axes";
    entry.forbiddenAxes.push_back(fullAxis(mesh, *axis));
    for (const SubAxes &dim : entry.layout.dims)
      for (const SubAxis &used : dim)
        if (used.axis == *axis)
          return it.refuse()
                 << "weft.replicated names " << name
                 << ", but its layout is sharded over it: "
                 << toString(mesh, entry.layout) << "; remove one of both";
  }
  return success();
}

LogicalResult Annotations::enterOptions(Value value) {
  Annotated it{value, function};
  LayoutEntry &entry = table.entryOf(value);
  if (failed(readOpen(it, entry.layout.dims.size(), entry.open)) ||
      failed(readPriority(it, entry.priority)) ||
      failed(it.read("weft.group", "\"name\"", entry.group)))
    return failure();
  if (entry.group)
    table.addToGroup(entry.group, value);
  return enterReplicated(value, entry);
}

/// Checks that the annotated members of a group have equal layouts, and gives
/// the others that layout.
LogicalResult Annotations::joinGroup(Value first) {
  LayoutEntry leader = table.entryOf(first);
  Annotated it{first, function};
  for (Value member : table.group(leader.group)) {
    LayoutEntry &entry = table.entryOf(member);
    Annotated other{member, function};
    auto refuse = [&](auto &&...text) {
      InFlightDiagnostic diag = it.refuse();
      diag << "group " << leader.group << " joins ";
      ((diag << text), ...);
      if (!isa<BlockArgument>(member))
        diag.attachNote(other.location()) << "the other is here";
      return diag;
    };
    if (entry.layout.dims.size() != leader.layout.dims.size())
      return refuse("it, of rank ", leader.layout.dims.size(), ", with ",
                    other.name(), " of rank ", entry.layout.dims.size(),
                    "; join tensors of one rank");
    if (entry.saysNothing()) {
      entry.layout = leader.layout;
      entry.fixed = true;
      entry.open = leader.open;
      entry.priority = leader.priority;
    } else if (entry.layout != leader.layout) {
      return refuse(toString(mesh, leader.layout), " with ",
                    toString(mesh, entry.layout), " of ", other.name(),
                    "; annotate them alike, or one of them");
    }
  }
  return success();
}

LogicalResult Annotations::joinGroups() {
  auto join = [&](Value value) {
    const LayoutEntry *entry = table.find(value);
    bool isActive = entry && entry->group && !entry->saysNothing();
    return isActive ? joinGroup(value) : success();
  };
  for (BlockArgument arg : function.getArguments())
    if (failed(join(arg)))
      return failure();
  for (const OpWithRule &op : table.ops())
    if (isa<ConstrainOp>(op.op) && failed(join(op.op->getResult(0))))
      return failure();
  return success();
}
