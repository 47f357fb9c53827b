//===- ReductionOps.td - reduce and dot --------------------------------------//

#ifndef WEFT_DIALECTS_WEFT_REDUCTIONOPS
#define WEFT_DIALECTS_WEFT_REDUCTIONOPS

include "weft/dialects/weft/OpClasses.td"

def Weft_ReduceOp : Weft_ShardedOp<"reduce", [DeclareOpInterfaceMethods<AccumulatesOpInterface, ["accumulates"]>, Differentiable, ReductionNest]> {
  let summary = "combines all elements along dimensions";
  let factors = "pass, reduce";
  let derivative = "of sum, max, min (ties share equally) and prod";
  let description = [{
    `%s = weft.reduce sum %x dims [0] : tensor<16x10xf32> -> tensor<10xf32>`.
    The gradient of max and min is shared equally by all elements that tie. A
    sum or product is taken in the result's element type:
    `weft.reduce sum %x dims [0] : tensor<16x10xbf16> -> tensor<10xf32>`.
    (C1) dims rise and lie in the rank; (C2) the result has the others; (C3)
    complex numbers have sums and products only; (C4) the result's element type
    is the input's or, of a sum or product, one that has all its numbers.
  }];
  let arguments = (ins Weft_ReduceKindAttr:$kind, Weft_Tensor:$input, DenseI64ArrayAttr:$dims);
  let results = (outs Weft_Tensor:$result);
  let builders = [OpBuilder<(ins "::weft::ReduceKind":$kind, "::mlir::Value":$input, "::llvm::ArrayRef<int64_t>":$dims,
    CArg<"::mlir::Type", "{}">:$elementType)>]; // null for the input's element type
  let assemblyFormat = "`` $kind $input `dims` $dims attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}
def Weft_DotOp : Weft_ShardedOp<"dot", [AccumulatesOpInterface, Differentiable, ContractionNest, DeclareOpInterfaceMethods<KernelOpInterface, ["getWork"]>]> {
  let summary = "general contraction";
  let stablehlo = "dot_general";
  let factors = "pass, reduce";
  let description = [{
    `%c = weft.dot %a, %b contract [1] x [0] : tensor<16x784xf32>, tensor<784x10xf32> -> tensor<16x10xf32>`,
    with batch dimensions `batch [0] x [0]`. The result has the batch
    dimensions, then the others of lhs, then of rhs. Products and sums are those
    of the result's element type, which may be wider than that of lhs or rhs:
    `weft.dot %a, %b contract [1] x [0] precision high : tensor<16x784xbf16>, tensor<784x10xbf16> -> tensor<16x10xf32>`.
    `precision` is for devices that can multiply floats in several ways; CPUs
    have one, which is exact. `default` and `high` leave it to a compile option
    (--matmul-precision), `highest` asks for all bits of f32, and `tf32` lets
    operands of f32 be rounded to ten bits of mantissa.
    (C1) as many of each on both sides; (C2) dims are distinct and lie in the
    rank; (C3) sizes agree; (C4) the result's shape follows; (C5) the result's
    element type has all numbers of the operands'.
  }];
  let arguments = (ins Weft_Tensor:$lhs, Weft_Tensor:$rhs,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$lhs_batch, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$rhs_batch,
                       DenseI64ArrayAttr:$lhs_contract, DenseI64ArrayAttr:$rhs_contract,
                       DefaultValuedAttr<Weft_PrecisionAttr, "::weft::Precision::Default">:$precision);
  let results = (outs Weft_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs, "::llvm::ArrayRef<int64_t>":$lhsContract, "::llvm::ArrayRef<int64_t>":$rhsContract, CArg<"::llvm::ArrayRef<int64_t>", "{}">:$lhsBatch, CArg<"::llvm::ArrayRef<int64_t>", "{}">:$rhsBatch,
    CArg<"::mlir::Type", "{}">:$elementType, CArg<"::weft::Precision", "::weft::Precision::Default">:$precision)>]; // null for the element type of lhs
  let assemblyFormat = [{
    $lhs `,` $rhs (`batch` $lhs_batch^ `x` $rhs_batch)? `contract` $lhs_contract `x` $rhs_contract
    (`precision` $precision^)? attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // WEFT_DIALECTS_WEFT_REDUCTIONOPS
