//===- LogValue.h - a logged value of a step or epoch -----------*- C++ -*-===//
//
//   Logs logs = {{"loss", 0.25}, {"f1_score", LogValue({0.5f, 1.0f})}};
//   logs[1].second.shown()          // 0.75: a line shows the mean, as in Keras
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TRAINING_LOGVALUE_H
#define WEFT_TRAINING_LOGVALUE_H

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/// The value of a metric: a number, or a list (one for each class, say).
class LogValue {
public:
  LogValue(double number) : number(number) {}
  explicit LogValue(std::vector<float> numbers) : several(std::move(numbers)) {
    float sum = 0;
    for (float each : *several)
      sum += each;
    number = several->empty() ? NAN : sum / float(several->size());
  }

  /// The list, or null for a number.
  const std::vector<float> *list() const {
    return several ? &*several : nullptr;
  }
  /// The number, or the mean of the list.
  double shown() const { return number; }
  bool isFinite() const {
    bool isIt = std::isfinite(number) || several;
    for (float each : several.value_or(std::vector<float>()))
      isIt = isIt && std::isfinite(each);
    return isIt;
  }
  bool operator==(const LogValue &other) const {
    return several || other.several ? several == other.several
                                    : number == other.number;
  }

private:
  double number;
  std::optional<std::vector<float>> several;
};

/// Metric names and values, in display order.
using Logs = std::vector<std::pair<std::string, LogValue>>;

} // namespace weft

#endif // WEFT_TRAINING_LOGVALUE_H
