//===- FlagValues.h - values that no run could take -------------*- C++ -*-===//
//
//   app.add_option("--batch-size", size)->check(atLeast(1, "give the samples of a step"));
//
//   weft fit m.json --batch-size 0
//   weft: error: --batch-size: must be at least 1, not 0; give the samples of a step; see weft --help ...
//
// with status 2, before any file is read. A check gets the text of a value and
// returns what is wrong with it, or "".
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_FLAGVALUES_H
#define WEFT_TOOLS_WEFT_FLAGVALUES_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace weft::tool {

using FlagCheck = std::function<std::string(const std::string &)>;

/// A whole number; `how` says how to fix another.
FlagCheck atLeast(int64_t least, const std::string &how);
/// 1,8,32: different sizes of batches, at least one. What is wrong with them, or
/// "".
std::string readBatchSizes(const std::string &text,
                           std::vector<int64_t> &sizes);
/// 0 (silent), 1 (bar) or 2 (lines).
FlagCheck isVerbosity();
/// train, evaluate or predict.
FlagCheck isStep();
FlagCheck isStepOrAll();
/// f32 or tf32.
FlagCheck isMatmulPrecision();
/// Finite and not 0.
FlagCheck isDivisor();
/// Finite as a float32.
FlagCheck isRate();
/// From 0 to below 1.
FlagCheck isFraction();
/// A name ending in .keras.
FlagCheck namesModel();
/// A file, not standard output.
FlagCheck namesPage();

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_FLAGVALUES_H
