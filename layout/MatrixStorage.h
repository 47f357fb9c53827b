//===- MatrixStorage.h - matrices as libraries take them --------*- C++ -*-===//
//
// Linear algebra libraries take a matrix whose elements are adjacent along one
// dimension, and a leading dimension: the stride of the other. For 3 x 4
// elements
//
//   storageOf(3, 4, 4, 1)   {alongRows: false, leading: 4}   rows of 4
//   storageOf(3, 1, 4, 8)   {alongRows: true, leading: 8}    columns, 8 apart
//   storageOf(3, 8, 4, 2)   nothing: every other element
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LAYOUT_MATRIXSTORAGE_H
#define WEFT_LAYOUT_MATRIXSTORAGE_H

#include <algorithm>
#include <cstdint>
#include <optional>

namespace weft {

struct MatrixStorage {
  bool alongRows; ///< increasing row numbers step through adjacent elements
  int64_t leading;
};

/// The storage of `rows` x `columns` elements, both at least 1, with these
/// strides; nothing if neither stride is 1 or rows overlap. The stride of a
/// dimension of size 1 does not count.
inline std::optional<MatrixStorage> storageOf(int64_t rows, int64_t rowStride,
                                              int64_t columns,
                                              int64_t columnStride) {
  auto fits = [](int64_t inner, int64_t step, int64_t outer, int64_t apart) {
    return (inner == 1 || step == 1) && (outer == 1 || apart >= inner);
  };
  if (fits(rows, rowStride, columns, columnStride))
    return MatrixStorage{true, columns == 1 ? rows : columnStride};
  if (fits(columns, columnStride, rows, rowStride))
    return MatrixStorage{false, rows == 1 ? columns : rowStride};
  return std::nullopt;
}

} // namespace weft

#endif // WEFT_LAYOUT_MATRIXSTORAGE_H
