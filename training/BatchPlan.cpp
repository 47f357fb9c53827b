#include "weft/training/BatchPlan.h"

#include <algorithm>

using namespace weft;

std::vector<PlannedBatch> weft::planBatches(int64_t samples,
                                            std::vector<int64_t> sizes) {
  std::sort(sizes.begin(), sizes.end(), std::greater<>());
  std::vector<PlannedBatch> plan;
  int64_t done = 0;
  for (int64_t size : sizes)
    for (; samples - done >= size; done += size)
      plan.push_back({done, size, size});
  if (done < samples)
    plan.push_back({done, samples - done, sizes.back()});
  return plan;
}

std::vector<int64_t> weft::paddedIndices(const PlannedBatch &batch) {
  std::vector<int64_t> indices(batch.size);
  for (int64_t i = 0; i < batch.size; ++i)
    indices[i] = batch.begin + std::min(i, batch.samples - 1);
  return indices;
}
