//===- SourceOps.td - constants, counts and random bits ----------------------//

#ifndef WEFT_DIALECTS_WEFT_SOURCEOPS
#define WEFT_DIALECTS_WEFT_SOURCEOPS

include "weft/dialects/weft/OpClasses.td"

def Weft_ConstantOp : Weft_PositionedOp<"constant", [ConstantLike, Differentiable, GeneratesElements]> {
  let summary = "a constant tensor; the data has no layout";
  let factors = "pass, replicated";
  let derivative = "none";
  let description = [{
    `%0 = weft.constant dense<1.0> : tensor<4xf32>`. Splats shard along every
    dimension for nothing; other data is replicated on every device. Where the
    result has a layout it follows the data:
    `weft.constant dense<1.0> : tensor<4xf32> -> tensor<4xf32, #layout>`.
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Weft_Tensor:$result);
  let hasCustomAssemblyFormat = 1;
  let hasFolder = 1;
  let hasVerifier = 1; // (C1) data and result have the same shape and element type
  let builders = [OpBuilder<(ins "::mlir::ElementsAttr":$value)>];
}
def Weft_IotaOp : Weft_PositionedOp<"iota", [Differentiable, GeneratesElements]> {
  let summary = "counts along one dimension";
  let factors = "position, pass";
  let derivative = "none";
  let description = [{
    `%0 = weft.iota dim 0 : tensor<16x10xi32>`; element (i, j) is i. On a shard
    the count starts at the offset: `weft.iota dim 0 offset %o : (tensor<i64>) -> tensor<8x10xi32>`.
  }];
  let arguments = (ins I64Attr:$dim, Optional<Weft_Tensor>:$offset);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "`dim` $dim (`offset` $offset^)? attr-dict `:` custom<IotaTypes>(type($offset), type($result))";
  let hasVerifier = 1; // (C1) dim is in the rank; (C2) the offset is tensor<i64>
}
def Weft_RngBitsOp : Weft_PositionedOp<"rng_bits", [Differentiable, KeepsPositions, Costly, DeclareOpInterfaceMethods<KernelOpInterface, ["getElementsReadElsewhere", "getWork"]>]> {
  let summary = "threefry-2x32 bits of each global position";
  let stablehlo = "rng_bit_generator";
  let factors = "position";
  let derivative = "none";
  let description = [{
    JAX's partitionable form: element with row-major global index i gets
    out0 ^ out1 of threefry2x32(key, (hi32 i, lo32 i)).
    `%b = weft.rng_bits %key : tensor<2xui32> -> tensor<16x200xui32>`. A shard
    states the global shape and where it starts:
    `weft.rng_bits %key offsets(%o0, %o1) of [16, 200] : ...`.
  }];
  let arguments = (ins Weft_Tensor:$key, Variadic<Weft_Tensor>:$offsets, OptionalAttr<DenseI64ArrayAttr>:$global_shape);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = [{
    $key (`offsets` `(` $offsets^ `)` `of` $global_shape)? attr-dict `:` custom<RngTypes>(type($key), type($offsets), type($result))
  }];
  let hasVerifier = 1; // (C1) the key is tensor<2xui32>; (C2) results are ui32; (C3) offsets and global shape come together, one for each dimension
}

#endif // WEFT_DIALECTS_WEFT_SOURCEOPS
