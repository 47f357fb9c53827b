//===- Solve.h - the cheapest choice of a graph, and a bound --------*- C++ -*-===//
//
//   Solution solution = solve(graph, start);
//   solution.labels         one for each node
//   solution.cost           2,269
//   solution.bound          2,268: no choice costs less
//
// The graph is reduced first (Reduction.h), which is exact, and message passing
// (MessagePassing.h) decides the rest. Where it leaves a gap, the labels that may
// still be cheaper are eliminated (Elimination.h), if there are few. The result depends on the graph and on
// `start` alone; limits are counts.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_SOLVER_SOLVE_H
#define WEFT_PASSES_SHARDING_SOLVER_SOLVE_H

#include "weft/passes/sharding/solver/MessagePassing.h"

namespace weft {

/// Solves a graph. `start`, one label for each node, is the result if nothing
/// cheaper is found.
Solution solve(const ChoiceGraph &graph, const std::vector<unsigned> &start,
               SolveLimits limits = {});

} // namespace weft

#endif // WEFT_PASSES_SHARDING_SOLVER_SOLVE_H
