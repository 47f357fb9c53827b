//===- RunningMetrics.h - means over the batches of an epoch ----*- C++ -*-===//
//
//   RunningMetrics metrics;
//   metrics.add("loss", /*value=*/2.0f, /*weight=*/32);
//   metrics.add("loss", 5.0f, 16);
//   metrics.set("auc", 0.75f);             // of all batches so far
//   metrics.setAll("f1", {0.5f, 1.0f});    // a number for each class
//   metrics.logs();    // {{"auc", 0.75}, {"f1", {0.5, 1.0}}, {"loss", 3.0}}
//
// Sums and counts are float32 and rounded step by step, as in Keras' Mean.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TRAINING_RUNNINGMETRICS_H
#define WEFT_TRAINING_RUNNINGMETRICS_H

#include "weft/training/ProgressBar.h"

#include <map>

namespace weft {

class RunningMetrics {
public:
  /// Adds a batch's mean, weighted by its samples.
  void add(const std::string &name, float value, float weight) {
    addSums(name, value * weight, weight);
  }
  void addSums(const std::string &name, float total, float count) {
    sums[name].total += total;
    sums[name].count += count;
  }
  /// Sets a value that covers all batches so far.
  void set(const std::string &name, float value) { sums[name] = {value, 1}; }
  void setAll(const std::string &name, std::vector<float> values) {
    sums[name] = {0, 1, std::move(values)};
  }
  void reset() { sums.clear(); }
  struct Sum {
    float total = 0, count = 0;
    std::optional<std::vector<float>> list = {}; ///< instead of total / count
  };
  using Sums = std::map<std::string, Sum>; ///< keyed by name
  const Sums &all() const { return sums; }
  void resume(Sums given) { sums = std::move(given); }
  Logs logs() const {
    Logs out;
    for (const auto &[name, sum] : sums)
      if (sum.list)
        out.emplace_back(name, LogValue(*sum.list));
      else
        out.emplace_back(name, sum.count == 0 ? 0.0f : sum.total / sum.count);
    return out;
  }

private:
  Sums sums;
};

} // namespace weft

#endif // WEFT_TRAINING_RUNNINGMETRICS_H
