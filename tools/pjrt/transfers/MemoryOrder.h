//===- MemoryOrder.h - the order of an array's dimensions -------*- C++ -*-===//
//
// An array is dense in memory, with its dimensions in some order, which XLA
// gives from minor to major. An array of 2 x 3 elements:
//
//   {1, 0}    row-major: a[0][1] is beside a[0][0]
//   {0, 1}    column-major: a[1][0] is beside a[0][0]
//
// Programs run on row-major arrays: arguments in another order are copied
// before a run, results after it (Execute.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_PJRT_TRANSFERS_MEMORYORDER_H
#define WEFT_TOOLS_PJRT_TRANSFERS_MEMORYORDER_H

#include "weft/tools/pjrt/Abi.h"

#include <optional>
#include <vector>

namespace weft::pjrt {

/// The dimensions of an array, minor to major.
using MemoryOrder = std::vector<int64_t>;

MemoryOrder rowMajor(size_t rank);

/// The order in a caller's layout; row-major by default. Nothing for tiles, for
/// strides of an array that is not dense, and for another number of dimensions.
std::optional<MemoryOrder> orderOf(const MemoryLayout *layout,
                                   const std::vector<int64_t> &dims,
                                   size_t element);

/// The stride of each dimension in bytes.
std::vector<int64_t> byteStrides(const std::vector<int64_t> &dims,
                                 const MemoryOrder &order, size_t element);

/// Fills the dense array `to`, which has that order, from an array with any
/// strides.
void copyArray(void *to, const MemoryOrder &order, const void *from,
               const int64_t *strides, const std::vector<int64_t> &dims,
               size_t element);

} // namespace weft::pjrt

#endif // WEFT_TOOLS_PJRT_TRANSFERS_MEMORYORDER_H
