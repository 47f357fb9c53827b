//===- MessagePassing.h - cheap choices, and a bound of the cheapest -------===//
//
// Sequential tree-reweighted message passing (Kolmogorov, 2006) in integers.
// Each sweep goes through the nodes forward and backward, and passes along each
// edge what the labels of one end cost at least at the other. Forward, each node
// takes the label that is cheapest by the labels before it and the messages
// from behind; backward, the sweep adds up a bound: no choice costs less.
//
//   the example of ChoiceGraph.h    {labels 0 0 0, cost 0, bound 0}
//   a triangle that wants three different labels of two, each equal pair 1
//                                   cost 1; the bound may stay at 0
//
// A node with n edges on one side divides its costs by n for the messages.
// The division rounds down; what remains is part of the bound, so that the
// bound holds exactly.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_SOLVER_MESSAGEPASSING_H
#define WEFT_PASSES_SHARDING_SOLVER_MESSAGEPASSING_H

#include "weft/passes/sharding/solver/ChoiceGraph.h"

namespace weft {

struct SolveLimits {
  unsigned sweeps = 64;
  /// The sums of pairs up to which a small graph gets more sweeps, at most four
  /// times as many.
  size_t sums = size_t(1) << 26;
  /// The search ends when the bound is within this part of the cost: one in
  /// 2^10.
  unsigned gapBits = 10;
  /// What every choice costs in addition, for the end of the search.
  int64_t offset = 0;
  /// The sweeps without a cheaper choice or a higher bound after which the
  /// search ends.
  unsigned idleSweeps = 10;
};

struct Solution {
  std::vector<unsigned> labels; ///< one for each node
  int64_t cost = 0;             ///< kForbidden if every choice found is
  int64_t bound = 0;            ///< every choice costs as much or more
  unsigned sweeps = 0;
  /// The choice of message passing, if elimination found a cheaper one.
  std::vector<unsigned> passed;
  /// What every choice with a label of a node costs at least, by node and label.
  std::vector<std::vector<int64_t>> lowest;
};

/// Passes messages on a graph. The choice `start`, one label for each node, is
/// returned if no cheaper one is found.
Solution passMessages(const ChoiceGraph &graph, std::vector<unsigned> start,
                      const SolveLimits &limits = {});

} // namespace weft

#endif // WEFT_PASSES_SHARDING_SOLVER_MESSAGEPASSING_H
