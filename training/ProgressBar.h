//===- ProgressBar.h - progress as Keras shows it ---------------*- C++ -*-===//
//
//   ProgressBar bar({.target = 8, .verbose = 1, .terminal = isatty(1)});
//   bar.update(1, {{"loss", 1.01}});            // drawn at most every 50 ms
//   bar.update(8, {{"loss", 0.92}}, /*finalize=*/true);
//
//   8/8 ━━━━━━━━━━━━━━━━━━━━ 0s 30ms/step - loss: 0.9200
//
// verbose 0 prints nothing, 1 a bar that moves, 2 one line at the end. If the
// output is no terminal, 1 prints the line of 2.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TRAINING_PROGRESSBAR_H
#define WEFT_TRAINING_PROGRESSBAR_H

#include "weft/training/LogValue.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace weft {

class ProgressBar {
public:
  struct Options {
    int64_t target = -1; ///< steps; -1 if unknown
    int verbose = 1;
    bool terminal = true;
    std::function<double()> clock = {}; ///< seconds; empty: the steady clock
    std::function<void(std::string_view)> print = {}; ///< empty: nowhere
  };
  explicit ProgressBar(Options options);
  /// Shows that `current` steps are done, with the values unchanged.
  void update(int64_t current, const Logs &values, bool finalize = false);

private:
  double now() const;
  void print(std::string_view text) const;
  double secondsPerStep(int64_t current, double now);
  void setValues(const Logs &values);
  void drawBar(int64_t current, bool finalize, double now, double perStep);
  void printLine(int64_t current, double now, double perStep);

  Options options;
  double start, lastUpdate = -1e300, afterFirstStep = 0;
  bool firstStepDone = false;
  Logs shown;
  size_t previousWidth = 0;
};

} // namespace weft

#endif // WEFT_TRAINING_PROGRESSBAR_H
