//===- MessagePassing.cpp - cheap choices, and a bound of the cheapest -----===//

#include "weft/passes/sharding/solver/MessagePassing.h"
#include "weft/base/Saturating.h"
#include "weft/passes/sharding/solver/LeastSums.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

using namespace weft;

namespace {
using Wide = __int128;
using Costs = std::vector<int64_t>;

// Allowed costs add up to less than kSum. A forbidden one counts more, and what
// messages add up to is cut at kMost, which is a bound still: a lower message
// says less. So a sum of a node's costs, a message and a pair fits 64 bits.
constexpr int64_t kSum = int64_t(1) << 57, kBarred = kSum, kMost = kSum << 2;

/// The messages of an edge, by row and by column of its table.
struct Messages {
  Costs toRows, toColumns;
  SumSources ofRows, ofColumns; ///< only of large tables
};

/// A table divided by a power of two, and with rows and columns exchanged.
struct ScaledTable {
  PairCosts straight, turned;
  bool isLarge() const {
    return std::max(straight.rows, straight.columns) > kManyRows;
  }
};

/// One search. Costs are divided by a power of two so that they fit.
class Search {
public:
  Search(const ChoiceGraph &graph [[clang::lifetimebound]],
         std::vector<unsigned> start);
  Solution run(const SolveLimits &limits);

private:
  using Edge = ChoiceGraph::Edge;

  void scale();
  ScaledTable scaledTable(const PairCosts &table) const;
  int64_t scaled(int64_t cost) const {
    return cost == kForbidden ? kBarred : cost >> shift;
  }
  /// The costs of a node's labels with the messages of all its edges.
  Costs gather(unsigned node) const;
  /// The least cost of the labels of each row or column, less the message that
  /// the edge brought to it.
  static Costs grouped(const Costs &share, const std::vector<unsigned> &groupOf,
                       const Costs &message);
  static void pass(const PairCosts &table, const Costs &from, Costs &to,
                   SumSources *sources, bool isExact);
  void passToColumns(unsigned edge, const Costs &share);
  int64_t passToRows(unsigned edge, const Costs &share);
  /// Adds the costs of an edge's pairs with the label of its other end.
  void addPairs(Costs &sums, unsigned edge, bool isFirst,
                const std::vector<unsigned> &labels) const;
  unsigned chooseLabel(unsigned node,
                       const std::vector<unsigned> &labels) const;
  std::vector<unsigned> sweepForward();
  Wide sweepBackward();
  /// Gives each node in turn the cheapest label beside the labels of others.
  void improve(std::vector<unsigned> &labels) const;
  unsigned cheapestBeside(unsigned node,
                          const std::vector<unsigned> &labels) const;
  bool keepCheaper(std::vector<unsigned> labels);
  unsigned mostSweeps(const SolveLimits &limits) const;
  /// Keeps what every choice with a label costs at least.
  void keepLowest(Wide bound);

  const ChoiceGraph &graph;
  Solution best;
  unsigned shift = 0;
  std::vector<Costs> costs;                ///< scaled, by node and label
  std::vector<const ScaledTable *> tables; ///< indexed by edge
  std::map<const PairCosts *, ScaledTable> scaledTables;
  std::vector<Messages> messages; ///< indexed by edge
  /// What the labels of each node cost beside its cheapest one, in the bound of
  /// the last backward sweep.
  std::vector<Costs> beside;
  bool hasLarge = false; ///< whether some table is large
  bool isExact = true;   ///< whether this sweep's messages are
};
} // namespace

static int64_t greatest(const Costs &costs) {
  int64_t most = 0;
  for (int64_t cost : costs)
    if (cost != kForbidden)
      most = std::max(most, cost);
  return most;
}

Search::Search(const ChoiceGraph &graph, std::vector<unsigned> start)
    : graph(graph), beside(graph.size()) {
  best.cost = graph.costOf(start);
  best.labels = std::move(start);
  scale();
}

ScaledTable Search::scaledTable(const PairCosts &table) const {
  PairCosts straight = table;
  for (int64_t &cost : straight.costs)
    cost = scaled(cost);
  return {straight, transposed(straight)};
}

void Search::scale() {
  std::map<const PairCosts *, int64_t> most;
  Wide sum = 0;
  for (unsigned node = 0; node < graph.size(); ++node)
    sum += greatest(graph.costs(node));
  for (const Edge &edge : graph.edges()) {
    auto [entry, fresh] = most.try_emplace(edge.table.get());
    if (fresh)
      entry->second = greatest(edge.table->costs);
    sum += entry->second;
  }
  while ((sum >> shift) >= kSum)
    ++shift;
  costs.reserve(graph.size());
  for (unsigned node = 0; node < graph.size(); ++node) {
    Costs &own = costs.emplace_back(graph.costs(node));
    for (int64_t &cost : own)
      cost = scaled(cost);
  }
  for (const Edge &edge : graph.edges()) {
    auto entry = scaledTables.find(edge.table.get());
    if (entry == scaledTables.end())
      entry = scaledTables.emplace(edge.table.get(), scaledTable(*edge.table))
                  .first;
    tables.push_back(&entry->second);
    hasLarge |= entry->second.isLarge();
    messages.push_back(
        {Costs(edge.table->rows), Costs(edge.table->columns), {}, {}});
  }
}

/// Adds a message to the labels that its rows or columns stand for.
static void addTo(Costs &all, const Costs &message,
                  const std::vector<unsigned> &groupOf) {
  for (size_t label = 0; label < all.size(); ++label)
    all[label] = std::min(all[label] + message[groupOf[label]], kMost);
}

Costs Search::gather(unsigned node) const {
  Costs all = costs[node];
  for (unsigned edge : graph.lower(node))
    addTo(all, messages[edge].toColumns, graph.edges()[edge].columnOf);
  for (unsigned edge : graph.higher(node))
    addTo(all, messages[edge].toRows, graph.edges()[edge].rowOf);
  return all;
}

Costs Search::grouped(const Costs &share, const std::vector<unsigned> &groupOf,
                      const Costs &message) {
  Costs least(message.size(), kMost);
  for (size_t label = 0; label < share.size(); ++label) {
    int64_t &group = least[groupOf[label]];
    group = std::min(group, share[label]);
  }
  for (size_t group = 0; group < least.size(); ++group)
    least[group] -= message[group];
  return least;
}

/// Reduces the message by its least cost, which is returned, and cuts it.
static int64_t reduceLeast(Costs &message) {
  int64_t least = *std::min_element(message.begin(), message.end());
  for (int64_t &cost : message)
    cost = std::min(cost - least, kMost);
  return least;
}

void Search::pass(const PairCosts &table, const Costs &from, Costs &to,
                  SumSources *sources, bool isExact) {
  if (!sources)
    leastSums(table, from, kMost, to);
  else if (isExact)
    leastSums(table, from, kMost, to, *sources);
  else
    nearSums(table, from, kMost, to, *sources);
}

void Search::passToColumns(unsigned edge, const Costs &share) {
  const ScaledTable &table = *tables[edge];
  Messages &own = messages[edge];
  Costs from = grouped(share, graph.edges()[edge].rowOf, own.toRows);
  pass(table.straight, from, own.toColumns,
       table.isLarge() ? &own.ofColumns : nullptr, isExact);
  reduceLeast(own.toColumns);
}

int64_t Search::passToRows(unsigned edge, const Costs &share) {
  const ScaledTable &table = *tables[edge];
  Messages &own = messages[edge];
  Costs from = grouped(share, graph.edges()[edge].columnOf, own.toColumns);
  pass(table.turned, from, own.toRows, table.isLarge() ? &own.ofRows : nullptr,
       isExact);
  return reduceLeast(own.toRows);
}

static Costs divided(const Costs &all, int64_t divisor) {
  Costs share(all.size());
  for (size_t label = 0; label < all.size(); ++label)
    share[label] = all[label] / divisor;
  return share;
}

void Search::addPairs(Costs &sums, unsigned index, bool isFirst,
                      const std::vector<unsigned> &labels) const {
  const Edge &edge = graph.edges()[index];
  const PairCosts &table = tables[index]->straight;
  unsigned other = isFirst ? edge.columnOf[labels[edge.second]]
                           : edge.rowOf[labels[edge.first]];
  for (size_t label = 0; label < sums.size(); ++label) {
    int64_t cost = isFirst ? table.at(edge.rowOf[label], other)
                           : table.at(other, edge.columnOf[label]);
    sums[label] = std::min(sums[label] + cost, kMost);
  }
}

unsigned Search::chooseLabel(unsigned node,
                             const std::vector<unsigned> &labels) const {
  Costs sums = costs[node];
  for (unsigned index : graph.lower(node))
    addPairs(sums, index, /*isFirst=*/false, labels);
  for (unsigned index : graph.higher(node))
    addTo(sums, messages[index].toRows, graph.edges()[index].rowOf);
  return std::min_element(sums.begin(), sums.end()) - sums.begin();
}

std::vector<unsigned> Search::sweepForward() {
  std::vector<unsigned> labels(graph.size());
  for (unsigned node = 0; node < graph.size(); ++node) {
    labels[node] = chooseLabel(node, labels);
    if (graph.higher(node).empty())
      continue;
    int64_t sides =
        std::max(graph.lower(node).size(), graph.higher(node).size());
    Costs share = divided(gather(node), sides);
    for (unsigned edge : graph.higher(node))
      passToColumns(edge, share);
  }
  return labels;
}

/// Every choice x costs at least the sum of, for each node, all(x) less the
/// shares that went into its messages, and, for each edge, the least cost that
/// its message was reduced by.
Wide Search::sweepBackward() {
  Wide bound = 0;
  for (unsigned node = graph.size(); node-- > 0;) {
    Costs all = gather(node);
    int64_t lower = graph.lower(node).size();
    int64_t sides = std::max<int64_t>(lower, graph.higher(node).size());
    Costs share = divided(all, std::max<int64_t>(sides, 1));
    for (unsigned edge : graph.lower(node))
      bound += passToRows(edge, share);
    // Shares are at most a part of `all` for each side: what is left fits.
    for (size_t label = 0; label < all.size(); ++label)
      all[label] -= lower * share[label];
    int64_t least = *std::min_element(all.begin(), all.end());
    for (int64_t &cost : all)
      cost -= least;
    beside[node] = std::move(all);
    bound += least;
  }
  return bound;
}

unsigned Search::cheapestBeside(unsigned node,
                                const std::vector<unsigned> &labels) const {
  Costs sums = costs[node];
  for (unsigned edge : graph.lower(node))
    addPairs(sums, edge, /*isFirst=*/false, labels);
  for (unsigned edge : graph.higher(node))
    addPairs(sums, edge, /*isFirst=*/true, labels);
  unsigned now = labels[node];
  auto least = std::min_element(sums.begin(), sums.end());
  return *least < sums[now] ? least - sums.begin() : now;
}

void Search::improve(std::vector<unsigned> &labels) const {
  constexpr unsigned kRounds = 4;
  bool changed = true;
  for (unsigned round = 0; round < kRounds && changed; ++round) {
    changed = false;
    for (unsigned node = 0; node < graph.size(); ++node) {
      unsigned label = cheapestBeside(node, labels);
      changed |= label != labels[node];
      labels[node] = label;
    }
  }
}

bool Search::keepCheaper(std::vector<unsigned> labels) {
  // Improving each sweep's choice would take as long as the sweep.
  constexpr unsigned kSweepsBetween = 8;
  if (best.sweeps % kSweepsBetween == 1 || graph.costOf(labels) < best.cost)
    improve(labels);
  int64_t cost = graph.costOf(labels);
  if (cost >= best.cost)
    return false;
  best.cost = cost;
  best.labels = std::move(labels);
  return true;
}

void Search::keepLowest(Wide bound) {
  best.lowest.resize(graph.size());
  for (unsigned node = 0; node < graph.size(); ++node) {
    best.lowest[node].clear();
    for (int64_t cost : beside[node])
      best.lowest[node].push_back(
          int64_t(std::min<Wide>(bound + (Wide(cost) << shift), kForbidden)));
  }
}

unsigned Search::mostSweeps(const SolveLimits &limits) const {
  size_t pairs = 1;
  for (const ScaledTable *table : tables)
    pairs += 2 * table->straight.costs.size();
  return std::clamp<size_t>(limits.sums / pairs, limits.sweeps,
                            size_t(limits.sweeps) * 4);
}

Solution Search::run(const SolveLimits &limits) {
  // Of graphs with large tables, one sweep in this many is exact and has a bound;
  // the others prepare it.
  constexpr unsigned kSweepsOfExact = 4;
  unsigned idle = 0;
  const unsigned most = mostSweeps(limits);
  while (best.sweeps < most && idle < limits.idleSweeps &&
         best.cost - best.bound > saturatingAdd(best.cost, limits.offset) >>
             limits.gapBits) {
    ++best.sweeps;
    isExact =
        !hasLarge || best.sweeps <= 2 || best.sweeps % kSweepsOfExact == 0;
    bool better = keepCheaper(sweepForward());
    Wide bound = std::max<Wide>(sweepBackward(), 0) << shift;
    if (!isExact)
      continue;
    if (bound > best.bound) {
      best.bound = int64_t(std::min<Wide>(bound, best.cost));
      better = true;
      keepLowest(bound);
    }
    idle = better ? 0 : idle + 1;
  }
  return std::move(best);
}

Solution weft::passMessages(const ChoiceGraph &graph,
                            std::vector<unsigned> start,
                            const SolveLimits &limits) {
  return Search(graph, std::move(start)).run(limits);
}
