//===- Resharding.h - the cheapest way from one layout to another ---------===//
//
// Pure search, no IR. Worked example: 16x16x16 of f32 on x=4, y=2,
//
//   P('y', -, 'x')  ->  P(-, ('x','y'), -)
//
// takes an all-to-all over x (dim 2 -> dim 1), then an all-to-all over y
// (dim 0 -> dim 1), or one exchange that moves only the missing elements:
// 448 elements, 1,792 bytes a device. A chain of all-gathers and slices moves
// 14,336.
//
// The search is A* over layouts on the coarsest common refinement of the
// sub-axes in which the two differ; its estimate is the bytes that must arrive
// by own(). No step is legal by its form alone: each is checked against own(),
// since uneven shards do not nest (7 over a=2 is [0,4) [4,7); over a=2, b=3
// device (0,2) owns [4,6)).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_RESHARDING_RESHARDING_H
#define WEFT_PASSES_SHARDING_RESHARDING_RESHARDING_H

#include "weft/passes/sharding/resharding/Price.h"

namespace weft {

enum class ReshardStepKind : uint8_t {
  Slice,         ///< replicated -> sharded dim `to`; nothing moves
  MakePartial,   ///< replicated -> partial; neutral but on the first coordinate
  Place,         ///< sharded dim `from` -> partial; each device has its shard
                 ///< among neutral elements
  AllGather,     ///< sharded dim `from` -> replicated
  AllToAll,      ///< sharded dim `from` -> sharded dim `to`
  Permute,       ///< each device sends its whole shard to one other
  AllReduce,     ///< partial -> replicated
  ReduceScatter, ///< partial -> sharded dim `to`
  Exchange,      ///< grouped send and receive of only the missing elements
};
/// all_gather, all_to_all, ... as printed and counted; slice, make_partial and
/// place are local.
llvm::StringRef stringifyStepKind(ReshardStepKind kind);

struct ReshardStep {
  ReshardStepKind kind = ReshardStepKind::Slice;
  SubAxes axes;      ///< over which the step works, major to minor
  int64_t from = -1; ///< dimension that loses the axes; -1: none
  int64_t to = -1;
  ReduceKind reduce = ReduceKind::Sum;
  Layout result;     ///< the layout after the step
  int64_t bytes = 0; ///< received by the device that receives most; those
                     ///< of standard collectives, which send as many,
                     ///< by RingTraffic.h
  /// `bytes`, or those that the busiest device of an exchange sends, if more.
  int64_t moved = 0;
  /// The time of the latency and of the bytes moved over the slowest axis.
  /// Messages of a step
  /// are in flight together, so a step has one latency (all_reduce two, local
  /// steps none).
  double seconds = 0;
};

struct ReshardOptions {
  bool allowExchange = true;
  /// Whether shards may become summands.
  bool allowPlace = true;
  /// Whether plans are compared by bytes received and then seconds: for a report
  /// on bytes. Else they are compared by seconds and then bytes; where shards
  /// have more padding than elements, so that a few devices have what all want,
  /// by the bytes that the busiest device moves.
  bool fewestBytes = false;
  /// Whether to slice also over axes that neither layout names, so that copies
  /// share the work, and to cut axes that both use whole, if that makes at most
  /// four digits. On x=4, y=2 the steps [-]+sum(x) -> [y]+sum(x) -> [(y,x)] ->
  /// [-] send fewer bytes than an all_reduce, but only an all_reduce can be
  /// combined with others.
  bool thorough = false;
  /// The number of steps that are tried before the best plan so far is taken; a
  /// third of it if not every permutation is tried: more than four digits
  /// differ, or the layouts cut an axis in incompatible ways.
  int64_t searchBudget = 6000;
};

struct ReshardPlan {
  llvm::SmallVector<ReshardStep, 4> steps;
  int64_t bytesReceived = 0; ///< sum over the steps
  /// The lower bound in bytes: max over devices of |own_to \ own_from|. From q
  /// summands, the max of |own_to| and the share of one device in all messages:
  /// (q-2) for every element, and one for every device that wants it; 0 if new
  /// summands are made as well.
  int64_t lowerBound = 0;
  double seconds = 0;
  /// Whether the plan is optimal: either it meets the lower bound in bytes, or
  /// no chain of the steps above with layouts as results is cheaper under the
  /// options. An all_to_all that packs strided blocks is an Exchange here.
  bool optimal = false;
};

/// Plans a reshard. Requires two valid layouts of the rank of `shape`.
///
/// Between parts of the mesh summands are reduced on the part that has them,
/// then one exchange sends every device exactly what it lacks, which is the
/// lower bound. Where all devices of the new part hold the value, they drop or
/// move it among themselves. On "branch"=2, "data"=4
///
///   [data] + sum... at branch=0  ->  [data] at branch=1    one exchange
///   [data] of the whole mesh     ->  [data] at branch=1    no step
///   [-] of the whole mesh        ->  [data] at branch=1    a slice
ReshardPlan planReshard(const Mesh &mesh, llvm::ArrayRef<int64_t> shape,
                        int64_t elementBytes, const Layout &from,
                        const Layout &to, const ReshardOptions &options = {});

/// The layouts, ending with `to`, through which planReshard moves a value
/// between parts of the mesh: each move is on one part, or is one exchange.
llvm::SmallVector<Layout, 3> stopsBetween(const Mesh &mesh, const Layout &from,
                                          const Layout &to);
/// Whether a move of stopsBetween is an exchange between parts; otherwise the
/// devices of the new part have the value and move it among themselves.
bool isBetweenParts(const Layout &from, const Layout &to);
/// The devices that make a move of stopsBetween: a part that has the value, or
/// the smallest one that both parts are in.
MeshPart moversBetween(const Layout &from, const Layout &to);

} // namespace weft

#endif // WEFT_PASSES_SHARDING_RESHARDING_RESHARDING_H
