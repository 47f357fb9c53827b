//===- ReshardSteps.h - the legal steps of a reshard ------------*- C++ -*-===//
//
// The planner's own view of a pair of layouts. Worked example, on x=4, y=2:
//
//   [y,-,x] -> [-,(x,y),-]
//
// has the digits 0 = x and 1 = y. In the source digit 1 is in dimension 0 and
// digit 0 in dimension 2; in the target digits 0, 1 are in dimension 1, in this
// order. A step moves digits from one place to another; a dimension's common
// prefix in both layouts is frozen and never moves.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_RESHARDING_RESHARDSTEPS_H
#define WEFT_PASSES_SHARDING_RESHARDING_RESHARDSTEPS_H

#include "weft/passes/sharding/resharding/Resharding.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <array>
#include <optional>
#include <vector>

namespace weft::reshard {

constexpr unsigned maxDigits = 32;

struct Problem;
struct View;

/// A table of the digits of every device and of its new interval in each
/// dimension, by which own() takes a few additions for uneven shards. Worked
/// example, 7 over a=2 to 7 over b=3 on a=2, b=3, c=9: devices 45 to 53 have
/// the digits a=1, b=2 and want [6, 7); row 5 represents all of them, since no
/// layout uses c.
class DeviceTable {
public:
  explicit DeviceTable(const Problem &problem [[clang::lifetimebound]]);
  /// The number of rows, each of which represents equally many devices.
  int64_t devices() const { return wantedVolume.size(); }
  /// The row of a position of the mesh.
  int64_t rowOf(int64_t position) const;
  /// The number of elements that the device wants and lacks in the layout of
  /// `view`.
  int64_t missing(const View &view, int64_t position) const;
  int64_t wanted(int64_t position) const { return wantedVolume[position]; }
  /// The interval of a dimension that the device holds.
  Interval held(const View &view, int64_t position, unsigned dim) const;
  /// The number of the device's shard, over all dimensions.
  int64_t shard(const View &view, int64_t position) const;
  /// The number of elements of a dimension that are both held and wanted.
  int64_t common(const View &view, int64_t position, unsigned dim) const;

private:
  int64_t number(const View &view, int64_t position, unsigned dim) const;

  /// The first position that a row represents.
  int64_t firstOf(int64_t row) const;

  const Problem &problem;
  llvm::SmallVector<unsigned, 4> axes;   ///< axes by which rows differ
  llvm::SmallVector<int64_t, 4> strides; ///< strides of these axes in positions
  unsigned width; ///< fields of a row: digits, frozen number of each dimension
  std::vector<int32_t> rows;
  std::vector<Interval> goals; ///< one for each row and dimension
  std::vector<int64_t> wantedVolume;
};

/// Places that are not dimensions.
constexpr uint8_t unused = 255;      ///< copies along this digit
constexpr uint8_t partialFrom = 254; ///< summands of the source
constexpr uint8_t partialTo = 253;   ///< summands of the target

/// The place of every digit: a dimension and the position in its list, or one
/// of the places above (position 0).
struct State {
  std::array<uint8_t, maxDigits> place;
  std::array<uint8_t, maxDigits> order;
  State() {
    place.fill(unused);
    order.fill(0);
  }
  bool operator==(const State &) const = default;
};

using Digits = llvm::SmallVector<uint8_t, 6>;

/// A pair of layouts on their coarsest common refinement.
struct Problem {
  const Mesh &mesh;
  llvm::ArrayRef<int64_t> shape;
  int64_t elementBytes;
  Layout from, to; ///< normalised

  llvm::SmallVector<SubAxis, 8> digits;
  /// Digits that share a part of an axis with digit i, as a mask; none if every
  /// axis is cut in compatible ways.
  llvm::SmallVector<uint64_t, 8> conflicts;
  bool independent = true;
  std::vector<SubAxes> frozen;
  llvm::SmallVector<int64_t, 4> frozenCount;
  SubAxes frozenPartial;
  bool kindsDiffer = false;
  bool tooManyDigits = false;
  bool allowPlace = true; ///< as the options say
  State source, target;

  Problem(const Mesh &mesh [[clang::lifetimebound]],
          llvm::ArrayRef<int64_t> shape, int64_t elementBytes,
          const Layout &from, const Layout &to, bool thorough);
  Problem(const Problem &) = delete;
  Layout layout(const State &state) const;
  unsigned rank() const { return shape.size(); }
  /// The table, built for the first uneven or dependent layout.
  const DeviceTable &devices() const {
    if (!table)
      table.emplace(*this);
    return *table;
  }

private:
  mutable std::optional<DeviceTable> table;
};

/// A state unpacked: digits and shard counts of each dimension.
struct View {
  llvm::SmallVector<Digits, 4> lists;
  llvm::SmallVector<int64_t, 4> counts;
  llvm::SmallVector<int64_t, 4> local; ///< elements of a buffer
  int64_t localElements = 1;
  bool reduced = true; ///< no summands of the source are left

  View(const Problem &problem, const State &state);
};

struct Move {
  ReshardStepKind kind = ReshardStepKind::Slice;
  Digits digits; ///< over which the step works, major to minor
  int8_t from = -1, to = -1;
  State result;
};

/// Whether shards of n over p*q nest in those over p, so that block k of shard
/// i is shard i*q+k. Every slice, gather, all-to-all and reduce-scatter is
/// checked with it.
bool nests(int64_t n, int64_t p, int64_t q);
/// Whether shards of n elements have more padding than elements.
bool isMostlyPadding(int64_t n, int64_t shards);

/// Calls `visit` for legal steps of a standard collective from a state: for
/// every one if movesAreComplete().
void forEachMove(const Problem &problem, const State &state, const View &view,
                 llvm::function_ref<void(Move &)> visit);
/// Whether the list of moves is complete, with every permutation.
bool movesAreComplete(const Problem &problem);

/// Sets `move` to the exchange to the target (except for summands that are made
/// later). False if summands of the source are left or nothing changes.
bool exchangeMove(const Problem &problem, const State &state, Move &move);

/// A plan without search that never holds more than necessary: everything is
/// sliced by all digits, then reduced, moved and gathered. Returns false if
/// uneven shards or digits of different sizes prevent it. On a=4, b=4, c=4,
/// thorough:
///
///   [(a,b),-] -> [-,a]     slice [(a,b),c], permute [(b,c),a], gather [-,a]
bool sliceMoveGather(const Problem &problem,
                     llvm::SmallVectorImpl<Move> &moves);
/// A plan that is always legal: all-reduce, all-gather dimensions that differ,
/// one by one, and slice as soon as digits are free.
llvm::SmallVector<Move, 8> gatherAndSlice(const Problem &problem);

/// The most elements that a device must still receive. Without summands exact,
/// in closed form, for even shards and independent digits; else a lower bound
/// from at most 16 devices. With summands, all wanted ones if the target is
/// even, else 0.
int64_t missingElements(const Problem &problem, const View &view,
                        const View &target);
/// The exact number, from all devices.
int64_t missingElementsExactly(const Problem &problem, const View &view,
                               const View &target);
/// Whether shards are even over independent digits on both sides, so that
/// missingElements is exact.
bool evenThroughout(const Problem &problem, const View &view,
                    const View &target);
/// The lower bound of the whole reshard in bytes, with summands.
int64_t lowerBoundBytes(const Problem &problem);
/// Elements that the busiest device sends in an exchange whose sends are spread
/// over all holders; 0 for even shards, as it receives as many or more.
int64_t sentElements(const Problem &problem, const View &view,
                     const View &target);

/// planReshard for layouts on the whole mesh.
ReshardPlan planOnMesh(const Mesh &mesh, llvm::ArrayRef<int64_t> shape,
                       int64_t elementBytes, const Layout &from,
                       const Layout &to, const ReshardOptions &options);

} // namespace weft::reshard

#endif // WEFT_PASSES_SHARDING_RESHARDING_RESHARDSTEPS_H
