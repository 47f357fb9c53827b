//===- Passes.td - from one global program to one for each device ------------//

#ifndef WEFT_PASSES_SHARDING_PASSES
#define WEFT_PASSES_SHARDING_PASSES

include "mlir/Pass/PassBase.td"

def FoldIntegersPass : Pass<"weft-fold-integers", "::mlir::ModuleOp"> {
  let summary = "Computes what follows from a few constant integers.";
  let description = [{
    Replaces an op on constant integers, of which operands and result have at most
    64 elements, by its result, as the interpreter gives it: JAX clamps the constant
    start of an update by six ops, and converts the zero of a pad. Then a sharding
    rule and boxes know the numbers.

    Requires: stage `differentiated`; a module of one device stays as it is.
    Ensures: the same values.

    Example: test/passes/fold-integers.mlir
  }];
  let statistics = [Statistic<"numFolded", "folded", "ops replaced by their results">];
  let dependentDialects = ["::weft::WeftDialect"];
}

def FormMovesPass : Pass<"weft-form-moves", "::mlir::ModuleOp"> {
  let summary = "Makes chains of ops that only move elements one movement.";
  let description = [{
    Composes the boxes of ops that move elements by MovedBoxesOpInterface: slices,
    concatenations, pads, reverses, rolls, broadcasts, transpositions, reshapes
    that add or remove dimensions of one, and blocks with constant starts. A chain
    that moves along at least two dimensions, of one op or several, becomes a
    `weft.move`, so that a device sends what the whole chain moves to others, once,
    and not what each op moves; what takes neighbouring elements of one value
    becomes a slice of it, and what takes all of it the value.

    Requires: stage `differentiated`; a module of one device stays as it is.
    Ensures: the same values.

    Example: test/passes/form-moves.mlir
  }];
  let dependentDialects = ["::weft::WeftDialect"];
}

def DissolveMovesPass : Pass<"weft-dissolve-moves", "::mlir::ModuleOp"> {
  let summary = "Puts back the ops of moves of which no moved dimension is sharded.";
  let description = [{
    A `weft.move` whose elements stay on their devices is the ops of its region
    again, with the layouts that follow by their rules, so that they fuse with
    others and update their operands in place.

    Requires: layouts (--weft-propagate-layouts), or none in the whole module.
    Ensures: the same values.

    Example: test/passes/dissolve-moves.mlir
  }];
  let dependentDialects = ["::weft::WeftDialect"];
}

def PropagateLayoutsPass : Pass<"weft-propagate-layouts", "::mlir::ModuleOp"> {
  let summary = "Gives every tensor a layout and makes every movement a reshard.";
  let description = [{
    Carries annotated layouts through the factors of every op's sharding rule,
    forward and backward, into a table: first those of data and constraints,
    then those of weights; elementwise ops before the others. An axis shards one
    factor of an op; where two factors want it, all layouts that are not
    annotated are chosen by the price of their movements (LayoutSearch.h). A
    sharded reduce factor leaves a partial result, which is
    reduced in front of the first use that is not linear in it. Then all types
    are set at once and `weft.reshard` is inserted where a use wants another
    layout than the value has.

    Loops and branches (RegionBranchOpInterface) have no rule: a value that
    regions pass on has one layout outside and inside.

    Requires: functions of ops with sharding rules, loops and branches (stage
    `differentiated`); the module's `weft.mesh`, or nothing is sharded.
    Annotations (`weft.layout` on arguments and results, `weft.constrain`) are
    on that mesh. A result that reuses a donated argument's memory has the
    argument's layout.
    Ensures: every ranked tensor type has a layout, every op agrees with its
    rule (stage `sharded`); no `weft.constrain` is left.

    Example: test/passes/propagate-layouts.mlir
  }];
  let dependentDialects = ["::weft::WeftDialect", "::weft::coll::CollDialect"];
  let options = [Option<"target", "target", "std::string", /*default=*/"\"cpu:generic\"",
                        "The target whose links and devices price layouts (TargetRates.h)">];
  let statistics = [
    Statistic<"numReshards", "reshards", "Reshards inserted">,
    Statistic<"numConflicts", "conflicts", "Ops whose tensors want an axis for two factors">,
  ];
}

def ListLayoutChoicesPass : Pass<"weft-list-layout-choices", "::mlir::ModuleOp"> {
  let summary = "Prints the graph of which layouts are chosen, as attributes.";
  let description = [{
    Adds what LayoutQuestion.h asks of a function, whether its tensors are in
    conflict or not. No type changes. Layouts are texts, `[d,-] [d,-] -> [d,-]`;
    costs are picoseconds, without those of the cheapest choice of each op; -1
    is a pair that is not allowed.

    * `weft.choices` of an op has a list for each of its parts: a choice's
      layouts, what it costs for fetches, messages of its own, repeated work and
      movements of results to fixed layouts, and `chosen` for the one that the solver takes.
    * `weft.labels` of an op describes its results, `weft.argument_labels` of the
      function its arguments: the layouts that a value may have, or that a fixed
      one is copied to, and the chosen one.
    * `weft.moves` of an op has, for each tensor of each part, the cost from each
      of the value's labels (rows) to each choice (columns); of a result from
      each choice (rows) to each label (columns).
    * `weft.layout_price` of the function is the solution's price and bound.

    Requires: as `weft-propagate-layouts`, at most 512 devices, and not more
    layouts than propagation solves.
    Ensures: the same function; it verifies and is read again.

    Example: test/passes/list-layout-choices.mlir
  }];
  let dependentDialects = ["::weft::WeftDialect", "::weft::coll::CollDialect"];
  let options = [Option<"target", "target", "std::string", /*default=*/"\"cpu:generic\"",
                        "The target whose links and devices price layouts (TargetRates.h)">];
}

def SinkReshardsPass : Pass<"weft-sink-reshards", "::mlir::ModuleOp"> {
  let summary = "Moves a reshard behind the ops that make it cheaper.";
  let description = [{
    Where the only user of a reshard may, by its sharding rule, run on the value
    as it was before, and moving the result instead costs less, the op runs
    first: slices, reductions and casts to fewer bytes before a gather; sums
    that are added before one is combined. A partial value passes an op only as
    the op's linearity says (`Linearity`). Through ops that change nothing in
    the cost it looks further, to the next four single users.

    Requires: stage `sharded`, verified.
    Ensures: the same values; no reshard costs more than before.

    Example: test/passes/sink-reshards.mlir
  }];
  let dependentDialects = ["::weft::WeftDialect"];
  let statistics = [
    Statistic<"numSunk", "sunk", "Reshards that moved behind an op">,
  ];
}

def HoistReductionsPass : Pass<"weft-hoist-reductions", "::mlir::ModuleOp"> {
  let summary = "Reduces the partial sums of a loop once, behind the loop.";
  let description = [{
    Where a loop adds a reduced partial value to one that it carries, and reads
    that only to add and to carry it, the carried value becomes partial: it
    enters the loop so for nothing, and is reduced where it leaves. Gradients
    accumulated over several batches are summed over devices once. Their
    `Linearity` says which ops may stand in between.

    Requires: stage `sharded`, verified.
    Ensures: the same values; no more reductions, and none of those each time.

    Example: test/passes/hoist-reductions.mlir
  }];
  let dependentDialects = ["::weft::WeftDialect"];
  let statistics = [
    Statistic<"numHoisted", "hoisted", "Carried values that became partial">,
  ];
}

def HoistReshardsPass : Pass<"weft-hoist-reshards", "::mlir::ModuleOp"> {
  let summary = "Moves a reshard that every round repeats in front of its loop.";
  let description = [{
    A carried value that every region passes on unchanged
    (RegionBranchOpInterface) and that the loop brings to another layout each
    round is carried in that layout: weights are gathered once. A reshard of a
    value from outside the loop moves in front of it. Only where that moves
    fewer bytes, and costs no more than two rounds save. The moved value takes
    its memory for as long as the loop runs.

    Requires: stage `sharded`, verified.
    Ensures: the same values; no round moves more bytes than before.

    Example: test/passes/hoist-reshards.mlir
  }];
  let dependentDialects = ["::weft::WeftDialect"];
  let statistics = [
    Statistic<"numHoisted", "hoisted", "Reshards that left a loop">,
  ];
}

def AddBlocksPass : Pass<"weft-add-blocks", "::mlir::ModuleOp"> {
  let summary = "Changes the block alone where a sum's operand is zero outside of a block.";
  let description = [{
    A value that a loop carries and to which each round adds a block among zeros
    (PlacesBlockOpInterface) is read and written at the block's place only; what is
    four times as large as the block at least. A sum of blocks among zeros that lie
    one after the other is a concatenation. Gradients of arrays that are read layer
    by layer are such sums: with 12 layers, 12 times the elements.

    Requires: local ops (stage `partitioned`).
    Ensures: the same values. Adding 0 turns -0 into 0, so that a carried value is
    shown to have no -0, and 0 is added to blocks otherwise.

    Example: test/passes/add-blocks.mlir
  }];
  let dependentDialects = ["::weft::WeftDialect"];
  let statistics = [
    Statistic<"numCarried", "carried", "Sums that change a block of what a loop carries">,
    Statistic<"numJoined", "joined", "Sums of blocks that are concatenations">,
  ];
}

def CarryReshapedPass : Pass<"weft-carry-reshaped", "::mlir::ModuleOp"> {
  let summary = "Makes a loop carry an array in the shape in which its rounds change it.";
  let description = [{
    A carried value (RegionBranchOpInterface) that each round reshapes, changes
    by ops that replace elements of an operand (UpdatedOperand.h), and reshapes
    back is carried in the shape between the two. Then no round stores a
    reshape, which has all elements.

    Requires: local ops (stage `partitioned`).
    Ensures: the same values.

    Example: test/passes/carry-reshaped.mlir
  }];
  let dependentDialects = ["::weft::WeftDialect"];
  let statistics = [
    Statistic<"numCarried", "carried", "Values that are carried in another shape">,
  ];
}

def MergeReshardsPass : Pass<"weft-merge-reshards", "::mlir::ModuleOp"> {
  let summary = "Makes one reshard of two, and none of one that moves nothing.";
  let description = [{
    A reshard of a reshard goes straight from the first layout to the last where
    that costs no more: a sum that is sliced next is a reduce_scatter. Equal
    reshards of one value are one; those without uses, or between equal layouts,
    are none.

    Requires: stage `sharded`, verified.
    Ensures: the same values; no reshard costs more than before.

    Example: test/passes/merge-reshards.mlir
  }];
  let dependentDialects = ["::weft::WeftDialect"];
  let statistics = [
    Statistic<"numMerged", "merged", "Reshards that are gone">,
  ];
}

def MergeMovesPass : Pass<"weft-merge-moves", "::mlir::ModuleOp"> {
  let summary = "Makes moving ops and the reshards beside them one movement.";
  let description = [{
    A chain of ops that move elements and of reshards, each value of which one op
    reads, becomes one `weft.move` between the first and the last layouts where
    that sends fewer bytes, or as many in fewer messages. A row that all devices
    read is sent by those that have it, and not first spread over the others.

    Requires: stage `sharded`, verified; on more than 512 devices nothing changes.
    Ensures: the same values; no chain costs more than before.

    Example: test/passes/merge-moves.mlir
  }];
  let dependentDialects = ["::weft::WeftDialect"];
  let statistics = [
    Statistic<"numMerged", "merged", "Chains that became one movement">,
  ];
}

def WidenPartialSumsPass : Pass<"weft-widen-partial-sums", "::mlir::ModuleOp"> {
  let summary = "Sums of f16 travel between devices as f32.";
  let description = [{
    A sum or product of f16 of which each device of a group has a summand is
    computed, carried through loops and reduced in f32, and rounded once, where
    it is complete. So a result is infinite on several devices only where it is on
    one. The collectives send four bytes for each element instead of two. Partial
    sums of bf16 stay as they are: it has the range of f32, and collectives add
    up in f32.

    Requires: stage `sharded`, verified.
    Ensures: no partial sum or product has elements of f16.

    Example: test/passes/widen-partial-sums.mlir
  }];
  let dependentDialects = ["::weft::WeftDialect"];
  let statistics = [
    Statistic<"numWidened", "widened", "Partial values that became f32">,
  ];
}

def VerifyLayoutsPass : Pass<"weft-verify-layouts", "::mlir::ModuleOp"> {
  let summary = "Checks every op's layouts against its sharding rule.";
  let description = [{
    Foreign ops have verifiers that accept any encoding, so this pass runs at
    both borders of the stage `sharded`.

    Requires: stage `sharded`.
    Ensures: nothing changes; an error names the op, the factor and the layouts.

    Example: test/passes/verify-layouts.mlir
  }];
}

def PartitionPass : Pass<"weft-partition", "::mlir::ModuleOp"> {
  let summary = "Turns global tensors into each device's blocks, op by op.";
  let description = [{
    Each op builds its local form; each `weft.reshard` becomes the cheapest
    `coll` ops from one layout to the other. Where shards are uneven, the
    operands of an op that combines positions are masked with the neutral
    element behind the valid extent; divisible dimensions pay nothing.

    Requires: stage `sharded`, verified.
    Ensures: local shapes, no layouts in types; arguments and results keep
    `weft.layout` and get `weft.global_type` (stage `partitioned`).

    Example: test/passes/partition.mlir
  }];
  let dependentDialects = ["::weft::WeftDialect", "::weft::coll::CollDialect"];
  let statistics = [
    Statistic<"numCollectives", "collectives", "Communicating ops created">,
    Statistic<"numMasks", "masks", "Operands masked for uneven shards">,
  ];
}

#endif // WEFT_PASSES_SHARDING_PASSES
