//===- LinearAlgebraOps.td - factorisation, solving, Fourier transforms ------//

#ifndef WEFT_DIALECTS_WEFT_LINEARALGEBRAOPS
#define WEFT_DIALECTS_WEFT_LINEARALGEBRAOPS

include "weft/dialects/weft/ops/FftKind.td"
include "weft/dialects/weft/OpClasses.td"

def Weft_CholeskyOp : Weft_ShardedOp<"cholesky", [AllElementTypesMatch<["input", "result"]>, AllShapesMatch<["input", "result"]>, Differentiable, OwnLoopNest]> {
  let summary = "the lower triangular L with L L^H = input, or the upper U with U^H U = input; 0 in the other half";
  let factors = "pass, replicated";
  let derivative = "for symmetric (Hermitian) changes of the input, as jax.lax.linalg.cholesky_p";
  let description = [{
    `%l = weft.cholesky %a : tensor<8x4x4xf32>`: of each matrix of the last two
    dimensions, whose lower half alone is read; with `upper` the factor is U,
    and the upper half is read. A matrix that is not positive definite gives
    NaN.
    (C1) the last two dimensions are equal; (C2) elements are real or complex
    floats.
  }];
  let arguments = (ins Weft_Tensor:$input, UnitAttr:$upper);
  let results = (outs Weft_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$input, CArg<"bool", "false">:$upper), [{
    build($_builder, $_state, input.getType(), input, upper);
  }]>];
  let assemblyFormat = "(`upper` $upper^)? $input attr-dict `:` custom<UnaryTypes>(type($input), type($result))";
  let hasVerifier = 1;
}

def Weft_TriangularSolveOp : Weft_ShardedOp<"triangular_solve", [AllElementTypesMatch<["matrix", "rhs", "result"]>, AllShapesMatch<["rhs", "result"]>, Differentiable, OwnLoopNest]> {
  let summary = "x of op(matrix) x = rhs, or of x op(matrix) = rhs with `right`";
  let factors = "pass, replicated";
  let description = [{
    `%x = weft.triangular_solve %a, %b {lower} : tensor<8x4x4xf32>, tensor<8x4x2xf32> -> tensor<8x4x2xf32>`.
    Of the matrix the lower half alone is read with `lower`, else the upper one;
    with `unit_diagonal` its diagonal is taken as 1. op is the transpose with
    `transposed`, the conjugate with `conjugated`, with both the adjoint.
    (C1) the matrix's last two dimensions are equal, and to the rhs's rows
    (columns with `right`); (C2) batch dimensions are equal; (C3) elements are
    real or complex floats.
  }];
  let arguments = (ins Weft_Tensor:$matrix, Weft_Tensor:$rhs, UnitAttr:$right, UnitAttr:$lower, UnitAttr:$unit_diagonal, UnitAttr:$transposed, UnitAttr:$conjugated);
  let results = (outs Weft_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$matrix, "::mlir::Value":$rhs, "bool":$right, "bool":$lower, "bool":$unitDiagonal, "bool":$transposed, CArg<"bool", "false">:$conjugated), [{
    build($_builder, $_state, rhs.getType(), matrix, rhs, right, lower, unitDiagonal, transposed, conjugated);
  }]>];
  let assemblyFormat = "$matrix `,` $rhs attr-dict `:` type($matrix) `,` type($rhs) `->` type($result)";
  let hasVerifier = 1;
}

def Weft_FftOp : Weft_ShardedOp<"fft", [Differentiable, OwnLoopNest]> {
  let summary = "Fourier transform of one dimension, its inverse, and those from and to real numbers";
  let factors = "pass, replicated";
  let description = [{
    `%y = weft.fft rfft %x dim 1 : tensor<4x8xf32> -> tensor<4x5xcomplex<f32>>`.
    Y[k] = sum over j of X[j] exp(-2 pi i j k / n); `ifft` has the other sign and
    divides by n. `rfft` gives the first n/2 + 1 elements, as the others are
    their mirror images; `irfft` goes back: n is the result's size, the
    imaginary parts of the first and, for even n, the last element count for
    nothing. StableHLO's op with several lengths is one such op for each
    (`buildFft`), so that only the dimension at hand is replicated: between two
    of them a sharding may move from one dimension to the other.
    (C1) dim lies in the rank; (C2) elements are complex floats, of rfft real
    ones; (C3) the result follows, n is at least 1.
  }];
  let arguments = (ins Weft_FftKind:$kind, Weft_Tensor:$input, I64Attr:$dim);
  let results = (outs Weft_Tensor:$result);
  let builders = [OpBuilder<(ins "::weft::FftKind":$kind, "::mlir::Value":$input, "int64_t":$dim, "int64_t":$length)>];
  let assemblyFormat = "$kind $input `dim` $dim attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The length n, of the side that is not halved.
    int64_t getLength();
  }];
}

def Weft_LapackOp : Weft_ShardedOp<"lapack"> {
  let summary = "a routine of LAPACK, by a library that is found when the program runs";
  let stablehlo = "";
  let factors = "pass";
  let description = [{
    `%lu, %pivots, %info = weft.lapack "dgetrf"(%a) : (tensor<8x4x3xf64>) -> (tensor<8x4x3xf64>, tensor<8x3xi32>, tensor<8xi32>)`,
    or `%l, %info = weft.lapack "spotrf"(%a) options [76] : ...` with the letter L
    for the lower triangle. `base/lapack/Routine.h` has the table of routines,
    with their arrays and options; the meaning is LAPACK's, of each matrix of
    the batch. Batch dimensions may be sharded, and right-hand sides of a
    triangular system. No kernel contains the op: a plan launches the library's
    routine.
    (C1) the routine is one of the table; (C2) elements are those of its arrays;
    (C3) sizes and options are ones that it takes.
  }];
  let arguments = (ins StrAttr:$routine, Variadic<Weft_Tensor>:$inputs, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$options);
  let results = (outs Variadic<Weft_Tensor>:$results);
  let assemblyFormat = "$routine `(` $inputs `)` (`options` $options^)? attr-dict `:` functional-type($inputs, $results)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The call with its sizes.
    ::weft::Result<::weft::lapack::Call> getCall();
  }];
}

#endif // WEFT_DIALECTS_WEFT_LINEARALGEBRAOPS
