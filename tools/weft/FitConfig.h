//===- FitConfig.h - arguments of fit in a file -----------------*- C++ -*-===//
//
//   {"model": "m.keras", "data": "mnist.npz", "epochs": 20, "validation_split": 0.1,
//    "callbacks": [{"class_name": "EarlyStopping", "config": {"patience": 3}}]}
//
// A key is an argument of Keras' fit or another flag of weft fit, with _ for -.
// The file's keys are flags; a flag on the command line overrides the file's
// key.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_FITCONFIG_H
#define WEFT_TOOLS_WEFT_FITCONFIG_H

#include "weft/base/Result.h"

#include "CLI/CLI.hpp"

namespace weft::tool {

/// The words, with those of the file that --config names after the first, if
/// it is given. `command` has the flags; words[0] is its name.
Result<std::vector<std::string>>
withConfig(const CLI::App &command, const std::vector<std::string> &words);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_FITCONFIG_H
