//===- Pipelines.h - layers in stages of a pipeline -------------*- C++ -*-===//
//
// On a mesh of "stage"=2, "data"=4 the entry
//
//   "pipeline": {"axis": "stage", "stages": [["embed", "block_[0-3]"],
//                                            ["block_[4-7]", "head"]],
//                "microbatches": 16, "schedule": "1f1b"}
//
// of a distribution file puts the layers of a list on the devices with the
// list's coordinate, as "placements" do, and computes the batch in microbatches,
// which the stages work on side by side. The schedule is gpipe, 1f1b, zb-h1,
// interleaved, or the path of a file (base/pipeline/ScheduleJson.h), relative to
// the folder of the distribution file. Four lists on two stages are two chunks of
// each: the lists 0 and 2 are on stage 0.
//
// With "stages": "auto" the costs of the layers choose the stages, in a chain
// (base/pipeline/ChainCuts.h), before layouts are resolved: Pipeline::calls.
//
// Each call of a layer is in one stage, and gives its output to its own stage or
// to later ones. A layer that is called in several stages is in the list of each;
// its variables are in the first. Losses and metrics are computed by the stage of
// the output.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_DISTRIBUTION_PIPELINES_H
#define WEFT_COMPILER_FRONTENDS_KERAS_DISTRIBUTION_PIPELINES_H

#include "weft/compiler/frontends/keras/distribution/Distribution.h"

#include <functional>

namespace weft::keras {

/// Reads the text of the file that a schedule names.
using ReadSchedule = std::function<Result<std::string>(const std::string &)>;

/// Reads and proves the schedule of a distribution's pipeline, if it has one.
Status resolveSchedule(Distribution &distribution, const ReadSchedule &read);

/// Checks that each call is in a stage, and that stages are a chain. `places` are
/// those of calls.
Status checkStages(const Distribution &distribution, const Model &model,
                   const std::vector<LayerPlace> &places);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_DISTRIBUTION_PIPELINES_H
