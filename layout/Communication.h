//===- Communication.h - what the devices of a group do together -*- C++ -*-===//
//
// Each collective is of one of five kinds, whatever its name: ops of the
// dialect coll, starts of a plan, tables of a file and the code of the runtime
// all have a Communication. Four devices over "x":
//
//   coll.all_gather of 8 floats      Movement {8} from [{"x"}] to [{}], a ring
//   coll.exchange of 8x4 floats      Movement {8, 4} from [{"x"}, {}]
//                                                    to [{}, {"x"}]
//   coll.all_reduce sum              Combination sum
//   coll.reduce_scatter sum dim 1    Combination sum, dimension 1
//
// A communication does not repeat the shapes of the arrays of a device and the
// group; bytesSent and invalidReason take both. The bytes are the same number
// in prices of layouts, in reports and budgets, and in the runtime's counters.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LAYOUT_COMMUNICATION_H
#define WEFT_LAYOUT_COMMUNICATION_H

#include "weft/base/ElementTypes.h"
#include "weft/layout/DeviceGroups.h"
#include "weft/layout/FetchTraffic.h"
#include "weft/layout/Layout.h"
#include "weft/layout/MovedBoxes.h"

#include <variant>

namespace weft {

/// Combines the members' elements in group order. Every member receives the
/// result of each source, or, along `dim`, member k block k of ceil(n / p).
struct Combination {
  ReduceKind kind = ReduceKind::Sum;
  std::optional<int64_t> dim;
};

/// Gives an array another layout. A ring sends blocks with their padding and
/// has layouts of the group's digits; otherwise each member receives exactly
/// the elements that it lacks. With boxes the target is another array, which
/// they fill; then layouts have the group's digits, and further sources may
/// follow the first one.
struct Movement {
  std::vector<int64_t> shape; ///< the shape of the whole array
  Layout from, to;
  bool isRing = false;
  MovedBoxes boxes;
  std::vector<int64_t> toShape;    ///< with boxes: of the whole target
  std::vector<MovedSource> others; ///< with boxes: operands from number 1 on

  std::span<const int64_t> targetShape() const {
    return boxes.empty() ? shape : toShape;
  }
  BoxedMove boxed() const { return {boxes, shape, toShape, from, to, others}; }
};

/// Receives chosen positions of a dimension of the group's blocks: those of a
/// formula, or those in the second source, i64 in the target's shape.
struct Fetching {
  int64_t dim = 0;
  std::optional<FetchedPositions> positions;
};

/// Member k receives all that member senders[k] has; -1: nothing.
struct Sending {
  std::vector<int64_t> senders;
};

/// Calls a function of the host once, with the sources of the first member.
struct HostCall {
  int64_t function = 0;
};

using Communication =
    std::variant<Combination, Movement, Fetching, Sending, HostCall>;

/// An array of one device.
struct LocalArray {
  ElementType type = ElementType::Float32;
  std::vector<int64_t> shape;
  int64_t bytes() const;
};

/// Devices that differ in some digits only, ordered by them.
struct GroupOver {
  const Mesh &mesh;
  std::span<const SubAxis> digits;
};

/// The devices that communicate with each other. A movement between two parts of
/// the mesh is made by the devices of both: each other device is a group of its
/// own, and waits for nobody.
DeviceGroups groupsOf(const Communication &communication,
                      const GroupOver &group);
/// The bytes that the busiest member of a group sends to others, where each
/// member has these arrays. INT64_MAX where the number is larger.
int64_t bytesSent(const Communication &communication, const GroupOver &group,
                  std::span<const LocalArray> sources,
                  std::span<const LocalArray> targets);
/// The axes whose links carry the bytes.
SubAxes linksOf(const Communication &communication, const GroupOver &group);
/// Whether target n may have the memory of source n: where an element is stored
/// only after all loads of the same element.
bool worksInPlace(const Communication &communication);
/// Whether target n depends on source n alone, so that a communication of
/// several arrays may be several of some arrays each.
bool keepsArraysApart(const Communication &communication);
/// The reason why the communication cannot have these arrays, as what is said
/// of it ("reduces f32[4] to f32[8]"), or empty.
std::string invalidReason(const Communication &communication,
                          const GroupOver &group,
                          std::span<const LocalArray> sources,
                          std::span<const LocalArray> targets);

} // namespace weft

#endif // WEFT_LAYOUT_COMMUNICATION_H
