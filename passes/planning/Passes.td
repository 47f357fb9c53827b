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

def ShareValuesPass : Pass<"weft-share-values", "::mlir::ModuleOp"> {
  let summary = "Finds what devices of one process store and compute once.";
  let description = [{
    Layouts and groups prove that a value has equal bits on all devices that
    differ along some axes only. Where that saves more time than a wait of these
    devices for each other takes, the op that computes the value gets
    `plan.shared` with the axes, and so do arguments and results of the function
    that hold such values. Several ops in a row cost one wait. A collective
    writes what all members of its group receive once, without a further wait.

    What loops and branches compute stays on each device, and so do all values
    of a program for GPUs, and of one that would need more than the module's
    `weft.memory` bytes, as copies between shared memory and a device's take room.

    Requires: public functions hold calls of kernels, communicating `coll` ops,
    constants and a return (stage `kernels`).
    Ensures: the same program; attributes only.

    Example: test/passes/share-values.mlir
  }];
  let options = [Option<"target", "target", "std::string", /*default=*/"\"cpu:generic\"",
                        "the target for which kernels have loop nests">];
  let statistics = [
    Statistic<"numLaunches", "launches", "Launches that are done once for several devices">,
    Statistic<"numPorts", "ports", "Arguments that are stored once for several devices">,
  ];
}

def OverlapCollectivesPass : Pass<"weft-overlap-collectives", "::mlir::ModuleOp"> {
  let summary = "Starts collectives early, and waits for them late.";
  let description = [{
    In each straight piece of a step, a collective starts as soon as its operands
    are computed, and `plan.await` marks where the first op needs its result.
    Independent kernels are put between both (ListSchedule.h). An all-reduce of
    several tensors is divided, so that the first are summed while others are
    computed. Ops that devices do once together stay together, a donated
    argument is read before it is written, and nothing moves over loops,
    branches, parts of the mesh and ops with effects.

    The module's `weft.overlap` is "on", "off" or, by default, "auto": a piece is
    left alone where links carry nothing beside work (TargetRates.h) or where,
    by the prices of links and kernels, it would not end a hundredth earlier. All-reduces
    are not divided where a budget counts them (`weft.whole_sums`). A
    step needs at most a quarter more memory than before, and never more than
    the module's `weft.memory` bytes.

    Requires: stage `nests`.
    Ensures: the same values; each use of a result is after its `plan.await`.

    Example: test/passes/overlap-collectives.mlir
  }];
  let dependentDialects = ["::weft::plan::PlanDialect"];
  let options = [Option<"target", "target", "std::string", /*default=*/"\"cpu:generic\"",
                        "the target whose rates are those of links and kernels">];
  let statistics = [
    Statistic<"numOverlapped", "overlapped", "Collectives that are awaited later">,
    Statistic<"numDivided", "divided", "All-reduces that became several">,
  ];
}

def AwaitMovesPass : Pass<"weft-await-moves", "::mlir::ModuleOp"> {
  let summary = "Awaits moves between parts of the mesh where they are used.";
  let description = [{
    A value that moves to another part of the mesh is sent as soon as it is
    computed, and `plan.await` marks where the first op needs it: in front of that
    op, or at the end of the block if a loop carries the value on. Meanwhile both
    parts compute what does not depend on it. Nothing changes where the module's
    `weft.overlap` is "off".

    Requires: stage `nests`.
    Ensures: the same values; each use of a moved value is after its `plan.await`.

    Example: test/passes/await-moves.mlir
  }];
  let dependentDialects = ["::weft::plan::PlanDialect"];
  let statistics = [
    Statistic<"numAwaited", "awaited", "Moves that are awaited later">,
  ];
}

def PlaceBuffersPass : Pass<"weft-place-buffers", "::mlir::ModuleOp"> {
  let summary = "Gives every value a buffer and emits the plan.";
  let description = [{
    Turns each public function into a `plan.program`: a value lives in the
    buffer its caller binds (arguments, results), in the arena by lifetime, or
    in the constant section. A donated argument's result is written in place
    where nobody reads the argument afterwards; otherwise it is copied at the
    end. Where kernels are launches, counted loops are unrolled as far as their
    instructions are few. Values that devices share (weft-share-values) have an
    offset in shared memory, too.

    Requires: public functions hold calls of kernels, communicating `coll` ops,
    constants and a return (stage `kernels`).
    Ensures: one `plan.program` for each, kernels untouched but those that no
    instruction launches any more (stage `plan`).

    Example: test/passes/place-buffers.mlir
  }];
  let dependentDialects = ["::weft::plan::PlanDialect"];
  let options = [Option<"target", "target", "std::string", /*default=*/"\"cpu:generic\"",
                        "the target for which kernels have loop nests">];
  let statistics = [
    Statistic<"numInPlace", "in-place", "Donated arguments updated in place">,
    Statistic<"numCopies", "copies", "Copies at the end of a program">,
    Statistic<"numUnrolled", "unrolled", "Counted loops whose bodies follow one another">,
  ];
}

def OutlineLoopsPass : Pass<"weft-outline-loops", "::mlir::ModuleOp"> {
  let summary = "Moves loops of a device into one launch.";
  let description = [{
    A loop of a plan becomes a `plan.routine`, which the code generator makes
    one function: the runtime dispatches no instruction in an iteration, and
    numbers that small buffers hold stay in registers. So does a loop with loops
    and branches in it. It stays a loop of the plan if it communicates, if
    workers share one of its kernels, or if a launch takes so long that its
    dispatch does not count (the prices are at the top of OutlineLoops.cpp).

    A small buffer is copied to the routine's memory at its start, and back at
    its end if the loop writes it; a buffer that only the loop uses is not
    copied and leaves the arena.

    Requires: stage `plan`; kernels with chosen nests.
    Ensures: the same values, stage `plan`.

    Example: test/passes/outline-loops.mlir
  }];
  let dependentDialects = ["::weft::plan::PlanDialect"];
  let statistics = [
    Statistic<"numOutlined", "outlined", "Loops moved into routines">,
  ];
}

#endif // WEFT_PASSES_PLANNING_PASSES
