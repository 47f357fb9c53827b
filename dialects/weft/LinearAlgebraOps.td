//===- LinearAlgebraOps.td - factorisation and solving -----------------------//

#ifndef WEFT_DIALECTS_WEFT_LINEARALGEBRAOPS
#define WEFT_DIALECTS_WEFT_LINEARALGEBRAOPS

include "weft/dialects/weft/OpClasses.td"

def Weft_CholeskyOp : Weft_ShardedOp<"cholesky", [AllElementTypesMatch<["input", "result"]>, AllShapesMatch<["input", "result"]>, Differentiable, ComputedWhole]> {
  let summary = "the lower triangular L with L L^T = input, or the upper U with U^T U = input; 0 in the other half";
  let factors = "pass, whole";
  let derivative = "for symmetric changes of the input, as jax.lax.linalg.cholesky_p";
  let description = [{
    `%l = weft.cholesky %a : tensor<8x4x4xf32>`: of each matrix of the last two
    dimensions, whose lower half alone is read; with `upper` the factor is U,
    and the upper half is read. What is not positive definite gives NaN.
    (C1) the last two dimensions are equal; (C2) elements are floats.
  }];
  let arguments = (ins Weft_Tensor:$input, UnitAttr:$upper);
  let results = (outs Weft_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$input, CArg<"bool", "false">:$upper), [{
    build($_builder, $_state, input.getType(), input, upper);
  }]>];
  let assemblyFormat = "(`upper` $upper^)? $input attr-dict `:` custom<UnaryTypes>(type($input), type($result))";
  let hasVerifier = 1;
}

def Weft_TriangularSolveOp : Weft_ShardedOp<"triangular_solve", [AllElementTypesMatch<["matrix", "rhs", "result"]>, AllShapesMatch<["rhs", "result"]>, Differentiable, ComputedWhole]> {
  let summary = "x of op(matrix) x = rhs, or of x op(matrix) = rhs with `right`";
  let factors = "pass, whole";
  let description = [{
    `%x = weft.triangular_solve %a, %b {lower} : tensor<8x4x4xf32>, tensor<8x4x2xf32> -> tensor<8x4x2xf32>`.
    Of the matrix the lower half alone is read with `lower`, else the upper one;
    with `unit_diagonal` its diagonal is taken as 1. op is the transpose with
    `transposed`.
    (C1) the matrix's last two dimensions are equal, and to the rhs's rows
    (columns with `right`); (C2) batch dimensions are equal; (C3) elements are
    floats.
  }];
  let arguments = (ins Weft_Tensor:$matrix, Weft_Tensor:$rhs, UnitAttr:$right, UnitAttr:$lower, UnitAttr:$unit_diagonal, UnitAttr:$transposed);
  let results = (outs Weft_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$matrix, "::mlir::Value":$rhs, "bool":$right, "bool":$lower, "bool":$unitDiagonal, "bool":$transposed), [{
    build($_builder, $_state, rhs.getType(), matrix, rhs, right, lower, unitDiagonal, transposed);
  }]>];
  let assemblyFormat = "$matrix `,` $rhs attr-dict `:` type($matrix) `,` type($rhs) `->` type($result)";
  let hasVerifier = 1;
}

#endif // WEFT_DIALECTS_WEFT_LINEARALGEBRAOPS
