//===- EveryLayout.h - all layouts of a small mesh --------------*- C++ -*-===//
//
// everyLayout(x=2,y=2 ; rank 1): [-] [x] [(x,y)] [y] [(y,x)]. Axes of a
// composite size appear whole and as the digits of each factorisation into
// two: 6 gives x, x:(1)2, x:(2)3, x:(1)3, x:(3)2.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_UNIT_EVERYLAYOUT_H
#define WEFT_TEST_UNIT_EVERYLAYOUT_H

#include "weft/layout/Layout.h"

#include <vector>

namespace weft {

inline std::vector<SubAxis> everyDigit(const Mesh &mesh, bool subAxes) {
  std::vector<SubAxis> digits;
  for (unsigned axis = 0; axis < mesh.axes.size(); ++axis) {
    int64_t n = mesh.axes[axis].size;
    if (n > 1)
      digits.push_back(fullAxis(mesh, axis));
    for (int64_t major = 2; subAxes && major < n; ++major)
      if (n % major == 0) {
        digits.push_back({axis, 1, major});
        digits.push_back({axis, major, n / major});
      }
  }
  return digits;
}

/// Returns all layouts of the rank without partial axes, each once
/// (normalised).
inline std::vector<Layout> everyLayout(const Mesh &mesh, int64_t rank,
                                       bool subAxes = true) {
  std::vector<SubAxis> digits = everyDigit(mesh, subAxes);
  std::vector<Layout> result;
  // Dimensions are filled in order, so no layout arises twice.
  auto extend = [&](auto &&self, const Layout &layout, int64_t first) -> void {
    if (normalise(mesh, layout) == layout)
      result.push_back(layout);
    for (int64_t dim = first; dim < rank; ++dim)
      for (const SubAxis &digit : digits) {
        Layout next = layout;
        next.dims[dim].push_back(digit);
        if (invalidReason(mesh, next, rank).empty())
          self(self, next, dim);
      }
  };
  extend(extend, Layout::replicated(rank), 0);
  return result;
}

} // namespace weft

#endif // WEFT_TEST_UNIT_EVERYLAYOUT_H
