//===- Histogram.h - thirty equal buckets of a range of values ----*- C++ -*-===//
//
//   Result<Histogram> histogram = Histogram::of(value);   // a StoredArray
//   histogram->low, histogram->high, histogram->counts
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TRAINING_CALLBACKS_HISTOGRAM_H
#define WEFT_TRAINING_CALLBACKS_HISTOGRAM_H

#include "weft/data/arrays/StoredArray.h"

#include <array>

namespace weft {

struct Histogram {
  static constexpr int kBuckets = 30;
  double low = 0, high = 0; ///< range of the finite values; 0 if there are none
  /// The number of values in each bucket; NaN and infinities are in none.
  std::array<double, kBuckets> counts{};

  /// Reads the array twice, block by block.
  static Result<Histogram> of(const StoredArray &values);
};

} // namespace weft

#endif // WEFT_TRAINING_CALLBACKS_HISTOGRAM_H
