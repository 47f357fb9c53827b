//===- Import.h - a Keras model as a weft module ----------------*- C++ -*-===//
//
// importStep() of Input(784) -> Dense(10, name="d1"), mse, SGD, batch 16:
//
//   func.func @train(%0: tensor<784x10xf32> {weft.name = "d1/kernel",
//                        weft.role = "weight", weft.donated = 0 : i64, ...},
//                    ..., %x {weft.name = "x"}, %y {weft.name = "y"})
//       -> (new weights, new optimizer state, {weft.name = "metrics/loss"})
//   func.func private @loss(weights, seed states, x, y)
//       -> (loss, loss of each output, y', states')
//
// Arguments: the model's variables as Keras orders them, the optimizer's, those
// of metrics, then inputs (`x`, or `x/NAME` each), labels and `sample_weight`
// (or `y/NAME` and `sample_weight/NAME` of each output with a loss or a
// metric). Results: the arguments that the step changes, in the same order,
// each reusing its argument's memory, then `metrics/loss`, `metrics/NAME_loss`
// of several losses and `metrics/NAME`. The learning rate and frozen weights
// are only read, and are no results. @evaluate takes weights, metrics'
// variables and the batch, and gives the metrics' variables, the losses and the
// metrics; @predict takes weights and inputs, and gives `y` (or `y/NAME` each).
//
// Labels have the predictions' shape in f32; for sparse losses they are i32
// without the last dimension. A metric's result is the batch's mean, or (total,
// weight), or with the metadata {"running": true} its value of all batches since
// its variables began (metrics/Metric.h).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_IMPORT_IMPORT_H
#define WEFT_COMPILER_FRONTENDS_KERAS_IMPORT_IMPORT_H

#include "weft/base/StepKind.h"
#include "weft/compiler/frontends/keras/distribution/Distribution.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <optional>

namespace weft::keras {

using SampleWeights = std::map<std::string, std::vector<int64_t>>;

struct ImportOptions {
  int64_t batchSize = 32;
  /// The shapes of a sample's weights by output; "" is for outputs that are not
  /// listed. An output without a shape has one weight for each sample. If the
  /// map is given, steps with labels take `sample_weight`.
  std::optional<SampleWeights> sampleWeights = std::nullopt;
  /// Whether the locations of ops name their call: "d1"("call 2") for node 2 of
  /// the model.
  bool namesCalls = false;
};

/// Imports the model's step as a module of stage `imported`, and loads the
/// dialects that it needs. With a distribution every argument is annotated with
/// its layout and the reason. Errors go to the context's diagnostics.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
importStep(mlir::MLIRContext *context, const Model &model,
           const Distribution *distribution, StepKind step,
           const ImportOptions &options = {});

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_IMPORT_IMPORT_H
