//===- FreeRegions.h - regions that leave axes free -------------*- C++ -*-===//
//
// A region over "x" that leaves "y" free is a program of global values along
// "y", one for each coordinate of "x":
//
//   %r = weft.manual(%a) from [[x, -]] to [[x, -]] free ["y"] {
//   ^bb0(%p): ...
//
// %p has the layout [y, -] if and only if %a has [(x, y), -]: the axes that the
// op states come first, the free axes after them. Shards are full at this
// border, so each device's shard is the same on both sides. Axes that are not
// free are bound: no value inside is split over them, since devices that differ
// along them hold different values.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_FREEREGIONS_H
#define WEFT_PASSES_SHARDING_FREEREGIONS_H

#include "weft/dialects/weft/Weft.h"

namespace weft {

/// The op, if its region leaves axes free, else null.
FixedLayoutsOpInterface freeRegionOf(mlir::Operation *op);
/// The op whose region with free axes this op ends, or null.
FixedLayoutsOpInterface freeRegionEndedBy(mlir::Operation *op);
/// The innermost enclosing op that states layouts, if its region has free axes;
/// else null, for instance inside one device's program.
FixedLayoutsOpInterface freeRegionAround(mlir::Operation *op);
/// The innermost op around the value's block that states layouts, if its region
/// has free axes; else null.
FixedLayoutsOpInterface freeRegionAround(mlir::Value value);

/// The axes of the mesh that are not free.
SubAxes boundAxes(const Mesh &mesh, llvm::ArrayRef<SubAxis> free);
/// The mesh inside a region: bound axes have one coordinate, the others are
/// unchanged.
Mesh meshWithin(const Mesh &mesh, llvm::ArrayRef<SubAxis> bound);

/// The layout inside a region: the free axes of `outer` after the axes that the
/// region states. For [(x, y), -] after [x, -] it is [y, -].
Layout freeLayout(const Layout &outer, const Layout &said,
                  llvm::ArrayRef<SubAxis> free);

} // namespace weft

#endif // WEFT_PASSES_SHARDING_FREEREGIONS_H
