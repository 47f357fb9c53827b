//===- MemoryOrder.h - the order of an array's dimensions -------*- C++ -*-===//
//
// An array lies densely in memory, its dimensions in some order, which XLA
// gives from minor to major. An array of 2 x 3 elements:
//
//   {1, 0}    row-major: a[0][1] is beside a[0][0]
//   {0, 1}    a[1][0] is
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

/// Dimensions, minor to major.
using MemoryOrder = std::vector<int64_t>;

MemoryOrder rowMajor(size_t rank);

/// The order that a caller states; row-major by default. Nothing for tiles, and
/// for strides of an array that is not dense.
std::optional<MemoryOrder> orderOf(const MemoryLayout *layout,
                                   const std::vector<int64_t> &dims,
                                   size_t element);

/// Bytes between neighbours in each dimension.
std::vector<int64_t> byteStrides(const std::vector<int64_t> &dims,
                                 const MemoryOrder &order, size_t element);

/// Fills the dense array `to`, which is in that order, with an array that has
/// any strides.
void copyArray(void *to, const MemoryOrder &order, const void *from,
               const int64_t *strides, const std::vector<int64_t> &dims,
               size_t element);

} // namespace weft::pjrt

#endif // WEFT_TOOLS_PJRT_TRANSFERS_MEMORYORDER_H
