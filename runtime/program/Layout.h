//===- Layout.h - which elements a device holds -----------------*- C++ -*-===//
//
// The runtime's reading of a plan's layouts, by the algebra in layout/. 7
// elements over "data"=2: device 0 holds [0,4), device 1 [4,7); every local
// buffer has 4 elements.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_PROGRAM_LAYOUT_H
#define WEFT_RUNTIME_PROGRAM_LAYOUT_H

#include "weft/layout/Shards.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace weft::runtime {

/// A mesh. `devices[position]` is an id, and `devices` is never empty here; the
/// cost of links is not read from the plan.
struct Mesh {
  std::vector<MeshAxis> axes;
  std::vector<int64_t> devices;
  int64_t size() const { return static_cast<int64_t>(devices.size()); }
};

using SubAxes = std::vector<SubAxis>;

struct Layout {
  std::vector<SubAxes> dims;
  bool partial = false;
};

using Box = std::vector<Interval>;

/// The block of a global array that the device at `position` holds.
Box own(const Mesh &mesh, const Layout &layout, std::span<const int64_t> shape,
        int64_t position);
/// The shape of local buffers: ceil(n / p) in each dimension.
std::vector<int64_t> localShape(const Layout &layout,
                                std::span<const int64_t> shape);
Box intersect(const Box &a, const Box &b);
/// The reason why the layout does not fit the mesh and the rank, or empty.
std::string invalidReason(const Mesh &mesh, const Layout &layout, size_t rank);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_PROGRAM_LAYOUT_H
