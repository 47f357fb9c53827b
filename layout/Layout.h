//===- Layout.h - where the elements of a tensor live -----------*- C++ -*-===//
//
// Pure values and functions, no IR. A worked example first.
//
// A mesh of 2 x 4 devices:  "data"=2, "model"=4.  Device d has coordinates
// (d / 4, d % 4): axes are row-major, the last varies fastest.
//
// A layout says, for each dimension of a tensor, over which axes it is split,
// major to minor; axes it does not name hold copies:
//
//   [{"data"}, {}]         16x10: device (r, c) holds rows [8r, 8r+8), a copy
//                          for each c
//   [{"model", "data"}]    8 elements: device (r, c) holds element 2c + r
//   [{"model":(1)2}, {"model":(2)2}]
//                          the axis of 4 used as two sub-axes of 2:
//                          "model":(1)2 is c / 2, "model":(2)2 is c % 2
//   [{}, {}], partial = sum{"model"}
//                          each device holds a summand; the value is the sum
//                          over c
//   [{}], at = {"data" = 1}
//                          only devices (1, c) hold the value: MeshPart.h
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LAYOUT_LAYOUT_H
#define WEFT_LAYOUT_LAYOUT_H

#include "weft/layout/MeshPart.h"
#include "weft/layout/Shards.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// The reduction that combines the summands of a partial value.
enum class ReduceKind : uint8_t { Sum, Max, Min, Prod, And, Or };
std::string_view stringifyReduceKind(ReduceKind kind);
/// Whether combining adds up or multiplies, so that every step may round.
constexpr bool accumulates(ReduceKind kind) {
  return kind == ReduceKind::Sum || kind == ReduceKind::Prod;
}
std::optional<ReduceKind> parseReduceKind(std::string_view text);

/// Devices in a grid of named axes, row-major. `devices[i]` is the id of the
/// device at position i; empty means the identity. All functions below take
/// positions, never ids.
struct Mesh {
  std::vector<MeshAxis> axes;
  std::vector<int64_t> devices;

  int64_t size() const;
  /// Index of the axis of that name, or nothing.
  std::optional<unsigned> find(std::string_view name) const;
  /// Coordinate of a position along an axis.
  int64_t coordinate(int64_t position, unsigned axis) const;
  /// The reason why the mesh is invalid, or empty: an axis without a name or
  /// with a repeated name, a size below 1, a negative latency or a bandwidth
  /// that is not positive; more than 2^31 - 1 devices; device ids that are
  /// negative or repeated, or of which there are too many or too few.
  std::string invalidReason() const;
  bool operator==(const Mesh &) const = default;
};

using SubAxes = std::vector<SubAxis>;

/// The id of the device at a position.
int64_t deviceAt(const Mesh &mesh, int64_t position);
/// The mixed-radix number of the digits of a position, major to minor.
int64_t coordinate(const Mesh &mesh, int64_t position,
                   std::span<const SubAxis> axes);
/// Joins adjacent digits that form a larger digit, without those of size 1:
/// "x":(1)2,"x":(2)4 is "x" of 8.
SubAxes normalise(const Mesh &mesh, std::span<const SubAxis> axes);
/// A whole axis as a sub-axis.
SubAxis fullAxis(const Mesh &mesh, unsigned axis);
/// All axes, major to minor: the coordinate along them is the position.
SubAxes allAxes(const Mesh &mesh);

using Box = std::vector<Interval>;
Box intersect(std::span<const Interval> a, std::span<const Interval> b);

/// The distribution of one tensor over a mesh. Sub-axes in `dims` are major to
/// minor; no two sub-axes of a layout overlap. `partial` axes hold summands of
/// kind `reduce` (Sum when there are none). Only the devices of `part` hold the
/// value; `dims` and `partial` do not use the axes that it fixes.
struct Layout {
  std::vector<SubAxes> dims;
  SubAxes partial;
  ReduceKind reduce = ReduceKind::Sum;
  MeshPart part;

  static Layout replicated(int64_t rank);
  bool isReplicated() const;
  bool isPartial() const { return !partial.empty(); }
  bool operator==(const Layout &) const = default;
};

/// The canonical layout: adjacent digits joined, digits of size 1 and
/// coordinates along axes of size 1 omitted, partial axes and the part sorted.
/// Equal layouts then compare equal.
Layout normalise(const Mesh &mesh, Layout layout);
/// The layout of a tensor whose blocks under `outer` have the layout `inner`,
/// over other axes: [{"x"}, {}] and [{"y"}, {}] are [{"x", "y"}, {}].
Layout compose(const Layout &outer, const Layout &inner);
/// The reason why the layout does not fit the mesh and rank, or empty. Names
/// both values: "layout has 3 dimensions, the tensor 2"; "axis \"data\" is used
/// twice".
std::string invalidReason(const Mesh &mesh, const Layout &layout, int64_t rank);

/// The shape of every local buffer: ceil(n/p) in each dimension.
std::vector<int64_t> localShape(const Layout &layout,
                                std::span<const int64_t> shape);
/// Whether the device at `position` holds a block of the value.
bool holds(const Mesh &mesh, const Layout &layout, int64_t position);
/// The same layout on another part of the mesh, without the axes that it fixes.
Layout onPart(Layout layout, const MeshPart &part);
/// The index set that the device at `position` holds (partial or not), if it
/// holds any: see holds().
Box own(const Mesh &mesh, const Layout &layout, std::span<const int64_t> shape,
        int64_t position);
/// Whether every dimension is divisible, so that no buffer has padding.
bool isEven(const Layout &layout, std::span<const int64_t> shape);
/// The least number of elements that the device that receives most must receive
/// to change the layout: max over devices of |own_to \ own_from| (for
/// non-partial layouts; partial layouts add their summands, see Resharding.h).
int64_t receiveLowerBound(const Mesh &mesh, const Layout &from,
                          const Layout &to, std::span<const int64_t> shape);

/// The layout's text in IR: [{"data"}, {"model":(2)2}], partial = sum{"x"}, at =
/// {"y" = 1}.
std::string toString(const Mesh &mesh, const Layout &layout);
/// The layout's text on command lines: [data,-] ; (x,y) ; x:(2)4 ; a partial
/// layout is followed by +sum(x), one on a part of the mesh by @y=1. Parsing returns the reason of a refusal, with
/// its column, or empty and the layout in `out`.
std::string toCommandText(const Mesh &mesh, const Layout &layout);
std::string parseCommandText(std::string_view text, const Mesh &mesh,
                             Layout &out);
/// Parses "x=4,y=2" as a mesh; returns as parseCommandText does.
std::string parseMesh(std::string_view text, Mesh &out);

} // namespace weft

#endif // WEFT_LAYOUT_LAYOUT_H
