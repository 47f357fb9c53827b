//===- Reduction.cpp - reductions in an order of their own ----------------===//

#include "weft/test/cuda/machine/ShortFloats.h"
#include "weft/test/cuda/nccl/Objects.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <numeric>

namespace weft::fake {

using nccl::Reduction;
using nccl::Type;

template <class T> static T apply(Reduction reduction, T a, T b) {
  switch (reduction) {
  case Reduction::Sum:
    return T(a + b);
  case Reduction::Prod:
    return T(a * b);
  case Reduction::Max: // drops a NaN on one side, as NCCL may
    return a > b ? a : b;
  case Reduction::Min:
    return a < b ? a : b;
  }
  return a;
}

/// Combines element by element; each step is rounded to the type, as a ring of
/// GPUs rounds what it passes on.
template <class T, class Round>
static void combineAs(const std::vector<std::vector<uint8_t>> &arrays,
                      Reduction reduction,
                      const std::vector<std::vector<size_t>> &orders,
                      Round round, std::vector<uint8_t> &out) {
  size_t count = out.size() / sizeof(T);
  for (size_t i = 0; i < count; ++i) {
    const std::vector<size_t> &order = orders[i * orders.size() / count];
    auto load = [&](size_t rank) {
      T value;
      std::memcpy(&value, arrays[rank].data() + i * sizeof(T), sizeof value);
      return value;
    };
    T value = load(order[0]);
    for (size_t n = 1; n < order.size(); ++n)
      value = round(reduction, value, load(order[n]));
    std::memcpy(out.data() + i * sizeof(T), &value, sizeof value);
  }
}

/// The orders of ranks, one for each slice of the array, as a ring begins each
/// slice at another rank.
static std::vector<std::vector<size_t>> ordersOf(size_t ranks,
                                                 const Call &call) {
  const char *own = std::getenv("FAKE_NCCL_SEED");
  uint64_t seed = own ? std::strtoull(own, nullptr, 10) : fakeCudaSeed();
  uint64_t state = seed * 1000003 + call.count * 31 + uint64_t(call.type) * 7 +
                   uint64_t(call.kind);
  auto next = [&] { // splitmix64
    uint64_t z = state += 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
  };
  std::vector<size_t> ring(ranks);
  std::iota(ring.begin(), ring.end(), 0);
  for (size_t n = ranks; n > 1; --n)
    std::swap(ring[n - 1], ring[next() % n]);
  std::vector<std::vector<size_t>> orders;
  for (size_t slice = 0; slice < ranks; ++slice) {
    orders.push_back(ring);
    std::ranges::rotate(ring, ring.begin() + 1);
  }
  return orders;
}

std::vector<uint8_t> combine(const std::vector<std::vector<uint8_t>> &arrays,
                             const Call &call) {
  std::vector<uint8_t> out(arrays[0].size());
  auto reduction = Reduction(call.argument);
  auto orders = ordersOf(arrays.size(), call);
  auto exact = [](Reduction kind, auto a, auto b) { return apply(kind, a, b); };
  auto rounded = [](Reduction kind, auto a, auto b) {
    return decltype(a)::of(apply<double>(kind, a, b));
  };
  auto run = [&]<class T>(T, auto round) {
    combineAs<T>(arrays, reduction, orders, round, out);
  };
  switch (call.type) {
  case Type::I8:
    run(int8_t(), exact);
    break;
  case Type::U8:
    run(uint8_t(), exact);
    break;
  case Type::I32:
    run(int32_t(), [](Reduction kind, int32_t a, int32_t b) {
      return int32_t(apply<int64_t>(kind, a, b));
    });
    break;
  case Type::U32:
    run(uint32_t(), exact);
    break;
  case Type::I64: // sums and products wrap around
    run(int64_t(), [](Reduction kind, int64_t a, int64_t b) {
      bool wraps = kind == Reduction::Sum || kind == Reduction::Prod;
      return wraps ? int64_t(apply<uint64_t>(kind, uint64_t(a), uint64_t(b)))
                   : apply(kind, a, b);
    });
    break;
  case Type::U64:
    run(uint64_t(), exact);
    break;
  case Type::F16:
    run(ptx::Half(), rounded);
    break;
  case Type::BF16:
    run(ptx::Brain(), rounded);
    break;
  case Type::F32:
    run(float(), exact);
    break;
  case Type::F64:
    run(double(), exact);
    break;
  }
  return out;
}

} // namespace weft::fake
