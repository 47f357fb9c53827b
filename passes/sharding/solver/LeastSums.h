//===- LeastSums.h - the least sums of costs and the rows of a table -------===//
//
//   to[column] = the least of from[row] + table(row, column) over the rows
//
//   from {0, 5} and the table 0 72 / 72 0     {0, 5}, from the rows 0 and 1
//
// Message passing spends its time here. From one sweep to the next few columns
// get their least sum from another row, so that after one exact pass the rows
// that it found, and the kFewRows whose `from` is lowest, give nearly the same
// sums in less than half of the time. Such sums are never too low.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_SOLVER_LEASTSUMS_H
#define WEFT_PASSES_SHARDING_SOLVER_LEASTSUMS_H

#include "weft/passes/sharding/solver/ChoiceGraph.h"

namespace weft {

/// The row of the least sum of each column, and its entry in the table.
struct SumSources {
  std::vector<int64_t> rows, costs;
};

/// Tables with more rows than this are passed with near sums in between.
constexpr size_t kManyRows = 64;
constexpr size_t kFewRows = 8;

/// Sets `to`, one for each column, to the least sums, at most `most`.
void leastSums(const PairCosts &table, const std::vector<int64_t> &from,
               int64_t most, std::vector<int64_t> &to);
/// Sets `sources`, too: the row from which each sum came.
void leastSums(const PairCosts &table, const std::vector<int64_t> &from,
               int64_t most, std::vector<int64_t> &to, SumSources &sources);
/// The least sums of the rows in `sources`, and of the kFewRows with the least
/// `from`, if the table has more than kManyRows.
void nearSums(const PairCosts &table, const std::vector<int64_t> &from,
              int64_t most, std::vector<int64_t> &to, SumSources &sources);

} // namespace weft

#endif // WEFT_PASSES_SHARDING_SOLVER_LEASTSUMS_H
