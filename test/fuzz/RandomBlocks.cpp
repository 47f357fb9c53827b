//===- RandomBlocks.cpp - look-ups by vectors of indices ------------------===//
//
// Generates gather and scatter with all dimension numbers: the order of indexed
// dimensions, collapsed and batching ones, sizes of blocks, and positions of
// the vector's and the block's dimensions.
//
//===----------------------------------------------------------------------===//

#include "weft/test/fuzz/ProgramGenerator.h"

#include <algorithm>
#include <cmath>

namespace weft {

/// Dimension numbers, by StableHLO's names for gather.
struct ProgramGenerator::RandomBlockNumbers {
  std::vector<int64_t> offset, collapsed, batching, indexBatching, map, sizes;
  int64_t vectorDim = 0;
  Shape batch, indices, result;

  std::string text(const char *a, const char *b, const char *c, const char *d,
                   const char *e) const {
    return arrayAttribute(a, offset) + ", " + arrayAttribute(b, collapsed) +
           ", " + arrayAttribute(c, batching) + ", " +
           arrayAttribute(d, indexBatching) + ", " + arrayAttribute(e, map) +
           ", index_vector_dim = " + std::to_string(vectorDim) + " : i64";
  }
};

static bool contains(const std::vector<int64_t> &list, int64_t dim) {
  return std::count(list.begin(), list.end(), dim) != 0;
}

/// A subset of size n of 0 ... below - 1, rising.
static std::vector<int64_t> subset(size_t n, size_t below,
                                   std::mt19937_64 &random) {
  std::vector<int64_t> all = counted(below);
  std::shuffle(all.begin(), all.end(), random);
  all.resize(n);
  std::sort(all.begin(), all.end());
  return all;
}

ProgramGenerator::RandomBlockNumbers
ProgramGenerator::drawBlockNumbers(const RandomValue &x) {
  RandomBlockNumbers numbers;
  int64_t rank = static_cast<int64_t>(x.shape.size());
  for (int64_t i = 0, n = below(3); i < n; ++i)
    numbers.batch.push_back(1 + below(5));
  // At most one dimension is batching; the batching dimension of the indices
  // has the same size.
  if (rank > 1 && oneIn(3)) {
    numbers.batching = {below(rank)};
    if (numbers.batch.empty())
      numbers.batch.push_back(1);
    int64_t at = below(static_cast<int64_t>(numbers.batch.size()));
    numbers.batch[at] = x.shape[numbers.batching[0]];
    numbers.indexBatching = {at};
  }
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!contains(numbers.batching, dim) && !oneIn(3))
      numbers.map.push_back(dim);
  std::shuffle(numbers.map.begin(), numbers.map.end(), random);
  Shape block;
  for (int64_t dim = 0; dim < rank; ++dim) {
    bool mapped = contains(numbers.map, dim);
    bool batches = contains(numbers.batching, dim);
    int64_t size = batches || (mapped && oneIn(2)) ? 1
                   : mapped                        ? 1 + below(x.shape[dim])
                                                   : x.shape[dim];
    numbers.sizes.push_back(size);
    if (size == 1 && !batches && oneIn(2))
      numbers.collapsed.push_back(dim);
    else if (!batches)
      block.push_back(size);
  }
  numbers.offset =
      subset(block.size(), block.size() + numbers.batch.size(), random);
  size_t fromBlock = 0, fromBatch = 0;
  for (size_t i = 0; i < block.size() + numbers.batch.size(); ++i)
    numbers.result.push_back(contains(numbers.offset, static_cast<int64_t>(i))
                                 ? block[fromBlock++]
                                 : numbers.batch[fromBatch++]);
  numbers.vectorDim = below(static_cast<int64_t>(numbers.batch.size()) + 1);
  numbers.indices = numbers.batch;
  numbers.indices.insert(numbers.indices.begin() + numbers.vectorDim,
                         static_cast<int64_t>(numbers.map.size()));
  // Batching dimensions move by one where the vector's dimension is inserted
  // before them.
  for (int64_t &dim : numbers.indexBatching)
    dim += dim >= numbers.vectorDim;
  return numbers;
}

/// Generates integers of the shape that depend on data, in and out of range.
std::string ProgramGenerator::drawIndexVectors(const Shape &shape) {
  std::string type = typeOf(shape, "i32"), counts = fresh("counts");
  auto x = pick([&](const RandomValue &v) {
    return v.isNumber() && v.isFinite() && canJump(v) &&
           v.shape.size() <= shape.size() &&
           std::equal(v.shape.begin(), v.shape.end(), shape.begin());
  });
  int64_t dim = below(static_cast<int64_t>(shape.size()));
  line(counts + " = weft.iota dim " + std::to_string(dim) + " : " + type);
  if (!x)
    return counts;
  std::string numbers = fresh("ids"), spread = fresh("spread"),
              sum = fresh("vectors");
  line(numbers + " = weft.convert " + x->name + " : " + typeOf(*x) + " -> " +
       typeOf(x->shape, "i32"));
  line(spread + " = weft.broadcast " + numbers + " dims " +
       list(counted(x->shape.size())) + " : " + typeOf(x->shape, "i32") +
       " -> " + type);
  line(sum + " = weft.add " + spread + ", " + counts + " : " + type);
  return sum;
}

void ProgramGenerator::gatherBlocks() {
  auto x = pick([](const RandomValue &v) { return !v.shape.empty(); });
  if (!x)
    return;
  RandomBlockNumbers numbers = drawBlockNumbers(*x);
  RandomValue result = like(*x, numbers.result);
  if (numbers.map.empty() || isTooLarge(result))
    return;
  std::string indices = drawIndexVectors(numbers.indices);
  emit("weft.gather " + x->name + " at " + indices + " {" +
           numbers.text("offset_dims", "collapsed_slice_dims",
                        "operand_batching_dims", "start_indices_batching_dims",
                        "start_index_map") +
           ", " + arrayAttribute("slice_sizes", numbers.sizes) +
           (oneIn(3) ? ", zero_outside" : "") + "} : " + typeOf(*x) + ", " +
           typeOf(numbers.indices, "i32") + " -> " + typeOf(result),
       result, {{*x, static_cast<double>(elements(numbers.batch))}});
}

void ProgramGenerator::scatterBlocks() {
  static const char *kinds[] = {"sum", "set", "max", "min"};
  auto x = pick(
      [](const RandomValue &v) { return !v.shape.empty() && v.isNumber(); });
  if (!x)
    return;
  RandomBlockNumbers numbers = drawBlockNumbers(*x);
  auto updates = pick([&](const RandomValue &v) {
    return v.element == x->element && v.shape == numbers.result;
  });
  const char *kind = kinds[below(inLoss ? 2 : 4)];
  bool sums = kind == kinds[0];
  if (numbers.map.empty() || (sums && !canSum(*x)))
    return;
  if (!updates) {
    if (numbers.result.empty())
      return;
    RandomValue counts = like(*x, numbers.result);
    counts.integral = true;
    counts.depth = 0;
    counts.bound = 9;
    int64_t dim = dimOf(counts);
    if (!emit("weft.iota dim " + std::to_string(dim) + " : " + typeOf(counts),
              counts, {{*x, 0}}))
      return;
    values.back().bound = static_cast<double>(numbers.result[dim]);
    updates = values.back();
  }
  if (sums && !canSum(*updates))
    return;
  double n = static_cast<double>(elements(numbers.batch));
  RandomValue result = like(*x);
  join(result, *updates);
  result.bound =
      sums ? x->bound + updates->bound * n : std::max(x->bound, updates->bound);
  if (sums && !result.integral)
    result.depth += n + 1;
  std::string indices = drawIndexVectors(numbers.indices);
  emit(std::string("weft.scatter ") + kind + " " + x->name + " at " + indices +
           " with " + updates->name + " {" +
           numbers.text("update_window_dims", "inserted_window_dims",
                        "input_batching_dims", "scatter_indices_batching_dims",
                        "scatter_dims_to_operand_dims") +
           "} : " + typeOf(*x) + ", " + typeOf(numbers.indices, "i32") + ", " +
           typeOf(*updates) + " -> " + typeOf(*x),
       result, {{*x}, {*updates}});
}

} // namespace weft
