#include "weft/runtime/program/Movement.h"

#include <algorithm>
#include <cstring>

namespace weft::runtime {

BoxCopy BoxCopy::make(std::span<const int64_t> sourceShape,
                      std::span<const int64_t> sourceStart,
                      std::span<const int64_t> targetShape,
                      std::span<const int64_t> targetStart,
                      std::span<const int64_t> extent, int64_t elementBytes) {
  BoxCopy copy;
  copy.run = elementBytes;
  int64_t sourceStride = elementBytes, targetStride = elementBytes;
  // Dimensions join the run from the innermost on, while both sides are dense.
  for (size_t d = extent.size(); d-- > 0;) {
    copy.sourceOffset += sourceStart[d] * sourceStride;
    copy.targetOffset += targetStart[d] * targetStride;
    if (copy.loops.empty() && sourceStride == copy.run &&
        targetStride == copy.run)
      copy.run *= extent[d];
    else if (extent[d] != 1)
      copy.loops.insert(copy.loops.begin(),
                        {extent[d], sourceStride, targetStride});
    sourceStride *= sourceShape[d];
    targetStride *= targetShape[d];
  }
  return copy;
}

int64_t BoxCopy::runs() const {
  int64_t count = 1;
  for (const Loop &loop : loops)
    count *= loop.count;
  return count;
}

BoxCopy BoxCopy::packing() const {
  BoxCopy out = *this;
  out.targetOffset = 0;
  std::erase_if(out.loops, [](const Loop &loop) {
    return loop.sourceStride == 0 && loop.count > 0;
  });
  int64_t stride = run;
  for (size_t i = out.loops.size(); i-- > 0;) {
    out.loops[i].targetStride = stride;
    stride *= out.loops[i].count;
  }
  return out;
}

BoxCopy BoxCopy::unpacking() const {
  BoxCopy out = packing();
  std::swap(out.sourceOffset, out.targetOffset);
  for (Loop &loop : out.loops)
    std::swap(loop.sourceStride, loop.targetStride);
  return out;
}

int64_t BoxCopy::bytes() const { return run * runs(); }

void BoxCopy::operator()(const void *source, void *target) const {
  (*this)(source, target, 0, runs());
}

/// Copies small runs of a fixed size by plain loads and stores.
template <int64_t size>
static void copyLine(const char *source, char *target, int64_t count,
                     int64_t sourceStride, int64_t targetStride) {
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(target + i * targetStride, source + i * sourceStride, size);
}

static void copyLine(const char *source, char *target, int64_t count,
                     int64_t sourceStride, int64_t targetStride, int64_t run) {
  switch (run) {
  case 1:
    return copyLine<1>(source, target, count, sourceStride, targetStride);
  case 2:
    return copyLine<2>(source, target, count, sourceStride, targetStride);
  case 4:
    return copyLine<4>(source, target, count, sourceStride, targetStride);
  case 8:
    return copyLine<8>(source, target, count, sourceStride, targetStride);
  default:
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(target + i * targetStride, source + i * sourceStride,
                  static_cast<size_t>(run));
  }
}

void BoxCopy::operator()(const void *source, void *target, int64_t first,
                         int64_t last) const {
  if (run == 0 || first >= last)
    return;
  const char *from = static_cast<const char *>(source) + sourceOffset;
  char *to = static_cast<char *>(target) + targetOffset;
  if (loops.empty()) {
    std::memcpy(to, from, static_cast<size_t>(run));
    return;
  }
  const Loop &inner = loops.back();
  while (first < last) {
    // Position of run `first` in the outer loops and in the innermost one.
    int64_t rest = first / inner.count, begin = first % inner.count;
    int64_t s = begin * inner.sourceStride, t = begin * inner.targetStride;
    for (size_t d = loops.size() - 1; d-- > 0;) {
      int64_t i = rest % loops[d].count;
      rest /= loops[d].count;
      s += i * loops[d].sourceStride;
      t += i * loops[d].targetStride;
    }
    int64_t count = std::min(inner.count - begin, last - first);
    copyLine(from + s, to + t, count, inner.sourceStride, inner.targetStride,
             run);
    first += count;
  }
}

} // namespace weft::runtime
