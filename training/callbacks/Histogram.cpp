#include "weft/training/callbacks/Histogram.h"

#include <algorithm>
#include <cmath>

namespace weft {

template <typename Take>
static Status visitFinite(const StoredArray &values, const Take &take) {
  return values.visitBlocks([&](const ArrayBlock &, const Array &block) {
    for (int64_t i = 0; i < block.count(); ++i)
      if (double value = block.at(i); std::isfinite(value))
        take(value);
    return Status();
  });
}

Result<Histogram> Histogram::of(const StoredArray &values) {
  double low = INFINITY, high = -INFINITY;
  Status read = visitFinite(values, [&](double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  });
  Histogram out;
  if (!read || low > high)
    return read ? Result<Histogram>(out) : read.error();
  out.low = low;
  out.high = high;
  double width = (high - low) / kBuckets;
  read = visitFinite(values, [&](double value) {
    int bucket = width > 0 ? int((value - low) / width) : kBuckets - 1;
    ++out.counts[size_t(std::clamp(bucket, 0, kBuckets - 1))];
  });
  return read ? Result<Histogram>(out) : read.error();
}

} // namespace weft
