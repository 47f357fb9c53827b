//===- Elimination.cpp - the cheapest choice, one node after another -------===//

#include "weft/passes/sharding/solver/Elimination.h"
#include "weft/base/Saturating.h"

#include <algorithm>
#include <set>
#include <utility>

using namespace weft;

namespace {
/// Costs of the labels of some nodes, those of the last node next to each other.
struct Table {
  std::vector<unsigned> nodes; ///< ascending
  std::vector<int64_t> costs;
};

class Eliminator {
public:
  Eliminator(const ChoiceGraph &graph [[clang::lifetimebound]],
             const std::vector<std::vector<unsigned>> &labels
             [[clang::lifetimebound]]);
  /// The order of the nodes; nothing if tables would be too large.
  std::optional<std::vector<unsigned>> order(const EliminationLimits &limits);
  std::vector<unsigned> run(const std::vector<unsigned> &order);

private:
  /// A node that was removed, with the place of its cheapest label in its list
  /// for each labels of the nodes that were its neighbours.
  struct Step {
    unsigned node = 0;
    std::vector<unsigned> nodes, best;
  };

  size_t size(unsigned node) const { return labels[node].size(); }
  /// The number of labels of all of these nodes, at most `most` + 1.
  size_t product(const std::set<unsigned> &nodes, size_t most) const;
  /// How far apart entries of a table are for the labels of each of `nodes`, 0 for
  /// one that it lacks.
  std::vector<size_t> stridesOf(const Table &table,
                                const std::vector<unsigned> &nodes) const;
  void add(Table table);
  void remove(unsigned node);

  const ChoiceGraph &graph;
  const std::vector<std::vector<unsigned>> &labels;
  std::vector<Table> tables;
  std::vector<std::set<unsigned>> tablesOf; ///< by node
  std::vector<Step> steps;
};
} // namespace

Eliminator::Eliminator(const ChoiceGraph &graph,
                       const std::vector<std::vector<unsigned>> &labels)
    : graph(graph), labels(labels), tablesOf(graph.size()) {}

size_t Eliminator::product(const std::set<unsigned> &nodes, size_t most) const {
  size_t all = 1;
  for (unsigned node : nodes)
    if ((all *= size(node)) > most)
      return most + 1;
  return all;
}

std::optional<std::vector<unsigned>>
Eliminator::order(const EliminationLimits &limits) {
  std::vector<std::set<unsigned>> neighbours(graph.size());
  for (const ChoiceGraph::Edge &edge : graph.edges()) {
    neighbours[edge.first].insert(edge.second);
    neighbours[edge.second].insert(edge.first);
  }
  // The node with the smallest table is next.
  std::vector<size_t> entries(graph.size());
  std::set<std::pair<size_t, unsigned>> waiting;
  auto enter = [&](unsigned node) {
    entries[node] = product(neighbours[node], limits.entries);
    waiting.insert({entries[node], node});
  };
  for (unsigned node = 0; node < graph.size(); ++node)
    enter(node);
  std::vector<unsigned> nodes;
  size_t sums = 0;
  while (!waiting.empty()) {
    auto [count, node] = *waiting.begin();
    waiting.erase(waiting.begin());
    sums += count * size(node);
    if (count > limits.entries || sums > limits.sums)
      return std::nullopt;
    nodes.push_back(node);
    for (unsigned one : neighbours[node]) {
      waiting.erase({entries[one], one});
      neighbours[one].insert(neighbours[node].begin(), neighbours[node].end());
      neighbours[one].erase(one);
      neighbours[one].erase(node);
    }
    for (unsigned one : neighbours[node])
      enter(one);
  }
  return nodes;
}

void Eliminator::add(Table table) {
  for (unsigned node : table.nodes)
    tablesOf[node].insert(tables.size());
  tables.push_back(std::move(table));
}

std::vector<size_t>
Eliminator::stridesOf(const Table &table,
                      const std::vector<unsigned> &nodes) const {
  std::vector<size_t> strides(nodes.size());
  size_t stride = 1;
  for (size_t at = table.nodes.size(); at-- > 0;) {
    auto found = std::find(nodes.begin(), nodes.end(), table.nodes[at]);
    if (found != nodes.end())
      strides[found - nodes.begin()] = stride;
    stride *= size(table.nodes[at]);
  }
  return strides;
}

/// Replaces the tables of a node by one of its neighbours.
void Eliminator::remove(unsigned node) {
  std::set<unsigned> others;
  for (unsigned table : tablesOf[node])
    others.insert(tables[table].nodes.begin(), tables[table].nodes.end());
  others.erase(node);
  std::vector<unsigned> nodes(others.begin(), others.end());
  std::vector<const Table *> from;
  std::vector<std::vector<size_t>> strides;
  nodes.push_back(node); // the last one, for its strides
  for (unsigned table : tablesOf[node]) {
    from.push_back(&tables[table]);
    strides.push_back(stridesOf(tables[table], nodes));
  }
  nodes.pop_back();
  size_t count = 1;
  for (unsigned one : nodes)
    count *= size(one);
  Table made{nodes, std::vector<int64_t>(count)};
  Step step{node, nodes, std::vector<unsigned>(count)};
  std::vector<size_t> at(nodes.size()), base(from.size());
  for (size_t entry = 0; entry < count; ++entry) {
    int64_t least = kForbidden;
    for (unsigned label = 0; label < size(node); ++label) {
      int64_t sum = 0;
      for (size_t i = 0; i < from.size(); ++i)
        sum = saturatingAdd(
            sum, from[i]->costs[base[i] + label * strides[i].back()]);
      if (sum < least) {
        least = sum;
        step.best[entry] = label;
      }
    }
    made.costs[entry] = least;
    // The next labels of the neighbours, the last one first.
    for (size_t d = nodes.size(); d-- > 0;) {
      bool isLast = ++at[d] == size(nodes[d]);
      for (size_t i = 0; i < from.size(); ++i)
        base[i] += isLast ? -strides[i][d] * (at[d] - 1) : strides[i][d];
      if (!isLast)
        break;
      at[d] = 0;
    }
  }
  for (unsigned table : std::set<unsigned>(tablesOf[node])) {
    for (unsigned one : tables[table].nodes)
      tablesOf[one].erase(table);
    tables[table] = {};
  }
  add(std::move(made));
  steps.push_back(std::move(step));
}

std::vector<unsigned> Eliminator::run(const std::vector<unsigned> &order) {
  for (unsigned node = 0; node < graph.size(); ++node) {
    Table own{{node}, {}};
    for (unsigned label : labels[node])
      own.costs.push_back(graph.costs(node)[label]);
    add(std::move(own));
  }
  for (const ChoiceGraph::Edge &edge : graph.edges()) {
    Table pair{{edge.first, edge.second}, {}};
    for (unsigned first : labels[edge.first])
      for (unsigned second : labels[edge.second])
        pair.costs.push_back(
            edge.table->at(edge.rowOf[first], edge.columnOf[second]));
    add(std::move(pair));
  }
  for (unsigned node : order)
    remove(node);
  std::vector<unsigned> place(graph.size()), chosen(graph.size());
  for (size_t at = steps.size(); at-- > 0;) {
    const Step &step = steps[at];
    size_t entry = 0;
    for (unsigned node : step.nodes)
      entry = entry * size(node) + place[node];
    place[step.node] = step.best[entry];
    chosen[step.node] = labels[step.node][place[step.node]];
  }
  return chosen;
}

std::optional<std::vector<unsigned>>
weft::eliminate(const ChoiceGraph &graph,
                const std::vector<std::vector<unsigned>> &labels,
                const EliminationLimits &limits) {
  Eliminator eliminator(graph, labels);
  std::optional<std::vector<unsigned>> order = eliminator.order(limits);
  if (!order)
    return std::nullopt;
  return eliminator.run(*order);
}
