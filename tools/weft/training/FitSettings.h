//===- FitSettings.h - what a resumed training must share -------*- C++ -*-===//
//
//   options.settings = fitSettings(flags, session);
//   // {"source": {"model": {...}, "optimizer": "adam", ...}, "class_weight": ...}
//
// A backup of a run with other settings is refused; the trainer adds those that
// it knows: data, batches, order and callbacks.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_TRAINING_FITSETTINGS_H
#define WEFT_TOOLS_WEFT_TRAINING_FITSETTINGS_H

#include "weft/tools/weft/training/TrainingSession.h"

namespace weft::tool {

/// The settings of flags and model that change results, as an object of JSON.
std::string fitSettings(const FitFlags &flags, TrainingSession &session);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_TRAINING_FITSETTINGS_H
