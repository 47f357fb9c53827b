//===- Windows.h - windows of one dimension ---------------------*- C++ -*-===//
//
// The window of result position p reads, for k in [0, size), the input position
//
//   (p * stride + k * dilation - low) / baseDilation
//
// if it exists. In a dimension of 5 with a window of 3, stride 2 and one
// element of padding before and after, result 0 reads -1 0 1, 1 reads 1 2 3, 2
// reads 3 4 5; -1 and 5 are padding.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_OPS_WINDOWS_H
#define WEFT_DIALECTS_WEFT_OPS_WINDOWS_H

#include "weft/dialects/weft/rules/ShardingRule.h"

#include <algorithm>

namespace weft {

struct Window {
  int64_t size = 1, stride = 1, low = 0, high = 0;
  int64_t baseDilation = 1, dilation = 1;

  static int64_t dilated(int64_t n, int64_t by) {
    return n == 0 ? 0 : (n - 1) * by + 1;
  }
  /// The number of windows over n elements.
  int64_t count(int64_t n) const {
    int64_t rest =
        low + dilated(n, baseDilation) + high - dilated(size, dilation);
    return rest < 0 ? 0 : rest / stride + 1;
  }
  /// Whether every result position reads exactly its own input position.
  bool isTrivial() const {
    return size == 1 && stride == 1 && low == 0 && high == 0 &&
           baseDilation == 1;
  }
  /// The position of element k of window p in n elements; -1 outside or between
  /// them.
  int64_t at(int64_t p, int64_t k, int64_t n) const {
    int64_t place = p * stride + k * dilation - low;
    if (place < 0 || place % baseDilation != 0 || place / baseDilation >= n)
      return -1;
    return place / baseDilation;
  }
  PositionMap positions(unsigned operand, unsigned factor) const {
    PositionMap map{operand, 0, factor, stride, -low, size, dilation};
    map.divisor = baseDilation;
    return map;
  }
};

/// The windows of an op, one for each dimension. Ops return it by value, so the
/// compiler refuses a reference to an element of a list that nobody keeps.
class WindowList : public llvm::SmallVector<Window, 4> {
public:
  using SmallVector::SmallVector;
  const Window &operator[](size_t i) const [[clang::lifetimebound]] {
    return SmallVector::operator[](i);
  }
  Window &operator[](size_t i) [[clang::lifetimebound]] {
    return SmallVector::operator[](i);
  }
};

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_OPS_WINDOWS_H
