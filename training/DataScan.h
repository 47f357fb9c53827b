//===- DataScan.h - one look at all values of an array ----------*- C++ -*-===//
//
//   Result<DataScan> seen = scan(rows, /*classes=*/10);
//   seen->low, seen->high;       // 0, 255; low > high without numbers
//   seen->missing;               // values that are NaN
//   seen->outside;               // labels that name none of the 10 classes
//   seen->fractional;            // labels that are no integers
//   seen->hash;                  // tells other data apart
//
// Rows are scanned in pieces of 4 MiB, or of one row if it has more. For
// images, which would all have to be decoded, only the hash of their names,
// sizes and labels is computed.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TRAINING_DATASCAN_H
#define WEFT_TRAINING_DATASCAN_H

#include "weft/data/sources/RowSource.h"

#include <cmath>

namespace weft {

struct DataScan {
  double low = INFINITY, high = -INFINITY; ///< real parts, without NaN
  int64_t missing = 0;                     ///< values that are NaN
  int64_t outside = 0;    ///< labels below 0, from `classes` on, or NaN
  int64_t fractional = 0; ///< labels that are finite and no integers
  int64_t values = 0;
  uint64_t hash = 0;
};

/// Scans all rows. `classes`: 0 if values are no labels.
Result<DataScan> scan(const RowSource &rows, int64_t classes);

} // namespace weft

#endif // WEFT_TRAINING_DATASCAN_H
