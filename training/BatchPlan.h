//===- BatchPlan.h - samples in batches of given sizes ----------*- C++ -*-===//
//
//   planBatches(45, {8, 32})       // 32 of 32, 8 of 8, and 5 in a batch of 8
//
// Samples run in the largest compiled batch size that they fill, then the rest
// in the next smaller one. A rest below the smallest size is padded to it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TRAINING_BATCHPLAN_H
#define WEFT_TRAINING_BATCHPLAN_H

#include <cstdint>
#include <vector>

namespace weft {

/// One run of a step.
struct PlannedBatch {
  int64_t begin;   ///< the first sample
  int64_t samples; ///< at most `size`
  int64_t size;    ///< batch size of the step; the rest is padding
  bool operator==(const PlannedBatch &) const = default;
};

/// Plans batches of all samples, in order. `sizes`, each above 0: the batch
/// sizes with steps, at least one.
std::vector<PlannedBatch> planBatches(int64_t samples,
                                      std::vector<int64_t> sizes);

/// The indices of the batch's samples; padding repeats the last one.
std::vector<int64_t> paddedIndices(const PlannedBatch &batch);

} // namespace weft

#endif // WEFT_TRAINING_BATCHPLAN_H
