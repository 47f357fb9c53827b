//===- FitValues.h - texts of arguments of fit ------------------*- C++ -*-===//
//
//   auto weights = readClassWeight("0:1.0,1:2.5");   // {0: 1, 1: 2.5}
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_FITVALUES_H
#define WEFT_TOOLS_WEFT_FITVALUES_H

#include "weft/base/Result.h"
#include "weft/data/images/ImageOptions.h"
#include "weft/training/EpochOrder.h"
#include "weft/training/ValidationEpochs.h"

#include <cstdint>
#include <map>
#include <string>

namespace weft::tool {

/// Parses true, false or batch.
Result<Shuffle> readShuffle(const std::string &text);
/// Parses CLASS:WEIGHT,... or an object of JSON.
Result<std::map<int64_t, double>> readClassWeight(const std::string &text);
/// Parses N, or a list of epochs: 1,3,10 or [1, 3, 10].
Result<ValidationEpochs> readValidationEpochs(const std::string &text);

/// Parses 64MiB, 1GB or 4096.
Result<uint64_t> readBytes(const std::string &text);
/// Parses Keras' names bilinear, nearest, bicubic, lanczos3 and lanczos5.
Result<Interpolation> readInterpolation(const std::string &text);
/// Parses names separated by commas.
Result<std::vector<std::string>> readNames(const std::string &text);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_FITVALUES_H
