//===- Solve.cpp - the cheapest choice of a graph, and a bound -------------===//

#include "weft/passes/sharding/solver/Solve.h"
#include "weft/base/Saturating.h"
#include "weft/passes/sharding/solver/Reduction.h"

#include <algorithm>

using namespace weft;

Solution weft::solve(const ChoiceGraph &graph,
                     const std::vector<unsigned> &start, SolveLimits limits) {
  Reduction reduction(graph);
  limits.offset = saturatingAdd(limits.offset, reduction.offset());
  Solution solution =
      passMessages(reduction.rest(), reduction.restOf(start), limits);
  solution.labels = reduction.complete(solution.labels);
  solution.bound = saturatingAdd(solution.bound, reduction.offset());
  solution.cost = graph.costOf(solution.labels);
  if (int64_t cost = graph.costOf(start); cost <= solution.cost) {
    solution.cost = cost;
    solution.labels = start;
  }
  return solution;
}
