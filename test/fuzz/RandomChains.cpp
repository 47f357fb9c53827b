//===- RandomChains.cpp - elements that are moved again and again ---------===//
//
//   %1 = weft.rng_bits ...
//   %2 = weft.roll %1 by [2]     %3 = weft.reverse %1 dims [0]
//   %4 = weft.concatenate %2, %3 dim 0
//   %5 = weft.slice %4 ...       of %1's shape; and so on from here
//
// A kernel that computes %1 wherever it is read has twice as much code after
// each round, so the compiler must store some values.
//
//===----------------------------------------------------------------------===//

#include "weft/test/fuzz/ProgramGenerator.h"

namespace weft {

/// A random move that keeps the shape.
RandomValue ProgramGenerator::rearranged(const RandomValue &x) {
  std::vector<int64_t> numbers;
  int64_t which = below(4), dim = dimOf(x);
  Shape others = x.shape;
  switch (which) {
  case 0:
    for (int64_t size : x.shape)
      numbers.push_back(below(2 * size) - size);
    emit("weft.roll " + x.name + " by " + list(numbers) + " : " + typeOf(x),
         like(x), {{x}});
    return values.back();
  case 1:
    emit("weft.reverse " + x.name + " dims " + list({dim}) + " : " + typeOf(x),
         like(x), {{x}});
    return values.back();
  case 2: { // reshaped to one row, moved, and reshaped back
    RandomValue flat = like(x, {elements(x.shape)});
    emit("weft.reshape " + x.name + " : " + typeOf(x) + " -> " + typeOf(flat),
         flat, {{x}});
    flat = values.back();
    emit("weft.reshape " + flat.name + " : " + typeOf(flat) + " -> " +
             typeOf(x),
         like(x), {{flat}});
    return values.back();
  }
  default:
    return x;
  }
}

/// Half of the elements of two moved versions of x, one after the other: every
/// other element, or a block.
RandomValue ProgramGenerator::interleaved(const RandomValue &x) {
  RandomValue a = rearranged(x), b = rearranged(x);
  int64_t dim = dimOf(x), size = x.shape[dim];
  RandomValue both = like(x);
  both.shape[dim] = 2 * size;
  emit("weft.concatenate " + a.name + ", " + b.name + " dim " +
           std::to_string(dim) + " : (" + typeOf(a) + ", " + typeOf(b) +
           ") -> " + typeOf(both),
       both, {{a}, {b}});
  both = values.back();
  // Whether every other element is taken, or a block.
  bool strided = oneIn(2);
  std::vector<int64_t> start(x.shape.size()), limit = both.shape,
                                              stride(x.shape.size(), 1);
  start[dim] = strided ? below(2) : below(size + 1);
  limit[dim] = strided ? 2 * size : start[dim] + size;
  stride[dim] = strided ? 2 : 1;
  emit("weft.slice " + both.name + " from " + list(start) + " to " +
           list(limit) + " by " + list(stride) + " : " + typeOf(both) + " -> " +
           typeOf(x),
       like(x), {{both}});
  return values.back();
}

void ProgramGenerator::movedChain() {
  if (oneIn(2))
    randomBits();
  auto x = pick([&](const RandomValue &v) {
    if (v.shape.empty() || isTooLarge(v))
      return false;
    RandomValue both = like(v, v.shape);
    both.shape[0] *= 2;
    return options.large ? !isTooLarge(both) : elements(both.shape) <= 2048;
  });
  if (!x)
    return;
  RandomValue last = *x;
  for (int64_t i = 0, rounds = 3 + below(8); i < rounds; ++i) {
    last = interleaved(last);
    if (last.element->isUnsigned && oneIn(2) &&
        emit("weft.xor " + last.name + ", " + x->name + " : " + typeOf(*x),
             like(last)))
      last = values.back();
  }
}

} // namespace weft
