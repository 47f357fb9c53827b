//===- LayoutVariants.cpp - a layout with an axis elsewhere ---------------===//

#include "weft/compiler/explain/LayoutVariants.h"

#include "llvm/ADT/STLExtras.h"

using namespace weft;

static bool contains(const SubAxes &axes, unsigned axis) {
  return llvm::any_of(axes, [&](const SubAxis &a) { return a.axis == axis; });
}

bool weft::usesAxis(const Layout &layout, unsigned axis) {
  return llvm::any_of(layout.dims,
                      [&](const SubAxes &dim) { return contains(dim, axis); });
}

static Layout without(Layout layout, unsigned axis) {
  for (SubAxes &dim : layout.dims)
    llvm::erase_if(dim, [&](const SubAxis &a) { return a.axis == axis; });
  return layout;
}

std::vector<Layout> weft::layoutVariants(const Mesh &mesh, const Layout &layout,
                                         const std::set<unsigned> &axes) {
  std::vector<Layout> result;
  for (unsigned axis : axes) {
    if (contains(layout.partial, axis))
      continue; // An axis with summands cannot divide the value.
    Layout bare = without(layout, axis);
    for (size_t dim = 0; dim < bare.dims.size(); ++dim) {
      Layout moved = bare;
      moved.dims[dim].push_back(fullAxis(mesh, axis));
      if (moved.dims != layout.dims)
        result.push_back(std::move(moved));
    }
    if (usesAxis(layout, axis))
      result.push_back(bare);
  }
  return result;
}
