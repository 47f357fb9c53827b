//===- Reduction.cpp - a graph without the nodes that are decided last -----===//

#include "weft/passes/sharding/solver/Reduction.h"
#include "weft/base/Saturating.h"

#include <algorithm>
#include <utility>

using namespace weft;

// Joined and merged tables have no more rows and columns than this.
static constexpr size_t kMostPlaces = 256;

Reduction::Reduction(const ChoiceGraph &graph)
    : graph(graph), edgesOf(graph.size()), isGone(graph.size()) {
  for (unsigned node = 0; node < graph.size(); ++node)
    costs.push_back(graph.costs(node));
  for (const Edge &edge : graph.edges())
    addEdge(edge);
  for (unsigned node = graph.size(); node-- > 0;)
    waiting.push_back(node);
  while (!waiting.empty()) {
    unsigned node = waiting.back();
    waiting.pop_back();
    if (!isGone[node])
      take(node);
  }
  build();
}

unsigned Reduction::otherEnd(unsigned edge, unsigned node) const {
  return edges[edge].first == node ? edges[edge].second : edges[edge].first;
}

void Reduction::addEdge(Edge edge) {
  edgesOf[edge.first].push_back(edges.size());
  edgesOf[edge.second].push_back(edges.size());
  edges.push_back(std::move(edge));
}

void Reduction::dropEdge(unsigned edge) {
  std::erase(edgesOf[edges[edge].first], edge);
  std::erase(edgesOf[edges[edge].second], edge);
}

/// Removes the node if it may be, and asks its neighbours again.
void Reduction::take(unsigned node) {
  // The edges of a node with many are merged when their other ends are asked.
  constexpr size_t kMany = 16;
  while (edgesOf[node].size() <= kMany && mergeParallel(node)) {
  }
  size_t count = edgesOf[node].size();
  if (count > 2 && costs[node].size() > 1)
    return;
  if (count == 2 && costs[node].size() > 1 && !isSmall(node))
    return;
  Removed record{node, costs[node], {}};
  std::vector<unsigned> neighbours;
  for (unsigned edge : edgesOf[node]) {
    record.edges.push_back(edges[edge]);
    neighbours.push_back(otherEnd(edge, node));
  }
  if (count == 2 && costs[node].size() > 1)
    join(node);
  else
    fold(node);
  isGone[node] = true;
  removed.push_back(std::move(record));
  waiting.insert(waiting.end(), neighbours.begin(), neighbours.end());
}

bool Reduction::isSmall(unsigned node) const {
  for (unsigned index : edgesOf[node]) {
    const PairCosts &table = *edges[index].table;
    if (std::max(table.rows, table.columns) > kMostPlaces)
      return false;
  }
  return true;
}

/// The cost of a pair of labels of an edge's two ends.
static int64_t pairCost(const ChoiceGraph::Edge &edge, unsigned first,
                        unsigned second) {
  return edge.table->at(edge.rowOf[first], edge.columnOf[second]);
}

/// Adds to the labels of the only neighbour, or of all neighbours of a node
/// with one label, what the node costs beside them.
void Reduction::fold(unsigned node) {
  const std::vector<int64_t> &own = costs[node];
  std::vector<unsigned> all = edgesOf[node];
  if (all.size() != 1) {
    // No edge, or one label: the node's own cost is not added to any other.
    constant =
        saturatingAdd(constant, *std::min_element(own.begin(), own.end()));
  }
  for (unsigned index : all) {
    const Edge &edge = edges[index];
    bool isFirst = edge.first == node;
    unsigned other = otherEnd(index, node);
    for (unsigned label = 0; label < costs[other].size(); ++label) {
      int64_t least = kForbidden;
      for (unsigned mine = 0; mine < own.size(); ++mine)
        least = std::min(least,
                         saturatingAdd(all.size() == 1 ? own[mine] : 0,
                                       isFirst ? pairCost(edge, mine, label)
                                               : pairCost(edge, label, mine)));
      costs[other][label] = saturatingAdd(costs[other][label], least);
    }
    dropEdge(index);
  }
}

/// Lowers each of `count` costs to the sum of `more` and the row's.
__attribute__((target_clones("avx512f", "avx2", "default"))) static void
lowerSum(int64_t *costs, const int64_t *row, int64_t more, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    // Neither is negative: a sum that does not fit is forbidden.
    auto sum = int64_t(uint64_t(row[i]) + uint64_t(more));
    sum = sum < 0 ? kForbidden : sum;
    costs[i] = sum < costs[i] ? sum : costs[i];
  }
}

/// The table of two edges of a node without it: rows and columns are the places
/// of their other ends.
static PairCosts joinedTable(const PairCosts &a,
                             const std::vector<unsigned> &rowOfA,
                             const std::vector<int64_t> &own,
                             const PairCosts &b,
                             const std::vector<unsigned> &rowOfB) {
  PairCosts made(a.columns, b.columns);
  std::fill(made.costs.begin(), made.costs.end(), kForbidden);
  for (unsigned label = 0; label < own.size(); ++label)
    for (unsigned row = 0; row < made.rows; ++row) {
      int64_t first = saturatingAdd(own[label], a.at(rowOfA[label], row));
      if (first != kForbidden)
        lowerSum(&made.at(row, 0), b.rowAt(rowOfB[label]), first, made.columns);
    }
  return made;
}

/// Replaces the node and its two edges by one edge.
void Reduction::join(unsigned node) {
  unsigned left = edgesOf[node][0], right = edgesOf[node][1];
  if (otherEnd(left, node) > otherEnd(right, node))
    std::swap(left, right);
  const Edge &a = edges[left], &b = edges[right];
  bool isFirstOfA = a.first == node, isFirstOfB = b.first == node;
  Table &table = joined[{a.table, isFirstOfA ? a.rowOf : a.columnOf, isFirstOfA,
                         costs[node], b.table,
                         isFirstOfB ? b.rowOf : b.columnOf, isFirstOfB}];
  if (!table) {
    const PairCosts &ofA = *a.table, &ofB = *b.table;
    table = std::make_shared<PairCosts>(joinedTable(
        isFirstOfA ? ofA : transposed(ofA), isFirstOfA ? a.rowOf : a.columnOf,
        costs[node], isFirstOfB ? ofB : transposed(ofB),
        isFirstOfB ? b.rowOf : b.columnOf));
  }
  Edge edge{otherEnd(left, node), otherEnd(right, node),
            isFirstOfA ? a.columnOf : a.rowOf,
            isFirstOfB ? b.columnOf : b.rowOf, table};
  dropEdge(left);
  dropEdge(right);
  addEdge(std::move(edge));
}

/// Merges two edges to the same neighbour; returns whether there are such.
bool Reduction::mergeParallel(unsigned node) {
  const std::vector<unsigned> &all = edgesOf[node];
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t j = i + 1; j < all.size(); ++j)
      if (otherEnd(all[i], node) == otherEnd(all[j], node)) {
        size_t before = edges.size();
        merge(all[i], all[j]);
        if (edges.size() > before)
          return true;
      }
  return false;
}

/// The different pairs of two lists, and the place of each pair among them.
static std::vector<std::pair<unsigned, unsigned>>
pairsOf(const std::vector<unsigned> &a, const std::vector<unsigned> &b,
        std::vector<unsigned> &places) {
  std::vector<std::pair<unsigned, unsigned>> pairs;
  for (size_t label = 0; label < a.size(); ++label) {
    std::pair pair(a[label], b[label]);
    auto known = std::find(pairs.begin(), pairs.end(), pair);
    places.push_back(known - pairs.begin());
    if (known == pairs.end())
      pairs.push_back(pair);
  }
  return pairs;
}

void Reduction::merge(unsigned first, unsigned second) {
  const Edge &a = edges[first], &b = edges[second];
  Edge &known =
      merged[{a.table, b.table, a.rowOf, b.rowOf, a.columnOf, b.columnOf}];
  if (!known.table) {
    Edge made;
    auto rows = pairsOf(a.rowOf, b.rowOf, made.rowOf);
    auto columns = pairsOf(a.columnOf, b.columnOf, made.columnOf);
    if (std::max(rows.size(), columns.size()) > kMostPlaces)
      return;
    auto table = std::make_shared<PairCosts>(rows.size(), columns.size());
    for (unsigned row = 0; row < rows.size(); ++row)
      for (unsigned column = 0; column < columns.size(); ++column)
        table->at(row, column) = saturatingAdd(
            a.table->at(rows[row].first, columns[column].first),
            b.table->at(rows[row].second, columns[column].second));
    made.table = std::move(table);
    known = std::move(made);
  }
  Edge edge = known;
  edge.first = a.first;
  edge.second = a.second;
  dropEdge(first);
  dropEdge(second);
  addEdge(std::move(edge));
}

void Reduction::build() {
  numberInRest.resize(graph.size());
  for (unsigned node = 0; node < graph.size(); ++node)
    if (!isGone[node])
      numberInRest[node] = remaining.addNode(costs[node]);
  for (unsigned node = 0; node < graph.size(); ++node)
    for (unsigned index : edgesOf[node])
      if (const Edge &edge = edges[index]; edge.first == node)
        remaining.addEdge(numberInRest[node], edge.rowOf,
                          numberInRest[edge.second], edge.columnOf, edge.table);
}

std::vector<unsigned>
Reduction::restOf(const std::vector<unsigned> &labels) const {
  std::vector<unsigned> rest;
  for (unsigned node = 0; node < graph.size(); ++node)
    if (!isGone[node])
      rest.push_back(labels[node]);
  return rest;
}

std::vector<unsigned>
Reduction::complete(const std::vector<unsigned> &labels) const {
  std::vector<unsigned> all(graph.size());
  for (unsigned node = 0; node < graph.size(); ++node)
    if (!isGone[node])
      all[node] = labels[numberInRest[node]];
  for (size_t at = removed.size(); at-- > 0;) {
    const Removed &one = removed[at];
    int64_t least = kForbidden;
    for (unsigned label = 0; label < one.costs.size(); ++label) {
      int64_t cost = one.costs[label];
      for (const Edge &edge : one.edges)
        cost =
            saturatingAdd(cost, edge.first == one.node
                                    ? pairCost(edge, label, all[edge.second])
                                    : pairCost(edge, all[edge.first], label));
      if (cost < least) {
        least = cost;
        all[one.node] = label;
      }
    }
  }
  return all;
}
