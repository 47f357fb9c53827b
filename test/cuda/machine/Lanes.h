//===- Lanes.h - one computation in all lanes -------------------*- C++ -*-===//
//
//   each<[](uint32_t a, uint32_t b) { return a + b; }, uint32_t, uint32_t, uint32_t>
//
// This is the function of `add.u32`: target type, then source types. Inactive
// lanes are computed, too, and dropped, so that the loop is vectorized: a
// computation must accept any bits.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_CUDA_MACHINE_LANES_H
#define WEFT_TEST_CUDA_MACHINE_LANES_H

#include "weft/test/cuda/machine/Decoder.h"
#include "weft/test/cuda/machine/Warp.h"

#include <utility>

namespace weft::ptx {

template <auto op, class Target, class... Sources>
void each(Warp &warp, const Instruction &i, Mask active) {
  Target *target = warp.lanes<Target>(i.target());
  [&]<size_t... k>(std::index_sequence<k...>) {
    const std::tuple<const Sources *...> from{
        warp.lanes<Sources>(i.source(k))...};
    if (active == kAllLanes)
      for (unsigned lane = 0; lane < kLanes; ++lane)
        target[lane] = op(std::get<k>(from)[lane]...);
    else
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        Target result = op(std::get<k>(from)[lane]...);
        target[lane] = active >> lane & 1 ? result : target[lane];
      }
  }(std::index_sequence_for<Sources...>());
}

/// The function for `count` sources and a target of one type.
template <auto op, class T, unsigned count> constexpr Compute sameType() {
  if constexpr (count == 1)
    return each<op, T, T>;
  else if constexpr (count == 2)
    return each<op, T, T, T>;
  else
    return each<op, T, T, T, T>;
}

template <class T> struct Pair {
  T low, high;
};
/// Applies the operation to both halves of a register.
template <auto op> struct Halves {
  template <class T> Pair<T> operator()(Pair<T> a) const {
    return {op(a.low), op(a.high)};
  }
  template <class T> Pair<T> operator()(Pair<T> a, Pair<T> b) const {
    return {op(a.low, b.low), op(a.high, b.high)};
  }
  template <class T> Pair<T> operator()(Pair<T> a, Pair<T> b, Pair<T> c) const {
    return {op(a.low, b.low, c.low), op(a.high, b.high, c.high)};
  }
};

/// The function of an integer type, or null.
template <auto op, unsigned count> Compute ofIntegers(Type type) {
  switch (type) {
  case Type::U16:
    return sameType<op, uint16_t, count>();
  case Type::S16:
    return sameType<op, int16_t, count>();
  case Type::U32:
    return sameType<op, uint32_t, count>();
  case Type::S32:
    return sameType<op, int32_t, count>();
  case Type::U64:
    return sameType<op, uint64_t, count>();
  case Type::S64:
    return sameType<op, int64_t, count>();
  case Type::U16x2:
    return sameType<Halves<op>{}, Pair<uint16_t>, count>();
  case Type::S16x2:
    return sameType<Halves<op>{}, Pair<int16_t>, count>();
  default:
    return nullptr;
  }
}

/// The function of a type of bits, or null; a number of the size stands for it.
template <auto op, unsigned count> Compute ofBits(Type type) {
  switch (type) {
  case Type::B16:
    return sameType<op, uint16_t, count>();
  case Type::B32:
    return sameType<op, uint32_t, count>();
  case Type::B64:
    return sameType<op, uint64_t, count>();
  default:
    return nullptr;
  }
}

} // namespace weft::ptx

#endif // WEFT_TEST_CUDA_MACHINE_LANES_H
