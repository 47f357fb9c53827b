//===- ReshardSteps.h - the legal steps of a reshard ------------*- C++ -*-===//
//
// The planner's own view of a pair of layouts. Worked example, on x=4, y=2:
//
//   [y,-,x] -> [-,(x,y),-]
//
// has the digits 0 = x and 1 = y. The source says "digit 1 is in dimension 0,
// digit 0 in dimension 2", the target "digits 0, 1 are in dimension 1, in this
// order". A step takes digits from one place to another; what both layouts
// begin with in a dimension is frozen and never moves.
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

/// own() as a few additions, for uneven shards: the digits of every device and
/// what it wants in each dimension. Worked example, 7 over a=2 to 7 over b=3 on
/// a=2, b=3, c=9: devices 45 to 53 have the digits a=1, b=2 and want [6, 7);
/// row 5 says so for all of them, since no layout uses c.
class DeviceTable {
public:
  explicit DeviceTable(const Problem &problem);
  /// Rows stand for equally many devices.
  int64_t devices() const { return wantedVolume.size(); }
  /// The row of a position of the mesh.
  int64_t rowOf(int64_t position) const;
  /// Elements that the device wants and, in the layout of `view`, lacks.
  int64_t missing(const View &view, int64_t position) const;
  int64_t wanted(int64_t position) const { return wantedVolume[position]; }
  /// The interval of a dimension that the device holds.
  Interval held(const View &view, int64_t position, unsigned dim) const;
  /// The number of its shard, of all dimensions together.
  int64_t shard(const View &view, int64_t position) const;
  /// Elements of a dimension held as well as wanted.
  int64_t common(const View &view, int64_t position, unsigned dim) const;

private:
  int64_t number(const View &view, int64_t position, unsigned dim) const;

  /// The first position that a row stands for.
  int64_t firstOf(int64_t row) const;

  const Problem &problem;
  llvm::SmallVector<unsigned, 4> axes; ///< those that make rows differ
  unsigned
      width; ///< of a row: digits, then the frozen number of each dimension
  std::vector<int32_t> rows;
  std::vector<Interval> goals; ///< one for each device and dimension
  std::vector<int64_t> wantedVolume;
};

/// Places that are no dimension.
constexpr uint8_t unused = 255;      ///< copies along this digit
constexpr uint8_t partialFrom = 254; ///< summands of the source
constexpr uint8_t partialTo = 253;   ///< summands of the target

/// Where every digit is: a dimension and the position in its list, or one of
/// the places above (position 0).
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
  /// Digits that share a part of an axis with digit i, as a mask; none where
  /// every axis is cut in compatible ways.
  llvm::SmallVector<uint64_t, 8> conflicts;
  bool independent = true;
  llvm::SmallVector<SubAxes, 4> frozen;
  llvm::SmallVector<int64_t, 4> frozenCount;
  SubAxes frozenPartial;
  bool kindsDiffer = false;
  bool tooManyDigits = false;
  State source, target;

  Problem(const Mesh &mesh, llvm::ArrayRef<int64_t> shape, int64_t elementBytes,
          const Layout &from, const Layout &to, bool thorough);
  Problem(const Problem &) = delete;
  Layout layout(const State &state) const;
  unsigned rank() const { return shape.size(); }
  /// Made when the first uneven or dependent layout asks for it.
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
  StepKind kind = StepKind::Slice;
  Digits digits; ///< over which the step works, major to minor
  int8_t from = -1, to = -1;
  State result;
};

/// Do the shards of n over p*q nest in those over p, so that block k of shard
/// i is shard i*q+k? The form of every slice, gather, all-to-all and
/// reduce-scatter is checked with it.
bool nests(int64_t n, int64_t p, int64_t q);

/// Calls `visit` for every legal step of a standard collective from a state.
void forEachMove(const Problem &problem, const State &state, const View &view,
                 llvm::function_ref<void(Move &)> visit);
/// Is the list of moves complete: every permutation tried?
bool movesAreComplete(const Problem &problem);

/// The exchange to the target (but for summands that are still to be made),
/// where no summands of the source are left.
bool exchangeMove(const Problem &problem, const State &state, Move &move);

/// A way without search that never holds more than it must: everything is cut
/// as small as there are digits, then moved, then gathered. Returns false where
/// uneven shards or digits of many sizes are in its way. On a=4, b=4, c=4:
///
///   [(a,b),-] -> [-,a]     slice [(a,b),c], permute [(b,c),a], gather [-,a]
bool sliceMoveGather(const Problem &problem,
                     llvm::SmallVectorImpl<Move> &moves);
/// The layouts of a way that is always legal: all-gather what is in the way,
/// dimension by dimension, and slice as soon as digits are free.
llvm::SmallVector<Move, 8> gatherAndSlice(const Problem &problem);

/// Elements the fullest device must still receive: exact in closed form for
/// even shards and independent digits, else a bound from at most 16 devices.
int64_t missingElements(const Problem &problem, const View &view,
                        const View &target);
/// The same, of all devices.
int64_t missingElementsExactly(const Problem &problem, const View &view,
                               const View &target);
/// Even shards over independent digits on both sides: missingElements is exact.
bool evenThroughout(const Problem &problem, const View &view,
                    const View &target);
/// The bound of the whole reshard in bytes, with summands.
int64_t lowerBoundBytes(const Problem &problem);
/// Elements that the busiest device sends in an exchange that spreads its
/// sends over all holders; 0 where that is no more than it receives.
int64_t sentElements(const Problem &problem, const View &view,
                     const View &target);

} // namespace weft::reshard

#endif // WEFT_PASSES_SHARDING_RESHARDING_RESHARDSTEPS_H
