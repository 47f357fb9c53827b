//===- Passes.td - products of blocks that travel --------------*- tablegen -*-===//

#ifndef WEFT_PASSES_RINGS_PASSES
#define WEFT_PASSES_RINGS_PASSES

include "mlir/Pass/PassBase.td"

def FormRingsPass : Pass<"weft-form-rings", "::mlir::ModuleOp"> {
  let summary = "Computes products block by block while the blocks travel around.";
  let description = [{
    A product whose operand is gathered starts with the device's own block, and
    goes on with the blocks of the neighbours on both sides while the next ones
    are on their way. No device holds the whole operand. A product whose result
    is reduced and scattered passes on the sums of blocks in the same way. Light
    ops between a collective and its products are computed by blocks, too. Both
    send the bytes that the collective would.

    Attention, a softmax between two products, becomes one ring of keys and values
    in which each row keeps its greatest score, its sum of exponentials and its
    result, so that no device holds all scores of a row either. It is found by its
    structure. Where others use its scores or weights, as derivatives do, its
    products are rings of their own.

    A product is any op that accumulates over two operands or more and whose
    sharding rule says that the blocks are independent, or are added up. Sums of
    short floats are f32 until the last block is added. Sums of floats are added
    in the order in which blocks arrive, so that their last bits may differ from
    those of the collective.

    The module's `weft.rings` is "on" (wherever it is possible), "off" or, by
    default, "auto": where devices compute while links carry bytes, and the
    prices of links and work say that the step ends earlier. With a budget of
    collectives (`weft.whole_sums`), "auto" forms none.

    Not done where blocks are of unequal size, where an op that is no product
    reads the whole operand, where the products do not fit in one loop, or where
    all devices of the group should get equal bits of a sum.

    Requires: stage `partitioned`.
    Ensures: the same values but for the order of sums; stage `partitioned`.

    Example: test/passes/form-rings.mlir
  }];
  let dependentDialects = ["::weft::coll::CollDialect"];
  let options = [Option<"target", "target", "std::string", /*default=*/"\"cpu:generic\"",
                        "the target whose rates are those of links and work">];
  let statistics = [
    Statistic<"numGathers", "gathers", "Gathers whose blocks travel around">,
    Statistic<"numAttentions", "attentions", "Attentions whose keys and values travel around">,
    Statistic<"numScatters", "scatters", "Reductions whose blocks travel around">,
  ];
}

#endif // WEFT_PASSES_RINGS_PASSES
