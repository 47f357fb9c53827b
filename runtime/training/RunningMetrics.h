//===- RunningMetrics.h - means over the batches of an epoch ----*- C++ -*-===//
//
//   RunningMetrics metrics;
//   metrics.add("loss", /*value=*/2.0f, /*weight=*/32);
//   metrics.add("loss", 5.0f, 16);
//   metrics.set("auc", 0.75f);             // of all batches so far
//   metrics.logs();                        // {{"auc", 0.75}, {"loss", 3.0}}, by name
//
// Sums and counts are float32 and rounded step by step, as in Keras' Mean.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_TRAINING_RUNNINGMETRICS_H
#define WEFT_RUNTIME_TRAINING_RUNNINGMETRICS_H

#include "weft/runtime/training/ProgressBar.h"

#include <map>

namespace weft {

class RunningMetrics {
public:
  /// A batch's mean and what it counts for: its samples.
  void add(const std::string &name, float value, float weight) {
    addSums(name, value * weight, weight);
  }
  void addSums(const std::string &name, float total, float count) {
    sums[name].first += total;
    sums[name].second += count;
  }
  /// A value that stands for all batches up to here.
  void set(const std::string &name, float value) { sums[name] = {value, 1}; }
  void reset() { sums.clear(); }
  /// By name: a sum and its count.
  using Sums = std::map<std::string, std::pair<float, float>>;
  const Sums &all() const { return sums; }
  void resume(Sums given) { sums = std::move(given); }
  Logs logs() const {
    Logs out;
    for (const auto &[name, sum] : sums)
      out.emplace_back(name, sum.second == 0 ? 0.0f : sum.first / sum.second);
    return out;
  }

private:
  Sums sums;
};

} // namespace weft

#endif // WEFT_RUNTIME_TRAINING_RUNNINGMETRICS_H
