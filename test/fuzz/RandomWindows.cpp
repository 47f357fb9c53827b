//===- RandomWindows.cpp - steps with windows ------------------------------===//

#include "weft/test/fuzz/ProgramGenerator.h"

#include <algorithm>

namespace weft {

namespace {
/// Lists of windows, one entry for each dimension; `seen` is how many results
/// each has.
struct RandomWindowList {
  std::vector<int64_t> size, strides, low, high, base, dilation;
  Shape seen;
};
} // namespace

static std::string attribute(const char *name,
                             const std::vector<int64_t> &values) {
  std::string text = std::string(name) + " = array<i64";
  for (size_t i = 0; i < values.size(); ++i)
    text += (i ? ", " : ": ") + std::to_string(values[i]);
  return text + ">";
}

static int64_t dilated(int64_t n, int64_t by) { return (n - 1) * by + 1; }

/// Windows over dimensions of these sizes; of `kernel` where not empty.
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
    int64_t rest = low + dilated(sizes[i], base) + high - dilated(size, dilation);
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
  return attribute("strides", list.strides) + ", " + attribute("low", list.low) +
         ", " + attribute("high", list.high);
}

static std::string dilations(const RandomWindowList &list) {
  return attribute("base_dilation", list.base) + ", " +
         attribute("window_dilation", list.dilation);
}

void ProgramGenerator::reduceWindow() {
  RandomValue x = any();
  auto draw = [&](int64_t n) { return below(n); };
  bool sums = below(2);
  RandomWindowList list = drawWindows(x.shape, {}, sums, draw);
  // A window of nothing but padding would give an infinity.
  if (!sums)
    for (size_t i = 0; i < x.shape.size(); ++i)
      if (list.low[i] >= list.size[i] || list.high[i] >= list.size[i])
        return;
  emit(std::string("weft.reduce_window ") +
           (sums ? "sum " : below(2) ? "max " : "min ") + x.name + " {" +
           attribute("window", list.size) + ", " + padding(list) + ", " +
           dilations(list) + "} : " + typeOf(x.shape) + " -> " +
           typeOf(list.seen),
       list.seen,
       sums ? x.bound * static_cast<double>(elements(list.size)) : x.bound);
}

void ProgramGenerator::selectAndScatter() {
  RandomValue x = any();
  auto draw = [&](int64_t n) { return below(n); };
  if (x.shape.empty())
    return;
  RandomWindowList list = drawWindows(x.shape, {}, /*mayDilate=*/false, draw);
  std::string source = "%source" + std::to_string(starts++);
  body += "  " + source + " = weft.iota dim 0 : " + typeOf(list.seen) + "\n";
  emit(std::string("weft.select_and_scatter ") + (below(2) ? "ge " : "le ") +
           x.name + ", " + source + " {" + attribute("window", list.size) +
           ", " + padding(list) + "} : " + typeOf(x.shape) + ", " +
           typeOf(list.seen) + " -> " + typeOf(x.shape),
       x.shape,
       static_cast<double>(elements(list.size) * list.seen.front()));
}

/// lhs [batch, spatial..., feature], rhs [spatial..., feature, output feature].
void ProgramGenerator::convolution() {
  RandomValue x = any();
  if (x.shape.size() < 2)
    return;
  auto draw = [&](int64_t n) { return below(n); };
  int64_t spatial = static_cast<int64_t>(x.shape.size()) - 2;
  int64_t features = x.shape.back(), batch = x.shape.front();
  int64_t groups = features % 2 == 0 && below(3) == 0 ? 2 : 1;
  int64_t batches = groups == 1 && batch % 2 == 0 && below(4) == 0 ? 2 : 1;
  Shape kernel, sizes(x.shape.begin() + 1, x.shape.end() - 1);
  for (int64_t i = 0; i < spatial; ++i)
    kernel.push_back(1 + below(3));
  Shape weights = kernel;
  weights.push_back(features / groups);
  weights.push_back(2 * (1 + below(3)));
  RandomWindowList list = drawWindows(sizes, kernel, below(2) == 0, draw);
  std::string w = "%kernel" + std::to_string(starts++);
  body += "  " + w + " = weft.iota dim " + std::to_string(below(spatial + 2)) +
          " : " + typeOf(weights) + "\n";
  std::vector<int64_t> lhs = {0, spatial + 1}, rhs = {spatial + 1, spatial};
  for (int64_t i = 0; i < spatial; ++i) {
    lhs.push_back(1 + i);
    rhs.push_back(i);
  }
  Shape shape = {batch / batches};
  shape.insert(shape.end(), list.seen.begin(), list.seen.end());
  shape.push_back(weights.back());
  emit("weft.convolution " + x.name + ", " + w + " {" +
           attribute("lhs_dims", lhs) + ", " + attribute("rhs_dims", rhs) +
           ", " + attribute("result_dims", lhs) + ", " + padding(list) + ", " +
           dilations(list) +
           ", feature_groups = " + std::to_string(groups) +
           " : i64, batch_groups = " + std::to_string(batches) + " : i64} : " +
           typeOf(x.shape) + ", " + typeOf(weights) + " -> " + typeOf(shape),
       shape,
       x.bound * static_cast<double>(elements(weights)) *
           static_cast<double>(*std::max_element(weights.begin(), weights.end())));
}

} // namespace weft
