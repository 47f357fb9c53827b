#include "weft/runtime/program/Layout.h"

namespace weft::runtime {

Box own(const Mesh &mesh, const Layout &layout, std::span<const int64_t> shape,
        int64_t position) {
  return ownBox<Box>(mesh.axes, layout.dims, shape, position);
}

std::vector<int64_t> localShape(const Layout &layout,
                                std::span<const int64_t> shape) {
  return localShapeOf<std::vector<int64_t>>(layout.dims, shape);
}

Box intersect(const Box &a, const Box &b) { return intersectBoxes<Box>(a, b); }

std::string invalidReason(const Mesh &mesh, const Layout &layout, size_t rank) {
  if (layout.dims.size() != rank)
    return "layout has " + std::to_string(layout.dims.size()) +
           " dimensions, the array " + std::to_string(rank);
  SubAxes all;
  for (const SubAxes &axes : layout.dims)
    all.insert(all.end(), axes.begin(), axes.end());
  return weft::invalidReason(mesh.axes, all);
}

} // namespace weft::runtime
