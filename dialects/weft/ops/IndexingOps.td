//===- IndexingOps.td - gather, scatter, one_hot -----------------------------//

#ifndef WEFT_DIALECTS_WEFT_INDEXINGOPS
#define WEFT_DIALECTS_WEFT_INDEXINGOPS

include "weft/dialects/weft/OpClasses.td"

def Weft_GatherOp : Weft_PositionedOp<"gather", [DeclareOpInterfaceMethods<MovedBoxesOpInterface>, AllElementTypesMatch<["input", "result"]>, Differentiable, DeclareOpInterfaceMethods<KernelOpInterface, ["getElementsReadElsewhere"]>]> {
  let summary = "blocks of the input, each from where a vector of indices says";
  let factors = "pass, lookup";
  let description = [{
    Dimension numbers are those of StableHLO. Rows of an embedding:

        %r = weft.gather %table at %ids {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>,
             start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 64>}
             : tensor<1000x64xf32>, tensor<8xi32> -> tensor<8x64xf32>

    A block that sticks out of the input is moved inside, as in StableHLO; with
    `zero_outside` it stays where it is and its elements outside are 0: the
    adjoint of a scatter. With `absent_outside` they are -0 where elements are
    floats: a device then reads a summand of the whole from its part of the
    input. Adding -0 changes no value, not even -0.
    (C1) dimension numbers name dimensions that exist, each once, rising but for
    start_index_map, and indices are integers; (C2) slice_sizes fit in the
    input, and are 1 in collapsed and batching dimensions; (C3) the result's
    shape follows; (C4) elements outside are 0 or absent, not both.
  }];
  let arguments = (ins Weft_Tensor:$input, Weft_Tensor:$indices,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$offset_dims, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$collapsed_slice_dims,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$operand_batching_dims, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$start_indices_batching_dims,
                       DenseI64ArrayAttr:$start_index_map, I64Attr:$index_vector_dim, DenseI64ArrayAttr:$slice_sizes, UnitAttr:$zero_outside, UnitAttr:$absent_outside);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$input `at` $indices attr-dict `:` type($input) `,` type($indices) `->` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::weft::IndexedBlocks getBlocks();
    /// Whether a block that is partly outside is not clamped.
    bool staysOutside() { return getZeroOutside() || getAbsentOutside(); }
  }];
}

def Weft_ScatterOp : Weft_PositionedOp<"scatter", [DeclareOpInterfaceMethods<MovedBoxesOpInterface>, AllElementTypesMatch<["input", "updates", "result"]>, AllShapesMatch<["input", "result"]>, Differentiable, OwnLoopNest]> {
  let summary = "the input with blocks of updates combined in, each where a vector of indices says";
  let factors = "pass, lookup, reduce (replicated with set)";
  let derivative = "of set and sum";
  let description = [{
    `%r = weft.scatter sum %x at %ids with %u {...}`, the dimension numbers are
    those of StableHLO. An element of an update that would be outside is left
    out. Updates are taken in row-major order: with `set` the last one stays.
    (C1) dimension numbers name dimensions that exist, each once, rising but for
    scatter_dims_to_operand_dims, and indices are integers; (C2) the updates'
    shape follows, their blocks are no larger than the input; (C3) complex
    numbers have sums and products only.
  }];
  let arguments = (ins Weft_ScatterKindAttr:$kind, Weft_Tensor:$input, Weft_Tensor:$indices, Weft_Tensor:$updates,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$update_window_dims, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$inserted_window_dims,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$input_batching_dims, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$scatter_indices_batching_dims,
                       DenseI64ArrayAttr:$scatter_dims_to_operand_dims, I64Attr:$index_vector_dim);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "`` $kind $input `at` $indices `with` $updates attr-dict `:` type($input) `,` type($indices) `,` type($updates) `->` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{ ::weft::IndexedBlocks getBlocks(); }];
}

def Weft_OneHotOp : Weft_PositionedOp<"one_hot", [Differentiable]> {
  let summary = "1 where the position along a new dimension is the index, else 0";
  let stablehlo = "compare with iota";
  let factors = "pass, position";
  let derivative = "none";
  let description = [{
    `%h = weft.one_hot %ids dim 1 : tensor<8xi32> -> tensor<8x10xf32>`, as
    jax.nn.one_hot; an index outside gives zeros. On a shard the count starts at
    the offset, as for `iota`: `weft.one_hot %ids dim 1 offset %o : tensor<8xi32>, tensor<i64> -> tensor<8x5xf32>`.
    (C1) dim lies in the result's rank; (C2) the result has the indices' shape
    but for dim; (C3) indices are integers; (C4) the offset is tensor<i64>.
  }];
  let arguments = (ins Weft_Tensor:$indices, I64Attr:$dim, Optional<Weft_Tensor>:$offset);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$indices `dim` $dim (`offset` $offset^)? attr-dict `:` type($indices) (`,` type($offset)^)? `->` type($result)";
  let hasVerifier = 1;
}

#endif // WEFT_DIALECTS_WEFT_INDEXINGOPS
