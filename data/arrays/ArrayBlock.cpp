#include "weft/data/arrays/ArrayBlock.h"

#include <algorithm>

namespace weft {

ArrayBlock ArrayBlock::full(const Shape &shape) {
  return {Shape(shape.size(), 0), shape, 0, elementCount(shape).value_or(0)};
}

/// Advances `index` in its first `rank` dimensions; returns false at the end.
static bool advance(Shape &index, const Shape &shape, size_t rank) {
  for (size_t d = rank; d-- > 0;) {
    if (++index[d] < shape[d])
      return true;
    index[d] = 0;
  }
  return false;
}

std::vector<ArrayBlock> blocksOf(const Shape &shape, int64_t most) {
  int64_t total = elementCount(shape).value_or(0);
  if (total == 0)
    return {};
  if (total <= most)
    return {ArrayBlock::full(shape)};
  // Blocks are cut along dimension `cut`, and have all of the later dimensions.
  size_t cut = shape.size() - 1;
  int64_t inner = 1;
  while (cut > 0 && inner * shape[cut] <= most)
    inner *= shape[cut--];
  int64_t step = std::max<int64_t>(1, most / inner);
  std::vector<ArrayBlock> blocks;
  uint64_t first = 0;
  Shape index(shape.size(), 0);
  do {
    for (int64_t begin = 0; begin < shape[cut]; begin += step) {
      ArrayBlock block = ArrayBlock::full(shape);
      for (size_t d = 0; d < cut; ++d) {
        block.starts[d] = index[d];
        block.sizes[d] = 1;
      }
      block.starts[cut] = begin;
      block.sizes[cut] = std::min(step, shape[cut] - begin);
      block.first = first;
      block.count = block.sizes[cut] * inner;
      first += uint64_t(block.count);
      blocks.push_back(std::move(block));
    }
  } while (advance(index, shape, cut));
  return blocks;
}

} // namespace weft
