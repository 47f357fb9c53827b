//===- ReduceLoops.h - the loops of Reduce.h --------------------*- C++ -*-===//
//
// Each Reduce<Width>.cpp includes this once, and sets the vector width by its
// compile options. Everything is in an anonymous namespace, as the linker must
// not merge the widths.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_COLLECTIVES_REDUCELOOPS_H
#define WEFT_RUNTIME_COLLECTIVES_REDUCELOOPS_H

#include "weft/runtime/collectives/Reduce.h"
#include "weft/runtime/collectives/ReduceElements.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace {

using namespace weft::runtime;

/// Reduces arrays of a fixed number of devices: the sum stays in registers.
template <typename E, typename Op, size_t count>
void reduceInPlace(void *const *arrays, int64_t begin, int64_t end) {
  typename E::Stored *p[count];
  for (size_t m = 0; m < count; ++m)
    p[m] = static_cast<typename E::Stored *>(arrays[m]);
  // The loop may be vectorized: arrays are equal or disjoint, and element i
  // depends on elements i alone.
#pragma clang loop vectorize(assume_safety) interleave_count(2)
  for (int64_t i = begin; i < end; ++i) {
    typename E::Value value = E::load(p[0][i]);
#pragma clang loop unroll(full)
    for (size_t m = 1; m < count; ++m)
      value = Op::apply(value, E::load(p[m][i]));
#pragma clang loop unroll(full)
    for (size_t m = 0; m < count; ++m)
      p[m][i] = E::store(value);
  }
}

/// Reduces arrays of any number of devices: blocks of a sum stay in L1.
template <typename E, typename Op>
void reduceBlocks(const void *const *sources, size_t sourceCount,
                  void *const *targets, size_t targetCount, int64_t begin,
                  int64_t end) {
  using Stored = typename E::Stored;
  using Value = typename E::Value;
  constexpr int64_t block = 4096 / sizeof(Value);
  alignas(64) Value sum[block];
  alignas(64) Stored result[block];
  for (int64_t i = begin; i < end; i += block) {
    int64_t n = end - i < block ? end - i : block;
    auto *first = static_cast<const Stored *>(sources[0]) + i;
    for (int64_t k = 0; k < n; ++k)
      sum[k] = E::load(first[k]);
    for (size_t m = 1; m < sourceCount; ++m) {
      auto *next = static_cast<const Stored *>(sources[m]) + i;
      for (int64_t k = 0; k < n; ++k)
        sum[k] = Op::apply(sum[k], E::load(next[k]));
    }
    for (int64_t k = 0; k < n; ++k)
      result[k] = E::store(sum[k]);
    for (size_t m = 0; m < targetCount; ++m)
      std::memcpy(static_cast<Stored *>(targets[m]) + i, result,
                  static_cast<size_t>(n) * sizeof(Stored));
  }
}

template <typename E, typename Op>
void reduce(const void *const *sources, size_t sourceCount,
            void *const *targets, size_t targetCount, int64_t begin,
            int64_t end) {
  bool inPlace = std::equal(sources, sources + sourceCount, targets,
                            targets + targetCount);
  if (inPlace && sourceCount == 1)
    return;
  // Loops for a fixed number of devices are omitted for small floats, as the
  // code of their conversions would be nine tenths of the runtime library, and
  // for complex numbers of floats, which Clang loads as integers and keeps out
  // of vectors.
  if constexpr (!isSmallFloat<E> && !std::is_same_v<E, Complex<float>>) {
    if (inPlace && sourceCount == 2)
      return reduceInPlace<E, Op, 2>(targets, begin, end);
    if (inPlace && sourceCount == 4)
      return reduceInPlace<E, Op, 4>(targets, begin, end);
    if (inPlace && sourceCount == 8)
      return reduceInPlace<E, Op, 8>(targets, begin, end);
  }
  reduceBlocks<E, Op>(sources, sourceCount, targets, targetCount, begin, end);
}

/// Chooses the loop of a reduction.
struct Chosen {
  template <typename E, typename Op> ReduceFunction visit() const {
    return reduce<E, Op>;
  }
  ReduceFunction none() const { return nullptr; }
};

constexpr bool isNumberOf(ReduceKind kind, Reduction reduction) {
  return uint8_t(kind) == uint8_t(reduction);
}
static_assert(isNumberOf(ReduceKind::sum, Reduction::sum) &&
              isNumberOf(ReduceKind::max, Reduction::max) &&
              isNumberOf(ReduceKind::min, Reduction::min) &&
              isNumberOf(ReduceKind::prod, Reduction::prod) &&
              isNumberOf(ReduceKind::and_, Reduction::and_) &&
              isNumberOf(ReduceKind::or_, Reduction::or_));

ReduceFunction choose(DType dtype, ReduceKind kind) {
  switch (dtype) {
#define WEFT_ELEMENT(NAME, name, ...)                                          \
  case DType::name:                                                            \
    return reduced::name::visit(Reduction(kind), Chosen());
#include "weft/base/ElementTypes.def"
  }
  return nullptr;
}

} // namespace

#endif // WEFT_RUNTIME_COLLECTIVES_REDUCELOOPS_H
