//===- LayoutOps.td - annotations, reshards, differentiation -----------------//

#ifndef WEFT_DIALECTS_WEFT_LAYOUTOPS
#define WEFT_DIALECTS_WEFT_LAYOUTOPS

include "weft/dialects/weft/OpClasses.td"

// --- layouts ----------------------------------------------------------------------
def Weft_ConstrainOp : Weft_ShardedOp<"constrain", [Elementwise, AllShapesMatch<["input", "result"]>, AllElementTypesMatch<["input", "result"]>, Differentiable]> {
  let summary = "annotates a value with a layout (before the sharded stage)";
  let stablehlo = "custom_call @Sharding";
  let description = [{
    `%1 = weft.constrain %0 to #layout reason "d2/output" : tensor<16x10xf32> -> tensor<16x10xf32>`.
    Its gradient is constrained likewise.
  }];
  let arguments = (ins Weft_Tensor:$input, Weft_LayoutAttr:$layout, OptionalAttr<StrAttr>:$reason);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$input `to` $layout (`reason` $reason^)? attr-dict custom<AnnotatedTypes>(type($input), type($result))";
  let hasVerifier = 1; // (C1) the layout has the value's rank
}
def Weft_ReshardOp : Weft_Op<"reshard", [Pure, DeclareOpInterfaceMethods<MovedBoxesOpInterface, ["getMovedParts"]>, AllShapesMatch<["input", "result"]>, AllElementTypesMatch<["input", "result"]>]> {
  let summary = "the same value in another layout: the only op that changes one";
  let stablehlo = "";
  let factors = "";
  let description = [{
    (C1) both types carry layouts on one mesh; (C2) the result is not partial
    where the input is not, but for replicated axes.
  }];
  let arguments = (ins Weft_Tensor:$input, OptionalAttr<StrAttr>:$reason);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$input (`reason` $reason^)? attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

// --- differentiation ------------------------------------------------------------------
def Weft_ValueAndGradOp : Weft_Op<"value_and_grad", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a function's results and the gradient of its first";
  let stablehlo = "";
  let factors = "";
  let description = [{
    `%loss, %aux, %g0, %g1 = weft.value_and_grad @loss(%w0, %w1, %x) wrt [0, 1] : (...) -> (...)`:
    all results of @loss, then one gradient for each entry of `wrt`.
    (C1) the callee exists and its types match; (C2) its first result is a
    float scalar; (C3) wrt are distinct arguments of float type.
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$operands, DenseI64ArrayAttr:$wrt);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$callee `(` $operands `)` `wrt` $wrt attr-dict `:` functional-type($operands, $results)";
}

#endif // WEFT_DIALECTS_WEFT_LAYOUTOPS
