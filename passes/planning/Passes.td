//===- Passes.td - from kernels to instructions ------------------------------//

#ifndef WEFT_PASSES_PLANNING_PASSES
#define WEFT_PASSES_PLANNING_PASSES

include "mlir/Pass/PassBase.td"

def FitMemoryPass : Pass<"weft-fit-memory", "::mlir::ModuleOp"> {
  let summary = "Brings a step into the memory that a device has.";
  let description = [{
    Ops that free at least as much memory as they take are moved to where they
    become possible, where the plan of a public function then asks for less
    (ports and arena of the fullest device). Where it still asks for more than
    the module's `weft.memory` bytes, values that a movement made larger
    (gathered weights) end before the fullest op and are made again for its
    later uses, the largest first, until the rest fits. That costs bytes on the
    wire, which is why it is not done without a stated memory. A program that
    does not fit then is refused by weft-check-budget.

    Requires: stage `kernels`.
    Ensures: the same values, stage `kernels`.

    Example: test/passes/fit-memory.mlir
  }];
  let statistics = [
    Statistic<"numReordered", "reordered", "Functions put into another order">,
    Statistic<"numRematerialized", "rematerialized", "Values that are communicated again">,
  ];
}

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
