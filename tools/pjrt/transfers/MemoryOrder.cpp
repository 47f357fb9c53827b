//===- MemoryOrder.cpp - the order of an array's dimensions ---------------===//

#include "weft/tools/pjrt/transfers/MemoryOrder.h"

#include <algorithm>
#include <cstring>
#include <numeric>

using namespace weft::pjrt;

MemoryOrder weft::pjrt::rowMajor(size_t rank) {
  MemoryOrder order(rank);
  std::iota(order.rbegin(), order.rend(), 0);
  return order;
}

std::vector<int64_t> weft::pjrt::byteStrides(const std::vector<int64_t> &dims,
                                             const MemoryOrder &order,
                                             size_t element) {
  std::vector<int64_t> strides(dims.size());
  auto stride = static_cast<int64_t>(element);
  for (int64_t dim : order) {
    strides[dim] = stride;
    stride *= dims[dim];
  }
  return strides;
}

/// Whether the order has each dimension once.
static bool isOrder(const int64_t *order, size_t size, size_t rank) {
  std::vector<bool> seen(rank, false);
  for (size_t i = 0; i < size; ++i) {
    if (order[i] < 0 || static_cast<size_t>(order[i]) >= rank || seen[order[i]])
      return false;
    seen[order[i]] = true;
  }
  return size == rank;
}

/// The order with these strides; nothing if the array is not dense. Strides of
/// dimensions of one element, and of empty arrays, may be any.
static std::optional<MemoryOrder>
orderOfStrides(const int64_t *strides, const std::vector<int64_t> &dims,
               size_t element) {
  MemoryOrder order = rowMajor(dims.size());
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return (dims[a] == 1 ? 0 : strides[a]) < (dims[b] == 1 ? 0 : strides[b]);
  });
  std::vector<int64_t> dense = byteStrides(dims, order, element);
  bool empty = std::count(dims.begin(), dims.end(), 0) > 0;
  for (size_t d = 0; d < dims.size() && !empty; ++d)
    if (dims[d] != 1 && strides[d] != dense[d])
      return std::nullopt;
  return order;
}

std::optional<MemoryOrder> weft::pjrt::orderOf(const MemoryLayout *layout,
                                               const std::vector<int64_t> &dims,
                                               size_t element) {
  if (!layout)
    return rowMajor(dims.size());
  if (layout->type == kStrided) {
    const StridedLayout &strided = layout->strides;
    if (strided.num_byte_strides != dims.size())
      return strided.num_byte_strides == 0
                 ? std::optional(rowMajor(dims.size()))
                 : std::nullopt;
    return orderOfStrides(strided.byte_strides, dims, element);
  }
  const TiledLayout &tiled = layout->tiled;
  if (tiled.num_tiles != 0 ||
      !isOrder(tiled.minor_to_major, tiled.minor_to_major_size, dims.size()))
    return std::nullopt;
  return MemoryOrder(tiled.minor_to_major,
                     tiled.minor_to_major + tiled.minor_to_major_size);
}

namespace {

/// A copied array: its dimensions from major to minor, in the order of the
/// copy.
struct Copied {
  std::vector<int64_t> dims, strides;
  size_t element;
};

template <size_t bytes>
void copyRow(char *to, const char *from, int64_t count, int64_t stride) {
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(to + i * bytes, from + i * stride, bytes);
}

void copyRow(char *to, const char *from, int64_t count, int64_t stride,
             size_t element) {
  if (stride == static_cast<int64_t>(element)) {
    std::memcpy(to, from, static_cast<size_t>(count) * element);
    return;
  }
  switch (element) {
  case 1:
    return copyRow<1>(to, from, count, stride);
  case 2:
    return copyRow<2>(to, from, count, stride);
  case 4:
    return copyRow<4>(to, from, count, stride);
  case 8:
    return copyRow<8>(to, from, count, stride);
  default:
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(to + i * static_cast<int64_t>(element), from + i * stride,
                  element);
  }
}

/// Copies a dimension and inner ones; returns the address of the copy's next
/// elements.
char *copyDims(char *to, const char *from, const Copied &array, size_t dim) {
  int64_t count = array.dims[dim], stride = array.strides[dim];
  if (dim + 1 == array.dims.size()) {
    copyRow(to, from, count, stride, array.element);
    return to + count * static_cast<int64_t>(array.element);
  }
  for (int64_t i = 0; i < count; ++i)
    to = copyDims(to, from + i * stride, array, dim + 1);
  return to;
}

} // namespace

void weft::pjrt::copyArray(void *to, const MemoryOrder &order, const void *from,
                           const int64_t *strides,
                           const std::vector<int64_t> &dims, size_t element) {
  Copied array{{}, {}, element};
  for (size_t i = order.size(); i > 0; --i) {
    array.dims.push_back(dims[order[i - 1]]);
    array.strides.push_back(strides[order[i - 1]]);
  }
  if (std::count(dims.begin(), dims.end(), 0) > 0)
    return;
  // Inner dimensions that are dense on both sides are joined.
  while (array.dims.size() > 1 &&
         array.strides.back() == static_cast<int64_t>(element) &&
         array.strides.end()[-2] == array.dims.back() * array.strides.back()) {
    array.dims.end()[-2] *= array.dims.back();
    array.strides.end()[-2] = array.strides.back();
    array.dims.pop_back();
    array.strides.pop_back();
  }
  if (array.dims.empty())
    std::memcpy(to, from, element);
  else
    copyDims(static_cast<char *>(to), static_cast<const char *>(from), array,
             0);
}
