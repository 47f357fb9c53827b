//===- LeastSums.cpp - the least sums of costs and the rows of a table -----===//

#include "weft/passes/sharding/solver/LeastSums.h"

#include <algorithm>
#include <array>
#include <limits>

using namespace weft;

/// Lowers each of `count` sums to that of the row with `more` added.
__attribute__((target_clones("avx512f", "avx2", "default"))) static void
lowerTo(int64_t *sums, const int64_t *row, int64_t more, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    int64_t sum = row[i] + more;
    sums[i] = sum < sums[i] ? sum : sums[i];
  }
}

/// Lowers sums likewise, and sets the row and entry of each lowered sum.
__attribute__((target_clones("avx512f", "avx2", "default"))) static void
lowerFrom(int64_t *sums, int64_t *rows, int64_t *costs, const int64_t *row,
          int64_t number, int64_t more, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    int64_t cost = row[i], sum = cost + more;
    bool isLess = sum < sums[i];
    sums[i] = isLess ? sum : sums[i];
    rows[i] = isLess ? number : rows[i];
    costs[i] = isLess ? cost : costs[i];
  }
}

void weft::leastSums(const PairCosts &table, const std::vector<int64_t> &from,
                     int64_t most, std::vector<int64_t> &to) {
  std::fill(to.begin(), to.end(), most);
  for (unsigned row = 0; row < table.rows; ++row)
    lowerTo(to.data(), table.rowAt(row), from[row], table.columns);
}

void weft::leastSums(const PairCosts &table, const std::vector<int64_t> &from,
                     int64_t most, std::vector<int64_t> &to,
                     SumSources &sources) {
  std::fill(to.begin(), to.end(), most);
  sources.rows.assign(table.columns, 0);
  sources.costs.assign(table.rowAt(0), table.rowAt(0) + table.columns);
  for (unsigned row = 0; row < table.rows; ++row)
    lowerFrom(to.data(), sources.rows.data(), sources.costs.data(),
              table.rowAt(row), row, from[row], table.columns);
}

/// The kFewRows rows with the least `from`, of equal ones the first.
static std::array<unsigned, kFewRows>
lowestRows(const std::vector<int64_t> &from) {
  std::array<unsigned, kFewRows> rows = {};
  std::array<int64_t, kFewRows> least;
  least.fill(std::numeric_limits<int64_t>::max());
  for (unsigned row = 0; row < from.size(); ++row) {
    if (from[row] >= least.back())
      continue;
    size_t at = kFewRows - 1;
    for (; at > 0 && from[row] < least[at - 1]; --at) {
      least[at] = least[at - 1];
      rows[at] = rows[at - 1];
    }
    least[at] = from[row];
    rows[at] = row;
  }
  return rows;
}

void weft::nearSums(const PairCosts &table, const std::vector<int64_t> &from,
                    int64_t most, std::vector<int64_t> &to,
                    SumSources &sources) {
  if (table.rows <= kManyRows || sources.rows.empty())
    return leastSums(table, from, most, to, sources);
  for (unsigned column = 0; column < table.columns; ++column)
    to[column] =
        std::min(from[sources.rows[column]] + sources.costs[column], most);
  for (unsigned row : lowestRows(from))
    lowerFrom(to.data(), sources.rows.data(), sources.costs.data(),
              table.rowAt(row), row, from[row], table.columns);
}
