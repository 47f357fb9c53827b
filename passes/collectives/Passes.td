//===- Passes.td - passes over collectives -------------------*- tablegen -*-===//

#ifndef WEFT_PASSES_COLLECTIVES_PASSES
#define WEFT_PASSES_COLLECTIVES_PASSES

include "mlir/Pass/PassBase.td"

def MergeCollectivesPass : Pass<"weft-merge-collectives", "::mlir::ModuleOp"> {
  let summary = "Reuses the result of an equal collective.";
  let description = [{
    Of ops of `coll` in one block with equal operands and attributes, except for
    their reasons, the first stays, with the reasons of all. Its result
    lives until the last use, which is the memory that a second movement would
    have saved.

    Requires: stage `partitioned`.
    Ensures: the same values; no more collectives than before.

    Example: test/passes/merge-collectives.mlir
  }];
  let dependentDialects = ["::weft::coll::CollDialect"];
  let statistics = [
    Statistic<"numMerged", "merged", "Collectives that another one served for">,
  ];
}

def CombineAllReducesPass : Pass<"weft-combine-all-reduces", "::mlir::ModuleOp"> {
  let summary = "Combines all-reduces that do not wait for each other.";
  let description = [{
    All-reduces of one kind, group and element type become one op with several
    operands, at the place of the last all-reduce; ops before that place that
    need the result of an earlier all-reduce move after it. Collectives without uses are
    removed.

    Requires: stage `partitioned`.
    Ensures: the same values; no more collectives than before.

    Example: test/passes/combine-all-reduces.mlir
  }];
  let dependentDialects = ["::weft::coll::CollDialect"];
  let statistics = [
    Statistic<"numCombined", "combined", "All-reduces that joined another">,
    Statistic<"numRemoved", "removed", "Collectives without uses removed">,
  ];
}

#endif // WEFT_PASSES_COLLECTIVES_PASSES
