//===- Solve.cpp - the cheapest choice of a graph, and a bound -------------===//

#include "weft/passes/sharding/solver/Solve.h"
#include "weft/base/Saturating.h"
#include "weft/passes/sharding/solver/Elimination.h"
#include "weft/passes/sharding/solver/Reduction.h"

#include <utility>

using namespace weft;

/// The labels of each node with which a choice may be cheaper than the solution,
/// and those of the solution.
static std::vector<std::vector<unsigned>> openLabels(const ChoiceGraph &graph,
                                                     const Solution &solution) {
  std::vector<std::vector<unsigned>> labels(graph.size());
  for (unsigned node = 0; node < graph.size(); ++node)
    for (unsigned label = 0; label < graph.costs(node).size(); ++label)
      if (label == solution.labels[node] || solution.lowest.empty() ||
          solution.lowest[node][label] < solution.cost)
        labels[node].push_back(label);
  return labels;
}

/// Closes the gap of a solution by elimination, if tables are small enough.
static void closeGap(const ChoiceGraph &graph, Solution &solution) {
  if (solution.bound >= solution.cost)
    return;
  std::optional<std::vector<unsigned>> labels =
      eliminate(graph, openLabels(graph, solution));
  if (!labels)
    return;
  int64_t cost = graph.costOf(*labels);
  if (cost < solution.cost) {
    solution.cost = cost;
    solution.passed = std::exchange(solution.labels, std::move(*labels));
  }
  solution.bound = solution.cost;
}

Solution weft::solve(const ChoiceGraph &graph,
                     const std::vector<unsigned> &start, SolveLimits limits) {
  Reduction reduction(graph);
  limits.offset = saturatingAdd(limits.offset, reduction.offset());
  Solution solution =
      passMessages(reduction.rest(), reduction.restOf(start), limits);
  closeGap(reduction.rest(), solution);
  solution.labels = reduction.complete(solution.labels);
  if (!solution.passed.empty())
    solution.passed = reduction.complete(solution.passed);
  solution.bound = saturatingAdd(solution.bound, reduction.offset());
  solution.cost = graph.costOf(solution.labels);
  if (int64_t cost = graph.costOf(start); cost <= solution.cost) {
    solution.cost = cost;
    solution.labels = start;
  }
  return solution;
}
