//===- FreeRegions.cpp - regions that leave axes free ---------------------===//

#include "weft/passes/sharding/FreeRegions.h"

#include "llvm/ADT/STLExtras.h"

using namespace weft;
using namespace mlir;

FixedLayoutsOpInterface weft::freeRegionOf(Operation *op) {
  auto says = dyn_cast_or_null<FixedLayoutsOpInterface>(op);
  return says && !says.getFreeAxes().empty() ? says : nullptr;
}

FixedLayoutsOpInterface weft::freeRegionEndedBy(Operation *op) {
  return op->hasTrait<OpTrait::IsTerminator>() ? freeRegionOf(op->getParentOp())
                                               : nullptr;
}

FixedLayoutsOpInterface weft::freeRegionAround(Operation *op) {
  return freeRegionOf(op->getParentOfType<FixedLayoutsOpInterface>());
}

FixedLayoutsOpInterface weft::freeRegionAround(Value value) {
  Operation *holder = value.getParentBlock()->getParentOp();
  while (holder && !isa<FixedLayoutsOpInterface>(holder))
    holder = holder->getParentOp();
  return freeRegionOf(holder);
}

/// Whether the axis and one of `axes` are of the same mesh axis.
static bool isAmong(const SubAxis &axis, llvm::ArrayRef<SubAxis> axes) {
  return llvm::any_of(axes,
                      [&](const SubAxis &x) { return x.axis == axis.axis; });
}

SubAxes weft::boundAxes(const Mesh &mesh, llvm::ArrayRef<SubAxis> free) {
  SubAxes bound;
  for (const SubAxis &axis : allAxes(mesh))
    if (!isAmong(axis, free))
      bound.push_back(axis);
  return bound;
}

Mesh weft::meshWithin(const Mesh &mesh, llvm::ArrayRef<SubAxis> bound) {
  Mesh within = mesh;
  for (const SubAxis &axis : bound)
    within.axes[axis.axis].size = 1;
  if (!bound.empty())
    within.devices.clear(); // positions are renumbered
  return within;
}

Layout weft::freeLayout(const Layout &outer, const Layout &said,
                        llvm::ArrayRef<SubAxis> free) {
  Layout inner = Layout::replicated(outer.dims.size());
  for (auto [dim, axes] : llvm::enumerate(outer.dims)) {
    const SubAxes &first = said.dims[dim];
    if (axes.size() < first.size() ||
        !std::equal(first.begin(), first.end(), axes.begin()))
      continue;
    for (const SubAxis &axis : llvm::drop_begin(axes, first.size())) {
      if (!isAmong(axis, free))
        break;
      inner.dims[dim].push_back(axis);
    }
  }
  return inner;
}
