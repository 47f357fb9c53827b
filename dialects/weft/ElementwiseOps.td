//===- ElementwiseOps.td - each result element from those at its position ----//

#ifndef WEFT_DIALECTS_WEFT_ELEMENTWISEOPS
#define WEFT_DIALECTS_WEFT_ELEMENTWISEOPS

include "weft/dialects/weft/OpClasses.td"

// `%r = weft.exp %x : tensor<4xf32>`: operand and result types are equal but
// for their layouts.
class Weft_UnaryOp<string mnemonic, string text, list<Trait> traits = [], string hlo = mnemonic>
    : Weft_ShardedOp<mnemonic, !listconcat([Elementwise, AllElementTypesMatch<["input", "result"]>, AllShapesMatch<["input", "result"]>], traits)> {
  let summary = text;
  let stablehlo = hlo;
  let arguments = (ins Weft_Tensor:$input);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` custom<UnaryTypes>(type($input), type($result))";
  let builders = [OpBuilder<(ins "::mlir::Value":$input), [{ build($_builder, $_state, input.getType(), input); }]>];
}

def Weft_NegOp : Weft_UnaryOp<"neg", "-x", [Differentiable], "negate">;
def Weft_AbsOp : Weft_UnaryOp<"abs", "|x|; derivative sign(x)", [Differentiable]>;
def Weft_SignOp : Weft_UnaryOp<"sign", "-1, 0 or 1; derivative 0", [Differentiable]>;
def Weft_ExpOp : Weft_UnaryOp<"exp", "e^x", [Differentiable], "exponential">;
def Weft_Expm1Op : Weft_UnaryOp<"expm1", "e^x - 1", [Differentiable], "exponential_minus_one">;
def Weft_LogOp : Weft_UnaryOp<"log", "natural logarithm", [Differentiable]>;
def Weft_Log1pOp : Weft_UnaryOp<"log1p", "log(1 + x)", [Differentiable], "log_plus_one">;
def Weft_SqrtOp : Weft_UnaryOp<"sqrt", "square root", [Differentiable]>;
def Weft_RsqrtOp : Weft_UnaryOp<"rsqrt", "1 / sqrt(x)", [Differentiable]>;
def Weft_TanhOp : Weft_UnaryOp<"tanh", "hyperbolic tangent", [Differentiable]>;
def Weft_LogisticOp : Weft_UnaryOp<"logistic", "1 / (1 + e^-x)", [Differentiable]>;
def Weft_ErfOp : Weft_UnaryOp<"erf", "error function", [Differentiable], "chlo.erf">;
def Weft_FloorOp : Weft_UnaryOp<"floor", "largest integer not above x; derivative 0", [Differentiable]>;
def Weft_CeilOp : Weft_UnaryOp<"ceil", "least integer not below x; derivative 0", [Differentiable]>;
def Weft_RoundOp : Weft_UnaryOp<"round", "nearest integer, halves away from 0; derivative 0", [Differentiable], "round_nearest_afz">;
def Weft_RoundEvenOp : Weft_UnaryOp<"round_even", "nearest integer, halves to even; derivative 0", [Differentiable], "round_nearest_even">;
def Weft_CbrtOp : Weft_UnaryOp<"cbrt", "cube root", [Differentiable]>;
def Weft_SinOp : Weft_UnaryOp<"sin", "sine of radians", [Differentiable], "sine">;
def Weft_CosOp : Weft_UnaryOp<"cos", "cosine of radians", [Differentiable], "cosine">;
def Weft_TanOp : Weft_UnaryOp<"tan", "tangent of radians", [Differentiable]>;
def Weft_ReluOp : Weft_UnaryOp<"relu", "max(x, 0); derivative 0 at 0, as jax.nn.relu", [Differentiable], "maximum with 0">;
def Weft_NotOp : Weft_UnaryOp<"not", "bitwise (logical on i1) complement">;
def Weft_PopulationCountOp : Weft_UnaryOp<"population_count", "how many bits are set", [], "popcnt">;
def Weft_CountLeadingZerosOp : Weft_UnaryOp<"count_leading_zeros", "zeros above the highest set bit; the width where none is">;
def Weft_ReducePrecisionOp : Weft_ShardedOp<"reduce_precision", [Elementwise, AllElementTypesMatch<["input", "result"]>, AllShapesMatch<["input", "result"]>, Differentiable]> {
  let summary = "rounds to a float type of so many exponent and mantissa bits and back; derivative likewise rounded";
  let arguments = (ins Weft_Tensor:$input, I64Attr:$exponent_bits, I64Attr:$mantissa_bits);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$input `to` `e` $exponent_bits `m` $mantissa_bits attr-dict `:` custom<UnaryTypes>(type($input), type($result))";
  let hasVerifier = 1; // (C1) floats; (C2) exponent_bits >= 1, mantissa_bits >= 0
}

class Weft_BinaryOp<string mnemonic, string text, list<Trait> traits = [], string hlo = mnemonic>
    : Weft_ShardedOp<mnemonic, !listconcat([Elementwise, AllElementTypesMatch<["lhs", "rhs", "result"]>, AllShapesMatch<["lhs", "rhs", "result"]>], traits)> {
  let summary = text;
  let stablehlo = hlo;
  let arguments = (ins Weft_Tensor:$lhs, Weft_Tensor:$rhs);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` custom<BinaryTypes>(type($lhs), type($rhs), type($result))";
  let builders = [OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs), [{ build($_builder, $_state, lhs.getType(), lhs, rhs); }]>];
}
def Weft_AddOp : Weft_BinaryOp<"add", "x + y", [Differentiable, Commutative]> { let hasFolder = 1; }
def Weft_SubOp : Weft_BinaryOp<"sub", "x - y", [Differentiable], "subtract"> { let hasFolder = 1; }
def Weft_MulOp : Weft_BinaryOp<"mul", "x * y", [Differentiable, Commutative], "multiply"> { let hasFolder = 1; }
def Weft_DivOp : Weft_BinaryOp<"div", "x / y; integers truncate, unsigned where the type is", [Differentiable], "divide">;
def Weft_MaxOp : Weft_BinaryOp<"max", "larger of two, NaN if one is; ties share the gradient by halves, as jax.lax.max", [Differentiable, Commutative], "maximum">;
def Weft_MinOp : Weft_BinaryOp<"min", "smaller of two, NaN if one is; ties share the gradient by halves", [Differentiable, Commutative], "minimum">;
def Weft_PowOp : Weft_BinaryOp<"pow", "x ^ y", [Differentiable], "power">;
def Weft_RemOp : Weft_BinaryOp<"rem", "remainder with the sign of x", [Differentiable], "remainder">;
def Weft_AndOp : Weft_BinaryOp<"and", "bitwise and", [Commutative]>;
def Weft_OrOp : Weft_BinaryOp<"or", "bitwise or", [Commutative]>;
def Weft_XorOp : Weft_BinaryOp<"xor", "bitwise exclusive or", [Commutative]>;
def Weft_ShiftLeftOp : Weft_BinaryOp<"shift_left", "x * 2^y; 0 where y is not below the width">;
def Weft_ShiftRightLogicalOp : Weft_BinaryOp<"shift_right_logical", "unsigned shift; 0 where y is not below the width">;
def Weft_ShiftRightArithmeticOp : Weft_BinaryOp<"shift_right_arithmetic", "signed shift; all sign bits where y is not below the width">;
def Weft_Atan2Op : Weft_BinaryOp<"atan2", "angle of the point (y, x), from its operands y, x", [Differentiable]>;

def Weft_CompareOp : Weft_ShardedOp<"compare", [Elementwise, AllElementTypesMatch<["lhs", "rhs"]>, AllShapesMatch<["lhs", "rhs", "result"]>, Differentiable]> {
  let summary = "elementwise comparison to i1";
  let derivative = "none";
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
def Weft_ClampOp : Weft_ShardedOp<"clamp", [Elementwise, AllElementTypesMatch<["low", "input", "high", "result"]>, AllShapesMatch<["low", "input", "high", "result"]>, Differentiable]> {
  let summary = "min(max(input, low), high); bounds are broadcast first";
  let derivative = "to the input strictly between the bounds, else to the bound that it passed, as jax.lax.clamp";
  let arguments = (ins Weft_Tensor:$low, Weft_Tensor:$input, Weft_Tensor:$high);
  let results = (outs Weft_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$low, "::mlir::Value":$input, "::mlir::Value":$high), [{ build($_builder, $_state, input.getType(), low, input, high); }]>];
  let assemblyFormat = "$low `,` $input `,` $high attr-dict `:` type($low) `,` type($input) `,` type($high) `->` type($result)";
}
def Weft_IsFiniteOp : Weft_ShardedOp<"is_finite", [Elementwise, AllShapesMatch<["input", "result"]>, Differentiable]> {
  let summary = "neither infinite nor NaN";
  let derivative = "none";
  let arguments = (ins Weft_Tensor:$input);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1; // (C1) from floats to i1
}
def Weft_ConvertOp : Weft_ShardedOp<"convert", [Elementwise, AllShapesMatch<["input", "result"]>, Differentiable]> {
  let summary = "to another element type; float to integer truncates, i1 is 0 or 1; no gradient through integers";
  let arguments = (ins Weft_Tensor:$input);
  let results = (outs Weft_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "::mlir::Type":$elementType)>];
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}
def Weft_BitcastOp : Weft_ShardedOp<"bitcast", [Elementwise, AllShapesMatch<["input", "result"]>]> {
  let stablehlo = "bitcast_convert";
  let summary = "the same bits as another element type of equal width";
  let arguments = (ins Weft_Tensor:$input);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1; // (C1) element types have the same width
}

#endif // WEFT_DIALECTS_WEFT_ELEMENTWISEOPS
