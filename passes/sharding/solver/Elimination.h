//===- Elimination.h - the cheapest choice, one node after another ---------===//
//
// A node is removed by a table over its neighbours: for each of their labels, the
// node's cheapest label and what it costs. The last table has the least cost of
// all, and going back gives the labels. It is exact, and tables grow with the
// number of neighbours:
//
//   a ring of four nodes with three labels   a table of 3 x 3, then 3, then one
//
// Message passing says of most labels that every choice with one costs more than
// a choice that is known (Solution::lowest), so that tables are small.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_SOLVER_ELIMINATION_H
#define WEFT_PASSES_SHARDING_SOLVER_ELIMINATION_H

#include "weft/passes/sharding/solver/ChoiceGraph.h"

#include <optional>

namespace weft {

struct EliminationLimits {
  size_t entries = size_t(1) << 20; ///< of one table
  size_t sums = size_t(1) << 24;    ///< entries times labels, of all tables
};

/// The cheapest choice of a graph if each node takes one of `labels`, its list;
/// nothing if the tables would be too large.
std::optional<std::vector<unsigned>>
eliminate(const ChoiceGraph &graph,
          const std::vector<std::vector<unsigned>> &labels,
          const EliminationLimits &limits = {});

} // namespace weft

#endif // WEFT_PASSES_SHARDING_SOLVER_ELIMINATION_H
