//===- Passes.td - passes on training steps ----------------------------------//

#ifndef WEFT_PASSES_TRAINING_PASSES
#define WEFT_PASSES_TRAINING_PASSES

include "mlir/Pass/PassBase.td"

def DifferentiatePass : Pass<"weft-differentiate", "::mlir::ModuleOp"> {
  let summary = "replaces weft.value_and_grad by forward and backward ops";
  let description = [{
    Inlines every call in the entry functions (those that are not private) and
    replaces each `weft.value_and_grad @f(...) wrt [...]` by the body of @f and
    its reverse-mode derivative. The derivative of an op is built by its
    DifferentiableOpInterface; this pass knows no op by name.

    A gradient op's location is `"gradient of"(L)`, L the location of the
    forward op, so that a report can say which layer a communication belongs to.

    Requires: functions of one block; no recursion; every op between a
    differentiated argument and the loss implements DifferentiableOpInterface.

    Ensures: entry functions are flat: no weft.value_and_grad, no
    weft.stop_gradient and no func.call to a function of the module is left; ops
    without uses are gone, and so are private functions that nothing refers to.

    Example: test/passes/differentiate.mlir.

    ```mlir
    func.func private @loss(%w: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<f32> {
      %0 = weft.mul %w, %x : tensor<4xf32>
      %1 = weft.reduce sum %0 dims [0] : tensor<4xf32> -> tensor<f32>
      return %1 : tensor<f32>
    }
    func.func @step(%w: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
      %loss, %g = weft.value_and_grad @loss(%w, %x) wrt [0]
        : (tensor<4xf32>, tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>)
      return %g : tensor<4xf32>
    }
    ```

    becomes

    ```mlir
    func.func @step(%w: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = weft.constant dense<1.0> : tensor<f32>
      %1 = weft.broadcast %0 dims [] : tensor<f32> -> tensor<4xf32>
      %2 = weft.mul %1, %x : tensor<4xf32>
      return %2 : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::weft::WeftDialect"];
  let statistics = [
    Statistic<"numDifferentiated", "differentiated", "value_and_grad ops replaced">,
    Statistic<"numGradientOps", "gradient-ops", "ops created by derivatives">,
  ];
}

def TrimLoopsPass : Pass<"weft-trim-loops"> {
  let summary = "removes unused values from weft.for";
  let description = [{
    The derivative of a loop saves each carried value and adds tensors of zeros
    with one slice. Afterwards:

    * a carried value that neither a result nor an effect needs is not carried;
    * `x + (zeros with u at i)` in a body is `x with (x at i) + u at i`, which
      works on the slice alone;
    * a slice that is set to 0 after its only read is left as it is.

    Requires: equal values are one value (CSE). Ensures: the same results.

    Example: test/passes/trim-loops.mlir.
  }];
  let dependentDialects = ["::weft::WeftDialect"];
}

def DivideBatchPass : Pass<"weft-divide-batch", "::mlir::ModuleOp"> {
  let summary = "computes a step for one part of the batch after the other";
  let description = [{
    The module's attribute `weft.microbatches = N : i64` divides the batch of
    each step in N microbatches, or in as many as it has samples. A loop computes
    everything that depends on samples, adds up what is reduced over samples
    (gradients, losses, metrics), and keeps the rows that later ops need. All
    else is computed once, before or after the loop: what depends on weights
    alone, regularization, clipping, the check of a loss scale, the update.

    The rows of the arguments of roles input, label and sample_weight are
    followed through the factors of every op's sharding rule. Microbatch k has
    the rows k, k + N, ..., so that a batch that is split over devices stays
    where it is. Random bits and counts are those of the whole batch
    (InterleavedRowsOpInterface).

    A value that is reduced over the batch and that samples need again is
    computed before the loop from the whole batch if it depends on no weight,
    like the sum of sample weights. Else the batch is refused, unless the
    attribute `weft.microbatch_statistics` allows each microbatch to estimate
    the value from its own samples (batch normalization).

    Requires: stage `differentiated`.

    Ensures: the same values but for the order of sums, and for estimates; the
    attributes are gone.

    Example: test/passes/divide-batch.mlir
  }];
  let dependentDialects = ["::weft::WeftDialect"];
  let statistics = [
    Statistic<"numDivided", "divided", "steps whose batch was divided">,
  ];
}

def PipelineStagesPass : Pass<"weft-pipeline-stages", "::mlir::ModuleOp"> {
  let summary = "lets stages compute different microbatches side by side";
  let description = [{
    The module's attribute `weft.pipeline = {axis = "stage", schedule = "1f1b"}`
    makes a pipeline of the loop over microbatches of weft-divide-batch: each
    coordinate of the axis is a stage, and computes the ops whose values are
    annotated `at` it. The schedule is one of base/pipeline/Generators.h, or the
    text of a file (base/pipeline/ScheduleJson.h).

    The lists of the schedule become one loop, of which an iteration has a pass
    of each kind of each stage, for different microbatches. Its size does not
    depend on their number. Values that pass from a stage to another are moved
    behind the pass that computes them, and wait in rings for the iteration that
    reads them.

    Requires: weft-divide-batch.

    Ensures: the same values, added up in the same order; the attribute is gone.

    Example: test/passes/pipeline-stages.mlir
  }];
  let dependentDialects = ["::weft::WeftDialect"];
  let statistics = [
    Statistic<"numPipelined", "pipelined", "steps that became pipelines">,
  ];
}

#endif // WEFT_PASSES_TRAINING_PASSES
