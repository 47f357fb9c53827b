//===- MovedBoxes.h - what an op that moves elements moves ------*- C++ -*-===//
//
// An op that only moves elements is a list of boxes of its result, each with
// the place of its elements in an operand. Rolling 6 elements by 2:
//
//   start 0 count 2  from offset 4      result 0, 1 are elements 4, 5
//   start 2 count 4  from offset 0      result 2 to 5 are elements 0 to 3
//
// A box has a range of positions in each dimension of the result, and each
// dimension of the operand follows one of them with a stride (reverse: -1;
// repeated: 0) or stays at one position. Boxes of a chain of ops compose, so
// that a chain is one list of boxes; devices cut it by their shards, and learn
// which elements they receive from whom.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LAYOUT_MOVEDBOXES_H
#define WEFT_LAYOUT_MOVEDBOXES_H

#include "weft/layout/Layout.h"

#include <optional>
#include <string>

namespace weft {

/// Element t, in 0 <= t[r] < count[r], of the result at start[r] + step[r] *
/// t[r] is the operand's at offset[d] + stride[d] * t[dim[d]]; where dim[d] is
/// -1, at offset[d].
struct MovedBox {
  int64_t operand = 0;
  std::vector<int64_t> start, count, step;  ///< by dimension of the result
  std::vector<int64_t> dim, offset, stride; ///< by dimension of the operand

  /// The box of all of an operand, at the same positions of the result.
  static MovedBox all(int64_t operand, std::span<const int64_t> shape);
  /// Whether each element keeps its position.
  bool keepsPositions() const;
  /// The elements that it fills.
  int64_t elements() const;
  /// The operand's elements that it reads.
  int64_t elementsRead() const;
  bool operator==(const MovedBox &) const = default;
};
using MovedBoxes = std::vector<MovedBox>;

/// The positions of one dimension that are in both: elements `first`, `first` +
/// `step`, ... of a walk over offset + stride * t; nothing if there are none.
struct WalkPart {
  int64_t first = 0, step = 1, count = 0;
};
/// The part of `count` positions offset + stride * t that lies in the interval.
std::optional<WalkPart> partInside(int64_t offset, int64_t stride,
                                   int64_t count, const Interval &interval);

/// The boxes of a chain: those of an op whose operand number `operand` is the
/// result of an op with the boxes `inner`, whose operands are numbered from
/// `base` on. Elements of the operand that `inner` does not fill are in no box.
void appendComposed(const MovedBox &outer, const MovedBoxes &inner,
                    int64_t base, MovedBoxes &out);
/// Joins boxes that continue each other.
void joinBoxes(MovedBoxes &boxes);
/// Whether each element of the result is in a box. Requires disjoint boxes.
bool coverAll(const MovedBoxes &boxes, std::span<const int64_t> shape);

/// The reason why boxes are none of a result of this shape, as "box 1 ...", or
/// empty. (An operand of rank 0 fills a box.)
std::string invalidReason(const MovedBoxes &boxes,
                          std::span<const std::vector<int64_t>> operands,
                          std::span<const int64_t> result);

/// Boxes in a list of numbers, each as operand, ranks of result and operand,
/// start, count, step, dim, offset and stride; nothing if the numbers are no
/// boxes.
std::vector<int64_t> asNumbers(const MovedBoxes &boxes);
std::optional<MovedBoxes> boxesOf(std::span<const int64_t> numbers);

/// An array that boxes read, and the layout in which devices have it.
struct MovedSource {
  std::vector<int64_t> shape;
  Layout layout;
  bool operator==(const MovedSource &) const = default;
};
/// Arrays that move by boxes from their layouts to one layout of the result:
/// operand 0 of the boxes, and `others` from operand 1 on.
struct BoxedMove {
  const MovedBoxes &boxes;
  std::span<const int64_t> shape, toShape;
  const Layout &from, &to;
  std::span<const MovedSource> others = {};

  std::span<const int64_t> shapeOf(int64_t operand) const {
    return operand == 0 ? shape : others[size_t(operand - 1)].shape;
  }
  const Layout &layoutOf(int64_t operand) const {
    return operand == 0 ? from : others[size_t(operand - 1)].layout;
  }
};
/// A part of a box that one member has and one needs, with positions in their
/// arrays. `sender` is `source`, or a member that has received the same elements
/// and passes them on.
struct MovedPiece {
  int64_t source = 0, sender = 0, target = 0; ///< members
  MovedBox box;
};
/// What the members of a group receive, their own elements included. Holders of
/// a shard read their own copy. What several members lack is sent once by its
/// holder if more would make it the busiest member, and passed on (Relays.h).
std::vector<MovedPiece> piecesOf(const BoxedMove &move, const Mesh &mesh,
                                 std::span<const int64_t> members);
/// The elements that the busiest member sends to others, each once to a member,
/// but for boxes that overlap with two strides above one.
int64_t mostSent(const BoxedMove &move, const Mesh &mesh,
                 std::span<const int64_t> members);

} // namespace weft

#endif // WEFT_LAYOUT_MOVEDBOXES_H
