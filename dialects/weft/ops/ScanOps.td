//===- ScanOps.td - cumulative ops and orders along a dimension --------------//

#ifndef WEFT_DIALECTS_WEFT_SCANOPS
#define WEFT_DIALECTS_WEFT_SCANOPS

include "weft/dialects/weft/OpClasses.td"

def Weft_CumulativeOp : Weft_PositionedOp<"cumulative", [AllElementTypesMatch<["input", "result"]>, AllShapesMatch<["input", "result"]>, Differentiable, OwnLoopNest]> {
  let summary = "each element combined with all before it along a dimension";
  let stablehlo = "reduce_window of the dimension";
  let factors = "pass, scan";
  let derivative = "ties of max and min: to the first";
  let description = [{
    `%c = weft.cumulative sum %x dim 1 : tensor<4x8xf32>`, as jax.lax.cumsum,
    cumprod, cummax, cummin, cumlogsumexp. With `reverse` an element is combined
    with all later elements; with `exclusive` it is left out itself, so that the
    first is neutral.
    (C1) dim lies in the rank; (C2) logsumexp is of floats; (C3) complex numbers
    have no order.
  }];
  let arguments = (ins Weft_ScanKindAttr:$kind, Weft_Tensor:$input, I64Attr:$dim, UnitAttr:$reverse, UnitAttr:$exclusive);
  let results = (outs Weft_Tensor:$result);
  let builders = [OpBuilder<(ins "::weft::ScanKind":$kind, "::mlir::Value":$input, "int64_t":$dim, CArg<"bool", "false">:$reverse, CArg<"bool", "false">:$exclusive), [{
    build($_builder, $_state, input.getType(), kind, input, dim, reverse, exclusive);
  }]>];
  let assemblyFormat = "`` $kind $input `dim` $dim (`reverse` $reverse^)? (`exclusive` $exclusive^)? attr-dict `:` custom<UnaryTypes>(type($input), type($result))";
  let hasVerifier = 1;
}

class Weft_ArgOp<string mnemonic, string text> : Weft_PositionedOp<mnemonic, [Differentiable, OwnLoopNest]> {
  let summary = text;
  let stablehlo = "reduce of values with positions";
  let factors = "pass, select";
  let derivative = "none: integers";
  let description = [{
    `%i = weft.arg_max %x dim 1 : tensor<4x8xf32> -> tensor<4xi32>`.
    (C1) dim lies in the rank and is not empty; (C2) the result has the other
    dimensions and integers.
  }];
  let arguments = (ins Weft_RealTensor:$input, I64Attr:$dim);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$input `dim` $dim attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}
def Weft_ArgMaxOp : Weft_ArgOp<"arg_max", "position of the first largest element of a dimension; NaN is the largest">;
def Weft_ArgMinOp : Weft_ArgOp<"arg_min", "position of the first smallest element of a dimension; NaN is the smallest">;

def Weft_TopKOp : Weft_PositionedOp<"top_k", [Differentiable, OwnLoopNest]> {
  let summary = "the largest elements of a dimension, falling, and their positions";
  let stablehlo = "chlo.top_k";
  let factors = "pass, select";
  let derivative = "of the values";
  let description = [{
    `%v, %i = weft.top_k %x dim 1 : tensor<4x8xf32> -> tensor<4x3xf32>, tensor<4x3xi32>`.
    Of equal elements the first comes first; NaN is the largest.
    (C1) dim lies in the rank; (C2) both results have the input's shape but for
    dim, where they have no more, and the input's elements and integers.
  }];
  let arguments = (ins Weft_RealTensor:$input, I64Attr:$dim);
  let results = (outs Weft_Tensor:$values, Weft_Tensor:$positions);
  let assemblyFormat = "$input `dim` $dim attr-dict `:` type($input) `->` type($values) `,` type($positions)";
  let hasVerifier = 1;
}

def Weft_SortOp : Weft_PositionedOp<"sort", [Differentiable, OwnLoopNest]> {
  let summary = "tensors in the order of the first of them along a dimension; stable";
  let factors = "pass, select";
  let description = [{
    `%k, %v = weft.sort %x, %y dim 0 keys 1 : (tensor<8xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xi32>)`
    orders by the first `keys` tensors, one after the other where elements are
    equal; a StableHLO comparator of that form. NaN is larger than all numbers,
    zeros are equal. With `descending` the larger comes first.
    (C1) dim lies in the rank; (C2) all tensors have one shape, and results
    their elements; (C3) there are between 1 and all keys,
    which are not complex.
  }];
  let arguments = (ins Variadic<Weft_Tensor>:$inputs, I64Attr:$dim, I64Attr:$keys, UnitAttr:$descending);
  let results = (outs Variadic<Weft_Tensor>:$sorted);
  let assemblyFormat = "$inputs `dim` $dim `keys` $keys (`descending` $descending^)? attr-dict `:` functional-type($inputs, $sorted)";
  let hasVerifier = 1;
}

#endif // WEFT_DIALECTS_WEFT_SCANOPS
