//===- PythonText.h - numbers and patterns as Python writes them -*- C++ -*-===//
//
//   pythonText(5e-5)                                  // 5e-05
//   PythonPattern::parse("w-{epoch:02d}-{val_loss:.2f}.keras")->fill(
//       {{"epoch", 3}, {"val_loss", 0.5}})            // w-03-0.50.keras
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TRAINING_CALLBACKS_PYTHONTEXT_H
#define WEFT_TRAINING_CALLBACKS_PYTHONTEXT_H

#include "weft/base/Result.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace weft {

/// The repr() of a float: the fewest digits that read back to it.
std::string pythonText(double value);

/// A text with {name:format}, a subset of str.format(): zeros, width, precision
/// and one of d, f, e, g; {{ and }} are braces.
class PythonPattern {
public:
  static Result<PythonPattern> parse(const std::string &text);
  std::vector<std::string> names() const;
  /// Replaces the names by values; every name must have one.
  std::string fill(const std::map<std::string, double> &values) const;

private:
  struct Segment {
    std::string text; ///< literal text, if `name` is empty
    std::string name;
    bool zeros = false;
    int width = 0, precision = -1;
    char kind = 0; ///< d, f, e, g, or 0: as by str()
  };
  static Result<Segment> field(const std::string &inside);
  static std::string number(const Segment &segment, double value);
  std::vector<Segment> segments;
};

} // namespace weft

#endif // WEFT_TRAINING_CALLBACKS_PYTHONTEXT_H
