//===- ExplainPipeline.h - the stages of a step, as text --------*- C++ -*-===//
//
//   Pipeline over "stage", 1f1b, 4 microbatches; forward pass, gradient of inputs
//   and gradient of weights take one unit of time each:
//
//     stage  live activations    idle    busy  layers
//         0                 2       3      12  embed, block_0
//         1                 1       3      12  block_1, head
//
//     stage 0  F0 F1 .  .  B0--- F2 B1--- ...
//     stage 1  .  F0 B0--- F1 B1--- F2 ...
//
//     a stage is idle for 3 of 15 units: 20.0 %
//
// If the stages are cut by the cost of their layers, a line tells this cost:
//
//     cut by price: a step takes 12.3, 12.9 us of the stages' time; the slowest is
//     1.02 times the mean
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_COMPILER_EXPLAINPIPELINE_H
#define WEFT_TOOLS_WEFT_COMPILER_EXPLAINPIPELINE_H

#include "weft/compiler/frontends/keras/distribution/Distribution.h"
#include "weft/compiler/report/HtmlReport.h"

#include "llvm/Support/JSON.h"

namespace weft::tool {

/// The stages of a train step.
struct PipelineReport {
  struct Stage {
    std::vector<std::string> layers;
    int liveActivations = 0;
    int64_t idle = 0, busy = 0; ///< in units of a pass
    double seconds = 0;         ///< by price, where stages are cut by it
  };
  std::string axis, schedule;
  int64_t microbatches = 1;
  std::vector<Stage> stages;
  int64_t bubble = 0, end = 0;
  StageLanes lanes; ///< when each stage computes what
};

/// The report for a batch; nothing without a pipeline, or if a file's schedule
/// has other microbatches than the batch.
std::optional<PipelineReport>
explainPipeline(const keras::Distribution &distribution,
                const keras::Model &model,
                const std::vector<keras::LayerPlace> &calls, int64_t batchSize);
std::string toText(const PipelineReport &report);
llvm::json::Value toJson(const PipelineReport &report);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_COMPILER_EXPLAINPIPELINE_H
