//===- FitValues.h - texts of arguments of fit ------------------*- C++ -*-===//
//
//   std::map<int64_t, double> weights;
//   readClassWeight("0:1.0,1:2.5", weights);        // "", or an error
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_FITVALUES_H
#define WEFT_TOOLS_WEFT_FITVALUES_H

#include "weft/data/images/ImageOptions.h"
#include "weft/training/EpochOrder.h"
#include "weft/training/ValidationEpochs.h"

#include <cstdint>
#include <map>
#include <string>

namespace weft::tool {

/// Parses true, false or batch.
std::string readShuffle(const std::string &text, Shuffle &shuffle);
/// Parses CLASS:WEIGHT,... or an object of JSON.
std::string readClassWeight(const std::string &text,
                            std::map<int64_t, double> &weights);
/// Parses N, or a list of epochs: 1,3,10 or [1, 3, 10].
std::string readValidationEpochs(const std::string &text,
                                 ValidationEpochs &epochs);

/// Parses 64MiB, 1GB or 4096.
std::string readBytes(const std::string &text, uint64_t &bytes);
/// Parses Keras' names bilinear, nearest, bicubic, lanczos3 and lanczos5.
std::string readInterpolation(const std::string &text,
                              std::optional<Interpolation> &interpolation);
/// Parses names separated by commas.
std::string readNames(const std::string &text, std::vector<std::string> &names);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_FITVALUES_H
