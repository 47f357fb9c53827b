//===- Pick.cpp - elements at positions that are data, on a GPU -----------===//

#include "weft/runtime/devices/cuda/kernels/Threads.h"

namespace {

template <typename T>
void pick(const PickTable &its, Sources sources, Targets targets) {
  int64_t total = its.outer * its.count * its.inner;
  int64_t last = its.block * its.members - 1;
  int64_t step = blocks() * threads();
  for (int64_t i = block() * threads() + thread(); i < its.members * total;
       i += step) {
    int64_t member = i / total, place = i - member * total;
    if (!targets[member])
      continue;
    int64_t q = load<int64_t>(sources[member * 2 + 1], place);
    q = q < 0 ? 0 : q > last ? last : q;
    int64_t row = place / its.inner / its.count, column = place % its.inner;
    int64_t holder = q / its.block;
    int64_t index =
        (row * its.block + q - holder * its.block) * its.inner + column;
    store(targets[member], place, load<T>(sources[holder * 2], index));
  }
}

} // namespace

WEFT_KERNEL weft_pick(const PickTable *table, Sources sources,
                      Targets targets) {
  PickTable its = *table;
  if (its.elementBytes == 16)
    pick<SixteenBytes>(its, sources, targets);
  else if (its.elementBytes == 8)
    pick<uint64_t>(its, sources, targets);
  else if (its.elementBytes == 4)
    pick<uint32_t>(its, sources, targets);
  else if (its.elementBytes == 2)
    pick<uint16_t>(its, sources, targets);
  else
    pick<uint8_t>(its, sources, targets);
}
