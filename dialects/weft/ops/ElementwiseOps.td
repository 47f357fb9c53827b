//===- ElementwiseOps.td - each result element from those at its position ----//

#ifndef WEFT_DIALECTS_WEFT_ELEMENTWISEOPS
#define WEFT_DIALECTS_WEFT_ELEMENTWISEOPS

include "weft/dialects/weft/OpClasses.td"

// `%r = weft.exp %x : tensor<4xf32>`: operand and result types are equal except
// for their layouts.
class Weft_UnaryOp<string mnemonic, string text, list<Trait> traits = [], string hlo = mnemonic, Type tensor = Weft_Tensor>
    : Weft_ShardedOp<mnemonic, !listconcat([Elementwise, AllElementTypesMatch<["input", "result"]>, AllShapesMatch<["input", "result"]>], traits)> {
  let summary = text;
  let stablehlo = hlo;
  let arguments = (ins tensor:$input);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` custom<UnaryTypes>(type($input), type($result))";
  let builders = [OpBuilder<(ins "::mlir::Value":$input), [{ build($_builder, $_state, input.getType(), input); }]>];
}

def Weft_NegOp : Weft_UnaryOp<"neg", "-x", [Differentiable], "negate">;
def Weft_SignOp : Weft_UnaryOp<"sign", "-1, 0 or 1; x / |x| of complex numbers; derivative 0", [Differentiable]>;
def Weft_ExpOp : Weft_UnaryOp<"exp", "e^x", [Differentiable, Costly], "exponential", Weft_InexactTensor>;
def Weft_Expm1Op : Weft_UnaryOp<"expm1", "e^x - 1", [Differentiable, Costly], "exponential_minus_one", Weft_InexactTensor>;
def Weft_LogOp : Weft_UnaryOp<"log", "natural logarithm", [Differentiable, Costly], "log", Weft_InexactTensor>;
def Weft_Log1pOp : Weft_UnaryOp<"log1p", "log(1 + x)", [Differentiable, Costly], "log_plus_one", Weft_InexactTensor>;
def Weft_SqrtOp : Weft_UnaryOp<"sqrt", "square root", [Differentiable], "sqrt", Weft_InexactTensor>;
def Weft_RsqrtOp : Weft_UnaryOp<"rsqrt", "1 / sqrt(x)", [Differentiable], "rsqrt", Weft_InexactTensor>;
def Weft_TanhOp : Weft_UnaryOp<"tanh", "hyperbolic tangent", [Differentiable, Costly], "tanh", Weft_InexactTensor>;
def Weft_LogisticOp : Weft_UnaryOp<"logistic", "1 / (1 + e^-x)", [Differentiable, Costly], "logistic", Weft_InexactTensor>;
def Weft_ErfOp : Weft_UnaryOp<"erf", "error function", [Differentiable, Costly], "chlo.erf", Weft_FloatTensor>;
def Weft_ErfcOp : Weft_UnaryOp<"erfc", "1 - erf(x), exact where erf(x) is near 1", [Differentiable, Costly], "chlo.erfc", Weft_FloatTensor>;
def Weft_FloorOp : Weft_UnaryOp<"floor", "largest integer not above x; derivative 0", [Differentiable], "floor", Weft_FloatTensor>;
def Weft_CeilOp : Weft_UnaryOp<"ceil", "least integer not below x; derivative 0", [Differentiable], "ceil", Weft_FloatTensor>;
def Weft_RoundOp : Weft_UnaryOp<"round", "nearest integer, halves away from 0; derivative 0", [Differentiable], "round_nearest_afz", Weft_FloatTensor>;
def Weft_RoundEvenOp : Weft_UnaryOp<"round_even", "nearest integer, halves to even; derivative 0", [Differentiable], "round_nearest_even", Weft_FloatTensor>;
def Weft_CbrtOp : Weft_UnaryOp<"cbrt", "cube root", [Differentiable, Costly], "cbrt", Weft_FloatTensor>;
def Weft_SinOp : Weft_UnaryOp<"sin", "sine of radians", [Differentiable, Costly], "sine", Weft_InexactTensor>;
def Weft_CosOp : Weft_UnaryOp<"cos", "cosine of radians", [Differentiable, Costly], "cosine", Weft_InexactTensor>;
def Weft_TanOp : Weft_UnaryOp<"tan", "tangent of radians", [Differentiable, Costly], "tan", Weft_InexactTensor>;
def Weft_ReluOp : Weft_UnaryOp<"relu", "max(x, 0); derivative 0 at 0, as jax.nn.relu", [Differentiable], "maximum with 0", Weft_RealTensor>;
def Weft_StopGradientOp : Weft_UnaryOp<"stop_gradient", "x, which derivatives take for a constant", [Differentiable], "">;
def Weft_NotOp : Weft_UnaryOp<"not", "bitwise (logical on i1) complement", [], "not", Weft_IntegerTensor>;
def Weft_PopulationCountOp : Weft_UnaryOp<"population_count", "how many bits are set", [], "popcnt", Weft_IntegerTensor>;
def Weft_CountLeadingZerosOp : Weft_UnaryOp<"count_leading_zeros", "zeros above the highest set bit; the width where none is", [], "count_leading_zeros", Weft_IntegerTensor>;
def Weft_ReducePrecisionOp : Weft_ShardedOp<"reduce_precision", [Elementwise, AllElementTypesMatch<["input", "result"]>, AllShapesMatch<["input", "result"]>, Differentiable]> {
  let summary = "rounds to a float type with these numbers of exponent and mantissa bits; the derivative is rounded likewise";
  let arguments = (ins Weft_Tensor:$input, I64Attr:$exponent_bits, I64Attr:$mantissa_bits);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$input `to` `e` $exponent_bits `m` $mantissa_bits attr-dict `:` custom<UnaryTypes>(type($input), type($result))";
  let hasVerifier = 1; // (C1) floats; (C2) exponent_bits >= 1, mantissa_bits >= 0
}

// An op from complex numbers to the type of their components; abs also takes
// real numbers.
class Weft_ComponentOp<string mnemonic, string text, string gradient> : Weft_ShardedOp<mnemonic, [Elementwise, AllShapesMatch<["input", "result"]>, Differentiable]> {
  let summary = text;
  let derivative = gradient;
  let arguments = (ins Weft_Tensor:$input);
  let results = (outs Weft_RealTensor:$result);
  let assemblyFormat = "$input attr-dict `:` custom<UnaryTypes>(type($input), type($result))";
  let builders = [OpBuilder<(ins "::mlir::Value":$input)>];
  let hasVerifier = 1;
}
def Weft_AbsOp : Weft_ComponentOp<"abs", "|x|, real also of complex x", "1 from 0 on, else -1; conj(x) / |x| of complex x, as JAX's"> {
  let description = "(C1) the result's elements are the input's, of complex numbers their parts'.";
}
def Weft_RealOp : Weft_ComponentOp<"real", "real part of complex numbers", "complex(grad, 0)"> {
  let description = "(C1) from complex numbers to the type of their parts.";
}
def Weft_ImagOp : Weft_ComponentOp<"imag", "imaginary part of complex numbers", "complex(0, -grad), as JAX's"> {
  let description = "(C1) from complex numbers to the type of their parts.";
}
def Weft_ConjOp : Weft_UnaryOp<"conj", "real part with the negative imaginary part; a real number itself", [Differentiable], "chlo.conj">;
def Weft_ComplexOp : Weft_ShardedOp<"complex", [Elementwise, AllElementTypesMatch<["real", "imag"]>, AllShapesMatch<["real", "imag", "result"]>, Differentiable]> {
  let summary = "complex numbers of real and imaginary parts";
  let derivative = "real(grad) and -imag(grad), as JAX's";
  let arguments = (ins Weft_Tensor:$real, Weft_Tensor:$imag);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$real `,` $imag attr-dict `:` type($real) `,` type($imag) `->` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Value":$real, "::mlir::Value":$imag)>];
  let hasVerifier = 1; // (C1) from floats to complex numbers of them
}

class Weft_BinaryOp<string mnemonic, string text, list<Trait> traits = [], string hlo = mnemonic, Type tensor = Weft_Tensor>
    : Weft_ShardedOp<mnemonic, !listconcat([Elementwise, AllElementTypesMatch<["lhs", "rhs", "result"]>, AllShapesMatch<["lhs", "rhs", "result"]>], traits)> {
  let summary = text;
  let stablehlo = hlo;
  let arguments = (ins tensor:$lhs, tensor:$rhs);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` custom<BinaryTypes>(type($lhs), type($rhs), type($result))";
  let builders = [OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs), [{ build($_builder, $_state, lhs.getType(), lhs, rhs); }]>];
}
def Weft_AddOp : Weft_BinaryOp<"add", "x + y", [Differentiable, Commutative]> { let hasFolder = 1; }
def Weft_SubOp : Weft_BinaryOp<"sub", "x - y", [Differentiable], "subtract"> { let hasFolder = 1; }
def Weft_MulOp : Weft_BinaryOp<"mul", "x * y", [Differentiable, Commutative], "multiply"> { let hasFolder = 1; }
def Weft_DivOp : Weft_BinaryOp<"div", "x / y; integers truncate, unsigned where the type is", [Differentiable], "divide">;
def Weft_MaxOp : Weft_BinaryOp<"max", "larger of two, NaN if one is; ties share the gradient by halves, as jax.lax.max", [Differentiable, Commutative], "maximum", Weft_RealTensor>;
def Weft_MinOp : Weft_BinaryOp<"min", "smaller of two, NaN if one is; ties share the gradient by halves", [Differentiable, Commutative], "minimum", Weft_RealTensor>;
def Weft_PowOp : Weft_BinaryOp<"pow", "x ^ y", [Differentiable, Costly], "power">;
def Weft_RemOp : Weft_BinaryOp<"rem", "remainder with the sign of x", [Differentiable], "remainder", Weft_RealTensor>;
def Weft_AndOp : Weft_BinaryOp<"and", "bitwise and", [Commutative], "and", Weft_IntegerTensor>;
def Weft_OrOp : Weft_BinaryOp<"or", "bitwise or", [Commutative], "or", Weft_IntegerTensor>;
def Weft_XorOp : Weft_BinaryOp<"xor", "bitwise exclusive or", [Commutative], "xor", Weft_IntegerTensor>;
def Weft_ShiftLeftOp : Weft_BinaryOp<"shift_left", "x * 2^y; 0 where y is not below the width", [], "shift_left", Weft_IntegerTensor>;
def Weft_ShiftRightLogicalOp : Weft_BinaryOp<"shift_right_logical", "unsigned shift; 0 where y is not below the width", [], "shift_right_logical", Weft_IntegerTensor>;
def Weft_ShiftRightArithmeticOp : Weft_BinaryOp<"shift_right_arithmetic", "signed shift; all sign bits where y is not below the width", [], "shift_right_arithmetic", Weft_IntegerTensor>;
def Weft_Atan2Op : Weft_BinaryOp<"atan2", "angle of the point (y, x), from its operands y, x", [Differentiable, Costly], "atan2", Weft_FloatTensor>;

def Weft_CompareOp : Weft_ShardedOp<"compare", [Elementwise, AllElementTypesMatch<["lhs", "rhs"]>, AllShapesMatch<["lhs", "rhs", "result"]>, Differentiable]> {
  let summary = "elementwise comparison to i1";
  let derivative = "none";
  let arguments = (ins Weft_CompareKindAttr:$kind, Weft_Tensor:$lhs, Weft_Tensor:$rhs);
  let results = (outs Weft_Tensor:$result);
  let builders = [OpBuilder<(ins "::weft::CompareKind":$kind, "::mlir::Value":$lhs, "::mlir::Value":$rhs)>];
  let assemblyFormat = "`` $kind $lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
  // (C1) the result's elements are i1; (C2) complex numbers have EQ and NE
  // only.
  let hasVerifier = 1;
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
  let arguments = (ins Weft_RealTensor:$low, Weft_RealTensor:$input, Weft_RealTensor:$high);
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
  let summary = "to another element type; float to integer truncates, i1 is 0 or 1, of complex numbers the real part; no gradient through integers";
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
