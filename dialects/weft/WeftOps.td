//===- WeftOps.td - the tensor ops -------------------------------------------//

#ifndef WEFT_DIALECTS_WEFT_OPS
#define WEFT_DIALECTS_WEFT_OPS

include "weft/dialects/weft/Interfaces.td"
include "weft/dialects/weft/WeftAttributes.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

defvar Weft_Tensor = AnyRankedTensor;

class Weft_Op<string mnemonic, list<Trait> traits = []>
    : Op<Weft_Dialect, mnemonic, traits>;
// Every op that computes: pure, with a rule.
class Weft_ShardedOp<string mnemonic, list<Trait> traits = []>
    : Weft_Op<mnemonic, !listconcat([Pure, DeclareOpInterfaceMethods<ShardingRuleOpInterface>], traits)>;

// An op whose result depends on positions: its local form asks the placement.
class Weft_PositionedOp<string mnemonic, list<Trait> traits = []>
    : Weft_Op<mnemonic, !listconcat([Pure, DeclareOpInterfaceMethods<ShardingRuleOpInterface, ["buildLocal"]>], traits)>;

// --- elementwise ------------------------------------------------------------
// `%r = weft.exp %x : tensor<4xf32>`: operand and result types are equal but
// for their layouts.
class Weft_UnaryOp<string mnemonic, string text, list<Trait> traits = []>
    : Weft_ShardedOp<mnemonic, !listconcat([Elementwise, AllElementTypesMatch<["input", "result"]>, AllShapesMatch<["input", "result"]>], traits)> {
  let summary = text;
  let arguments = (ins Weft_Tensor:$input);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` custom<UnaryTypes>(type($input), type($result))";
  let builders = [OpBuilder<(ins "::mlir::Value":$input), [{ build($_builder, $_state, input.getType(), input); }]>];
}
defvar Differentiable = DeclareOpInterfaceMethods<DifferentiableOpInterface>;

def Weft_NegOp : Weft_UnaryOp<"neg", "-x", [Differentiable]>;
def Weft_AbsOp : Weft_UnaryOp<"abs", "|x|; derivative sign(x)", [Differentiable]>;
def Weft_SignOp : Weft_UnaryOp<"sign", "-1, 0 or 1; derivative 0", [Differentiable]>;
def Weft_ExpOp : Weft_UnaryOp<"exp", "e^x", [Differentiable]>;
def Weft_Expm1Op : Weft_UnaryOp<"expm1", "e^x - 1", [Differentiable]>;
def Weft_LogOp : Weft_UnaryOp<"log", "natural logarithm", [Differentiable]>;
def Weft_Log1pOp : Weft_UnaryOp<"log1p", "log(1 + x)", [Differentiable]>;
def Weft_SqrtOp : Weft_UnaryOp<"sqrt", "square root", [Differentiable]>;
def Weft_RsqrtOp : Weft_UnaryOp<"rsqrt", "1 / sqrt(x)", [Differentiable]>;
def Weft_TanhOp : Weft_UnaryOp<"tanh", "hyperbolic tangent", [Differentiable]>;
def Weft_LogisticOp : Weft_UnaryOp<"logistic", "1 / (1 + e^-x)", [Differentiable]>;
def Weft_ErfOp : Weft_UnaryOp<"erf", "error function", [Differentiable]>;
def Weft_FloorOp : Weft_UnaryOp<"floor", "largest integer not above x; derivative 0", [Differentiable]>;
def Weft_ReluOp : Weft_UnaryOp<"relu", "max(x, 0); derivative 0 at 0, as jax.nn.relu", [Differentiable]>;
def Weft_NotOp : Weft_UnaryOp<"not", "bitwise (logical on i1) complement">;

class Weft_BinaryOp<string mnemonic, string text, list<Trait> traits = []>
    : Weft_ShardedOp<mnemonic, !listconcat([Elementwise, AllElementTypesMatch<["lhs", "rhs", "result"]>, AllShapesMatch<["lhs", "rhs", "result"]>], traits)> {
  let summary = text;
  let arguments = (ins Weft_Tensor:$lhs, Weft_Tensor:$rhs);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` custom<BinaryTypes>(type($lhs), type($rhs), type($result))";
  let builders = [OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs), [{ build($_builder, $_state, lhs.getType(), lhs, rhs); }]>];
}
def Weft_AddOp : Weft_BinaryOp<"add", "x + y", [Differentiable, Commutative]> { let hasFolder = 1; }
def Weft_SubOp : Weft_BinaryOp<"sub", "x - y", [Differentiable]> { let hasFolder = 1; }
def Weft_MulOp : Weft_BinaryOp<"mul", "x * y", [Differentiable, Commutative]> { let hasFolder = 1; }
def Weft_DivOp : Weft_BinaryOp<"div", "x / y; integers truncate, unsigned where the type is", [Differentiable]>;
def Weft_MaxOp : Weft_BinaryOp<"max", "larger of two, NaN if one is; ties share the gradient by halves, as jax.lax.max", [Differentiable, Commutative]>;
def Weft_MinOp : Weft_BinaryOp<"min", "smaller of two, NaN if one is; ties share the gradient by halves", [Differentiable, Commutative]>;
def Weft_PowOp : Weft_BinaryOp<"pow", "x ^ y", [Differentiable]>;
def Weft_RemOp : Weft_BinaryOp<"rem", "remainder with the sign of x">;
def Weft_AndOp : Weft_BinaryOp<"and", "bitwise and", [Commutative]>;
def Weft_OrOp : Weft_BinaryOp<"or", "bitwise or", [Commutative]>;
def Weft_XorOp : Weft_BinaryOp<"xor", "bitwise exclusive or", [Commutative]>;
def Weft_ShiftLeftOp : Weft_BinaryOp<"shift_left", "x * 2^y; 0 where y is not below the width">;
def Weft_ShiftRightLogicalOp : Weft_BinaryOp<"shift_right_logical", "unsigned shift; 0 where y is not below the width">;

def Weft_CompareOp : Weft_ShardedOp<"compare", [Elementwise, AllElementTypesMatch<["lhs", "rhs"]>, AllShapesMatch<["lhs", "rhs", "result"]>, Differentiable]> {
  let summary = "elementwise comparison to i1; no gradient";
  let arguments = (ins Weft_CompareKindAttr:$kind, Weft_Tensor:$lhs, Weft_Tensor:$rhs);
  let results = (outs Weft_Tensor:$result);
  let builders = [OpBuilder<(ins "::weft::CompareKind":$kind, "::mlir::Value":$lhs, "::mlir::Value":$rhs)>];
  let assemblyFormat = "`` $kind $lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
  let hasVerifier = 1; // (C1) the result's elements are i1
}
def Weft_SelectOp : Weft_ShardedOp<"select", [Elementwise, AllElementTypesMatch<["on_true", "on_false", "result"]>, AllShapesMatch<["condition", "on_true", "on_false", "result"]>, Differentiable]> {
  let summary = "condition ? on_true : on_false, elementwise";
  let arguments = (ins Weft_Tensor:$condition, Weft_Tensor:$on_true, Weft_Tensor:$on_false);
  let results = (outs Weft_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$condition, "::mlir::Value":$onTrue, "::mlir::Value":$onFalse)>];
  let assemblyFormat = "$condition `,` $on_true `,` $on_false attr-dict `:` type($condition) `,` type($on_true) `,` type($on_false) `->` type($result)";
  let hasVerifier = 1; // (C1) the condition's elements are i1
}
def Weft_ConvertOp : Weft_ShardedOp<"convert", [Elementwise, AllShapesMatch<["input", "result"]>, Differentiable]> {
  let summary = "to another element type; float to integer truncates, i1 is 0 or 1; no gradient through integers";
  let arguments = (ins Weft_Tensor:$input);
  let results = (outs Weft_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "::mlir::Type":$elementType)>];
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}
def Weft_BitcastOp : Weft_ShardedOp<"bitcast", [Elementwise, AllShapesMatch<["input", "result"]>]> {
  let summary = "the same bits as another element type of equal width";
  let arguments = (ins Weft_Tensor:$input);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1; // (C1) element types have the same width
}

// --- sources ------------------------------------------------------------------
def Weft_ConstantOp : Weft_PositionedOp<"constant", [ConstantLike, Differentiable]> {
  let summary = "a constant tensor; the data has no layout";
  let description = [{
    `%0 = weft.constant dense<1.0> : tensor<4xf32>`. Splats shard along every
    dimension for nothing; other data stays whole on every device. Where the
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
def Weft_IotaOp : Weft_PositionedOp<"iota", [Differentiable]> {
  let summary = "counts along one dimension";
  let description = [{
    `%0 = weft.iota dim 0 : tensor<16x10xi32>`; element (i, j) is i. On a shard
    the count starts at the offset: `weft.iota dim 0 offset %o : (tensor<i64>) -> tensor<8x10xi32>`.
  }];
  let arguments = (ins I64Attr:$dim, Optional<Weft_Tensor>:$offset);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "`dim` $dim (`offset` $offset^)? attr-dict `:` custom<IotaTypes>(type($offset), type($result))";
  let hasVerifier = 1; // (C1) dim lies in the rank; (C2) the offset is tensor<i64>
}
def Weft_RngBitsOp : Weft_PositionedOp<"rng_bits", [Differentiable]> {
  let summary = "threefry-2x32 bits of each global position";
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

// --- shape --------------------------------------------------------------------
def Weft_BroadcastOp : Weft_ShardedOp<"broadcast", [AllElementTypesMatch<["input", "result"]>, Differentiable]> {
  let summary = "repeats along new dimensions";
  let description = [{
    `%r = weft.broadcast %b dims [1] : tensor<10xf32> -> tensor<16x10xf32>`:
    dimension i of the input is dimension dims[i] of the result.
    (C1) one entry for each input dimension; (C2) entries rise and lie in the
    result's rank; (C3) sizes are equal.
  }];
  let arguments = (ins Weft_Tensor:$input, DenseI64ArrayAttr:$dims);
  let results = (outs Weft_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "::llvm::ArrayRef<int64_t>":$shape, "::llvm::ArrayRef<int64_t>":$dims)>];
  let hasFolder = 1;
  let assemblyFormat = "$input `dims` $dims attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}
def Weft_TransposeOp : Weft_ShardedOp<"transpose", [AllElementTypesMatch<["input", "result"]>, Differentiable]> {
  let summary = "result dimension i is input dimension permutation[i]";
  let arguments = (ins Weft_Tensor:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs Weft_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "::llvm::ArrayRef<int64_t>":$permutation)>];
  let assemblyFormat = "$input $permutation attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1; // (C1) a permutation of the rank; (C2) shapes agree
  let hasFolder = 1;
}
def Weft_ReshapeOp : Weft_ShardedOp<"reshape", [AllElementTypesMatch<["input", "result"]>, Differentiable]> {
  let summary = "the same elements in row-major order in another shape";
  let arguments = (ins Weft_Tensor:$input);
  let results = (outs Weft_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "::llvm::ArrayRef<int64_t>":$shape)>];
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1; // (C1) as many elements
  let hasFolder = 1;
}
def Weft_SliceOp : Weft_ShardedOp<"slice", [AllElementTypesMatch<["input", "result"]>, Differentiable]> {
  let summary = "elements start, start+stride, ... below limit of each dimension";
  let arguments = (ins Weft_Tensor:$input, DenseI64ArrayAttr:$start, DenseI64ArrayAttr:$limit, DenseI64ArrayAttr:$stride);
  let results = (outs Weft_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "::llvm::ArrayRef<int64_t>":$start, "::llvm::ArrayRef<int64_t>":$limit, "::llvm::ArrayRef<int64_t>":$stride)>];
  let assemblyFormat = "$input `from` $start `to` $limit `by` $stride attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1; // (C1) one entry for each dimension; (C2) 0 <= start <= limit <= size, stride > 0; (C3) the result's shape follows
}
def Weft_PadOp : Weft_ShardedOp<"pad", [AllElementTypesMatch<["input", "result"]>]> {
  let summary = "zeros before, after and between the elements of each dimension";
  let description = [{ The adjoint of `slice`; (C1) one entry for each dimension; (C2) not negative; (C3) the result's shape follows. }];
  let arguments = (ins Weft_Tensor:$input, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high, DenseI64ArrayAttr:$interior);
  let results = (outs Weft_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "::llvm::ArrayRef<int64_t>":$low, "::llvm::ArrayRef<int64_t>":$high, "::llvm::ArrayRef<int64_t>":$interior)>];
  let assemblyFormat = "$input `low` $low `high` $high `interior` $interior attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}
def Weft_ConcatenateOp : Weft_ShardedOp<"concatenate", [Differentiable]> {
  let summary = "tensors one after the other along a dimension";
  let arguments = (ins Variadic<Weft_Tensor>:$inputs, I64Attr:$dim);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$inputs `dim` $dim attr-dict `:` functional-type($inputs, $result)";
  let hasVerifier = 1; // (C1) at least one input; (C2) other dimensions agree; (C3) sizes along dim add up
}

// --- reductions -----------------------------------------------------------------
def Weft_ReduceOp : Weft_ShardedOp<"reduce", [AllElementTypesMatch<["input", "result"]>, Differentiable]> {
  let summary = "combines all elements along dimensions";
  let description = [{
    `%s = weft.reduce sum %x dims [0] : tensor<16x10xf32> -> tensor<10xf32>`.
    The gradient of max and min is shared equally by all elements that tie.
    (C1) dims rise and lie in the rank; (C2) the result has the others.
  }];
  let arguments = (ins Weft_ReduceKindAttr:$kind, Weft_Tensor:$input, DenseI64ArrayAttr:$dims);
  let results = (outs Weft_Tensor:$result);
  let builders = [OpBuilder<(ins "::weft::ReduceKind":$kind, "::mlir::Value":$input, "::llvm::ArrayRef<int64_t>":$dims)>];
  let assemblyFormat = "`` $kind $input `dims` $dims attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}
def Weft_DotOp : Weft_ShardedOp<"dot", [AllElementTypesMatch<["lhs", "rhs", "result"]>, Differentiable]> {
  let summary = "general contraction";
  let description = [{
    `%c = weft.dot %a, %b contract [1] x [0] : tensor<16x784xf32>, tensor<784x10xf32> -> tensor<16x10xf32>`,
    with batch dimensions `batch [0] x [0]`. The result has the batch
    dimensions, then the others of lhs, then of rhs.
    (C1) as many of each on both sides; (C2) dims are distinct and lie in the
    rank; (C3) sizes agree; (C4) the result's shape follows.
  }];
  let arguments = (ins Weft_Tensor:$lhs, Weft_Tensor:$rhs,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$lhs_batch, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$rhs_batch,
                       DenseI64ArrayAttr:$lhs_contract, DenseI64ArrayAttr:$rhs_contract);
  let results = (outs Weft_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs, "::llvm::ArrayRef<int64_t>":$lhsContract, "::llvm::ArrayRef<int64_t>":$rhsContract, CArg<"::llvm::ArrayRef<int64_t>", "{}">:$lhsBatch, CArg<"::llvm::ArrayRef<int64_t>", "{}">:$rhsBatch)>];
  let assemblyFormat = [{
    $lhs `,` $rhs (`batch` $lhs_batch^ `x` $rhs_batch)? `contract` $lhs_contract `x` $rhs_contract
    attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)
  }];
  let hasVerifier = 1;
}

// --- layouts ----------------------------------------------------------------------
def Weft_ConstrainOp : Weft_ShardedOp<"constrain", [Elementwise, AllShapesMatch<["input", "result"]>, AllElementTypesMatch<["input", "result"]>, Differentiable]> {
  let summary = "annotates a value with a layout (before the sharded stage)";
  let description = [{
    `%1 = weft.constrain %0 to #layout because "d2/output" : tensor<16x10xf32>`.
    Its gradient is constrained likewise.
  }];
  let arguments = (ins Weft_Tensor:$input, Weft_LayoutAttr:$layout, OptionalAttr<StrAttr>:$reason);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$input `to` $layout (`because` $reason^)? attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1; // (C1) the layout has the value's rank; (C2) it is not partial
}
def Weft_ReshardOp : Weft_Op<"reshard", [Pure, AllShapesMatch<["input", "result"]>, AllElementTypesMatch<["input", "result"]>]> {
  let summary = "the same value in another layout: the only op that changes one";
  let description = [{
    (C1) both types carry layouts on one mesh; (C2) the result is not partial
    where the input is not, but for replicated axes.
  }];
  let arguments = (ins Weft_Tensor:$input, OptionalAttr<StrAttr>:$reason);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$input (`because` $reason^)? attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

// --- differentiation ------------------------------------------------------------------
def Weft_ValueAndGradOp : Weft_Op<"value_and_grad", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a function's results and the gradient of its first";
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

#endif // WEFT_DIALECTS_WEFT_OPS
