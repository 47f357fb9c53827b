//===- FlagValues.h - values that no run could take -------------*- C++ -*-===//
//
//   app.add_option("--batch-size", size)->check(atLeast(1, "give the samples of a step"));
//
//   weft fit m.json --batch-size 0
//   weft: error: --batch-size: must be at least 1, not 0; give the samples of a step; see weft --help ...
//
// with status 2, before any file is read. A check gets the text of a value and
// returns an error, or "".
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_FLAGVALUES_H
#define WEFT_TOOLS_WEFT_FLAGVALUES_H

#include "weft/base/Result.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace weft::tool {

using FlagCheck = std::function<std::string(const std::string &)>;

/// Checks for a whole number of at least `least`; `how` is the fix.
FlagCheck atLeast(int64_t least, const std::string &how);
/// Parses 1,8,32: different batch sizes, at least one.
Result<std::vector<int64_t>> readBatchSizes(const std::string &text);
/// Checks for 0 (silent), 1 (bar) or 2 (lines).
FlagCheck isVerbosity();
/// Checks for train, evaluate or predict.
FlagCheck isStep();
FlagCheck isStepOrAll();
/// Checks for on or off.
FlagCheck isSwitch();
/// Checks for auto, on or off.
FlagCheck isAutoOnOrOff();
/// A way in which GPUs exchange data.
FlagCheck isCollectiveMode();
/// Checks for f32 or tf32.
FlagCheck isMatmulPrecision();
/// Checks for a finite number other than 0.
FlagCheck isDivisor();
/// Checks for a finite float32.
FlagCheck isRate();
/// Checks for a number from 0 to below 1.
FlagCheck isFraction();
/// Checks for a finite number of at least 0.
FlagCheck isDuration();
/// Checks for a name ending in .keras.
FlagCheck namesModel();
/// Checks for a file, not standard output.
FlagCheck namesPage();

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_FLAGVALUES_H
