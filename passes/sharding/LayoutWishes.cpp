//===- LayoutWishes.cpp - what an argument says besides its layout --------===//

#include "weft/passes/sharding/LayoutTable.h"

#include "llvm/ADT/STLExtras.h"

using namespace weft;
using namespace mlir;

static InFlightDiagnostic refuse(BlockArgument arg, func::FuncOp function) {
  return emitError(function.getLoc())
         << "@" << function.getName() << ": argument " << arg.getArgNumber()
         << ": ";
}

LogicalResult LayoutTable::seedReplicated(BlockArgument arg, Entry &entry) {
  auto names = function.getArgAttrOfType<ArrayAttr>(arg.getArgNumber(),
                                                    "weft.replicated");
  for (Attribute attribute : names ? names.getValue() : ArrayRef<Attribute>()) {
    auto name = dyn_cast<StringAttr>(attribute);
    auto axis = name ? meshValue.find(name.getValue()) : std::nullopt;
    if (!axis)
      return refuse(arg, function) << "weft.replicated names " << attribute
                                   << ", which is no axis of " << meshAttribute;
    entry.never.push_back(wholeAxis(meshValue, *axis));
    for (const SubAxes &dim : entry.layout.dims)
      for (const SubAxis &used : dim)
        if (used.axis == *axis)
          return refuse(arg, function)
                 << "weft.replicated names " << name
                 << ", but its layout is sharded over it: "
                 << toString(meshValue, entry.layout);
  }
  return success();
}

LogicalResult LayoutTable::seedWishes(BlockArgument arg) {
  unsigned index = arg.getArgNumber();
  Entry &entry = entries[arg];
  if (auto open =
          function.getArgAttrOfType<DenseI64ArrayAttr>(index, "weft.open"))
    for (int64_t dim : open.asArrayRef()) {
      int64_t rank = entry.layout.dims.size();
      if (dim < 0 || dim >= std::min<int64_t>(rank, 64))
        return refuse(arg, function) << "weft.open names dimension " << dim
                                     << ", the tensor has " << rank;
      entry.open |= uint64_t(1) << dim;
    }
  if (auto priority =
          function.getArgAttrOfType<IntegerAttr>(index, "weft.priority")) {
    entry.priority = priority.getInt();
    if (entry.priority < 0)
      return refuse(arg, function)
             << "weft.priority is " << entry.priority << ", the first is 0";
  }
  if (auto group = function.getArgAttrOfType<StringAttr>(index, "weft.group")) {
    entry.group = group;
    groups[group].push_back(arg);
  }
  return seedReplicated(arg, entry);
}

/// The annotated members of a group agree; the others are annotated by them.
LogicalResult LayoutTable::joinGroups() {
  for (BlockArgument arg : function.getArguments()) {
    auto it = entries.find(arg);
    if (it == entries.end() || !it->second.group || !it->second.fixed)
      continue;
    Entry speaker = it->second;
    for (Value member : groups[speaker.group]) {
      Entry &entry = entries[member];
      unsigned other = cast<BlockArgument>(member).getArgNumber();
      if (entry.layout.dims.size() != speaker.layout.dims.size())
        return refuse(arg, function)
               << "group " << speaker.group << " joins it, of rank "
               << speaker.layout.dims.size() << ", with argument " << other
               << " of rank " << entry.layout.dims.size();
      if (!entry.fixed) {
        fix(member, speaker.layout, entry.late);
        entry.open = speaker.open;
        entry.priority = speaker.priority;
      } else if (entry.layout != speaker.layout) {
        return refuse(arg, function)
               << "group " << speaker.group << " joins "
               << toString(meshValue, speaker.layout) << " with "
               << toString(meshValue, entry.layout) << " of argument " << other;
      }
    }
  }
  return success();
}
