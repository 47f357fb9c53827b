//===- RandomWindows.cpp - steps with windows -----------------------------===//

#include "weft/test/fuzz/ProgramGenerator.h"

#include <algorithm>

namespace weft {

namespace {
/// The attributes of windows, an entry for each dimension; `seen` has the sizes
/// of the result.
struct RandomWindowList {
  std::vector<int64_t> size, strides, low, high, base, dilation;
  Shape seen;
};
} // namespace

static int64_t dilated(int64_t n, int64_t by) { return (n - 1) * by + 1; }

/// Draws windows over dimensions of these sizes, with sizes of `kernel` if not
/// empty.
template <typename Below>
static RandomWindowList drawWindows(const Shape &sizes, const Shape &kernel,
                                    bool mayDilate, Below below) {
  RandomWindowList list;
  for (size_t i = 0; i < sizes.size(); ++i) {
    bool still = kernel.empty() && below(3) == 0;
    int64_t size = still ? 1 : kernel.empty() ? 1 + below(3) : kernel[i];
    int64_t base = still || !mayDilate ? 1 : 1 + below(2);
    int64_t dilation = still || !mayDilate ? 1 : 1 + below(2);
    int64_t stride = still ? 1 : 1 + below(3), low = still ? 0 : below(3);
    int64_t high = still ? 0 : below(3);
    int64_t rest =
        low + dilated(sizes[i], base) + high - dilated(size, dilation);
    if (rest < 0) {
      high -= rest;
      rest = 0;
    }
    list.size.push_back(size);
    list.strides.push_back(stride);
    list.low.push_back(low);
    list.high.push_back(high);
    list.base.push_back(base);
    list.dilation.push_back(dilation);
    list.seen.push_back(rest / stride + 1);
  }
  return list;
}

static std::string padding(const RandomWindowList &list) {
  return arrayAttribute("strides", list.strides) + ", " +
         arrayAttribute("low", list.low) + ", " +
         arrayAttribute("high", list.high);
}

static std::string dilations(const RandomWindowList &list) {
  return arrayAttribute("base_dilation", list.base) + ", " +
         arrayAttribute("window_dilation", list.dilation);
}

void ProgramGenerator::reduceWindow() {
  bool sums = oneIn(2);
  auto x = pick([&](const RandomValue &v) {
    return sums ? canSum(v) : v.isNumber() && canBend(v);
  });
  if (!x)
    return;
  auto draw = [&](int64_t n) { return below(n); };
  RandomWindowList list = drawWindows(x->shape, {}, sums, draw);
  // Windows of padding only are excluded, as they would give an infinity.
  if (!sums)
    for (size_t i = 0; i < x->shape.size(); ++i)
      if (list.low[i] >= list.size[i] || list.high[i] >= list.size[i])
        return;
  double terms = static_cast<double>(elements(list.size));
  RandomValue result =
      sums ? sumLike(widened(*x), list.seen, terms) : like(*x, list.seen);
  emit(std::string("weft.reduce_window ") +
           (sums       ? "sum "
            : oneIn(2) ? "max "
                       : "min ") +
           x->name + " {" + arrayAttribute("window", list.size) + ", " +
           padding(list) + ", " + dilations(list) + "} : " + typeOf(*x) +
           " -> " + typeOf(result),
       result, {{*x, terms}});
}

void ProgramGenerator::selectAndScatter() {
  auto x = pick([&](const RandomValue &v) {
    // Infinite values are excluded: -inf would tie with the padding of a
    // sharded dimension.
    return v.isNumber() && v.isFinite() && !v.shape.empty() && canJump(v);
  });
  if (!x)
    return;
  auto draw = [&](int64_t n) { return below(n); };
  RandomWindowList list = drawWindows(x->shape, {}, /*mayDilate=*/false, draw);
  RandomValue source = like(*x, list.seen), result = like(*x);
  std::string name = fresh("source");
  line(name + " = weft.iota dim 0 : " + typeOf(source));
  result.integral = true;
  result.depth = 0;
  result.bound = static_cast<double>(elements(list.size) * list.seen.front());
  emit(std::string("weft.select_and_scatter ") + (oneIn(2) ? "ge " : "le ") +
           x->name + ", " + name + " {" + arrayAttribute("window", list.size) +
           ", " + padding(list) + "} : " + typeOf(*x) + ", " + typeOf(source) +
           " -> " + typeOf(result),
       result);
}

/// A kernel of this shape for x: an existing value, or counts.
RandomValue ProgramGenerator::drawKernel(const RandomValue &x,
                                         const Shape &shape) {
  auto value = pick([&](const RandomValue &v) {
    return v.shape == shape && v.element == x.element && canSum(v);
  });
  if (value)
    return *value;
  RandomValue counts = like(x, shape);
  counts.integral = true;
  counts.depth = 0;
  int64_t dim = dimOf(counts);
  counts.bound = static_cast<double>(shape[dim]);
  bool fits =
      emit("weft.iota dim " + std::to_string(dim) + " : " + typeOf(counts),
           counts, {{x, 0}});
  return fits ? values.back() : RandomValue();
}

/// Generates a convolution: lhs [batch, spatial..., feature], rhs [spatial...,
/// feature, output feature], result as lhs, each in a random order.
void ProgramGenerator::convolution() {
  auto x = pick([&](const RandomValue &v) {
    return canSum(v) && v.shape.size() >= 2 && v.shape.size() <= 4;
  });
  if (!x)
    return;
  auto draw = [&](int64_t n) { return below(n); };
  size_t rank = x->shape.size();
  // Entries 0 and 1 are batch and feature of lhs and result, output and input
  // feature of rhs; the others are spatial.
  std::vector<int64_t> lhs = counted(rank), rhs = lhs, out = lhs;
  for (auto *order : {&lhs, &rhs, &out})
    std::shuffle(order->begin(), order->end(), random);
  int64_t features = x->shape[lhs[1]], batch = x->shape[lhs[0]];
  int64_t groups = features % 2 == 0 && oneIn(3) ? 2 : 1;
  int64_t batches = groups == 1 && batch % 2 == 0 && oneIn(4) ? 2 : 1;
  Shape sizes, kernel, weights(rank), shape(rank);
  for (size_t i = 2; i < rank; ++i) {
    sizes.push_back(x->shape[lhs[i]]);
    kernel.push_back(1 + below(3));
  }
  RandomWindowList list = drawWindows(sizes, kernel, oneIn(2), draw);
  weights[rhs[0]] = 2 * (1 + below(3));
  weights[rhs[1]] = features / groups;
  shape[out[0]] = batch / batches;
  shape[out[1]] = weights[rhs[0]];
  for (size_t i = 2; i < rank; ++i) {
    weights[rhs[i]] = kernel[i - 2];
    shape[out[i]] = list.seen[i - 2];
  }
  RandomValue w = drawKernel(*x, weights);
  if (w.name.empty() || w.shape != weights)
    return;
  double terms = static_cast<double>(elements(weights) * batches);
  RandomValue result = sumLike(widened(*x), shape, terms);
  join(result, w);
  result.bound *= w.bound;
  if (!result.integral)
    result.depth = x->depth + w.depth + terms + 1;
  emit("weft.convolution " + x->name + ", " + w.name + " {" +
           arrayAttribute("lhs_dims", lhs) + ", " +
           arrayAttribute("rhs_dims", rhs) + ", " +
           arrayAttribute("result_dims", out) + ", " + padding(list) + ", " +
           dilations(list) + ", feature_groups = " + std::to_string(groups) +
           " : i64, batch_groups = " + std::to_string(batches) + " : i64} : " +
           typeOf(*x) + ", " + typeOf(w) + " -> " + typeOf(result),
       result,
       {{*x, w.bound * terms},
        {w, x->bound * static_cast<double>(elements(shape))}});
}

} // namespace weft
