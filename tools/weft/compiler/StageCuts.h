//===- StageCuts.h - the stages of a pipeline, by the cost of layers -*- C++ -*-===//
//
// For "stages": "auto" in a pipeline of four stages and 16 microbatches:
//
//   import the step on one stage, in microbatches, with the call of each op
//   price its program of one device, by call: work, collectives, bytes
//   cutChain()  the slowest stage is the least (base/pipeline/ChainCuts.h)
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_COMPILER_STAGECUTS_H
#define WEFT_TOOLS_WEFT_COMPILER_STAGECUTS_H

#include "weft/base/pipeline/ChainCuts.h"
#include "weft/compiler/frontends/keras/distribution/Distribution.h"

#include "mlir/IR/BuiltinOps.h"

namespace weft::tool {

/// The distribution of the step that is priced: all layers on one stage.
keras::Distribution onOneStage(const keras::Distribution &distribution);

/// What a cut is chosen for.
struct CutOptions {
  std::string target;
  int64_t batchSize = 1;
  double memory = 0; ///< bytes of a device; 0: any
};

/// Cuts the calls of a model. `priced` is the step on one stage in microbatches,
/// at stage `partitioned`, whose ops name their calls. Sets the stage of each node
/// of the model, and the seconds of each stage in a step.
Status cutStages(mlir::ModuleOp priced, const keras::Model &model,
                 const CutOptions &options, keras::Distribution &distribution);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_COMPILER_STAGECUTS_H
