//===- Passes.td - from kernels to instructions ------------------------------//

#ifndef WEFT_PASSES_PLANNING_PASSES
#define WEFT_PASSES_PLANNING_PASSES

include "mlir/Pass/PassBase.td"

def PlaceBuffersPass : Pass<"weft-place-buffers", "::mlir::ModuleOp"> {
  let summary = "Gives every value a buffer and emits the plan.";
  let description = [{
    Turns each public function into a `plan.program`: a value lives in the
    buffer its caller binds (arguments, results), in the arena by lifetime, or
    in the constant section. A donated argument's result is written in place
    where nobody reads the argument afterwards; otherwise it is copied at the
    end.

    Requires: public functions hold calls of kernels, communicating `coll` ops,
    constants and a return (stage `kernels`).
    Ensures: one `plan.program` for each, kernels untouched (stage `plan`).

    Example: test/passes/place-buffers.mlir
  }];
  let dependentDialects = ["::weft::plan::PlanDialect"];
  let statistics = [
    Statistic<"numInPlace", "in-place", "Donated arguments updated in place">,
    Statistic<"numCopies", "copies", "Copies at the end of a program">,
  ];
}

#endif // WEFT_PASSES_PLANNING_PASSES
