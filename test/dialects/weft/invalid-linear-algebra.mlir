// RUN: weft-opt --split-input-file --verify-diagnostics %s

func.func @cholesky_c1(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{takes square matrices, not}}
  %0 = weft.cholesky %x : tensor<4x6xf32>
  return
}

// -----

func.func @cholesky_c2(%x: tensor<4x4xi32>) {
  // expected-error@+1 {{computes with floats, not with}}
  %0 = weft.cholesky %x : tensor<4x4xi32>
  return
}

// -----

func.func @triangular_solve_c1(%a: tensor<4x4xf32>, %b: tensor<3x4xf32>) {
  // expected-error@+1 {{matrices 'tensor<4x4xf32>' do not fit rows of}}
  %0 = weft.triangular_solve %a, %b {lower} : tensor<4x4xf32>, tensor<3x4xf32> -> tensor<3x4xf32>
  return
}

// -----

func.func @triangular_solve_c2(%a: tensor<2x4x4xf32>, %b: tensor<3x4x4xf32>) {
  // expected-error@+1 {{batch dimensions differ:}}
  %0 = weft.triangular_solve %a, %b : tensor<2x4x4xf32>, tensor<3x4x4xf32> -> tensor<3x4x4xf32>
  return
}

// -----

func.func @triangular_solve_c3(%a: tensor<4x4xi32>, %b: tensor<4x4xi32>) {
  // expected-error@+1 {{computes with floats, not with}}
  %0 = weft.triangular_solve %a, %b : tensor<4x4xi32>, tensor<4x4xi32> -> tensor<4x4xi32>
  return
}

// -----

func.func @fft_c1(%x: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{dim 1 is out of the rank 1}}
  %0 = weft.fft fft %x dim 1 : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  return
}

// -----

func.func @fft_c2(%x: tensor<4xf32>) {
  // expected-error@+1 {{ifft is of complex floats, not of 'f32'}}
  %0 = weft.fft ifft %x dim 0 : tensor<4xf32> -> tensor<4xcomplex<f32>>
  return
}

// -----

func.func @fft_c3(%x: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{a length of 9 does not fit 4 elements of the input}}
  %0 = weft.fft irfft %x dim 0 : tensor<4xcomplex<f32>> -> tensor<9xf32>
  return
}

// -----

func.func @fft_rank(%x: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{has 1 dimensions, but the result 2}}
  %0 = weft.fft irfft %x dim 0 : tensor<4xcomplex<f32>> -> tensor<6x1xf32>
  return
}

// -----

func.func @fft_elements(%x: tensor<4xf32>) {
  // expected-error@+1 {{gives 'complex<f32>', not 'f32'}}
  %0 = weft.fft rfft %x dim 0 : tensor<4xf32> -> tensor<3xf32>
  return
}

// -----

func.func @lapack_c1(%a: tensor<4x4xf64>) {
  // expected-error@+1 {{no routine of LAPACK is called "dgetrg"; known, each with s, d, c or z in front: getrf, potrf, trsm}}
  %0 = weft.lapack "dgetrg"(%a) : (tensor<4x4xf64>) -> tensor<4x4xf64>
  return
}

// -----

func.func @lapack_c1_complex(%a: tensor<4x4xcomplex<f64>>, %t: tensor<4xcomplex<f64>>) {
  // expected-error@+1 {{no routine of LAPACK is called "zorgqr"}}
  %0 = weft.lapack "zorgqr"(%a, %t) : (tensor<4x4xcomplex<f64>>, tensor<4xcomplex<f64>>) -> tensor<4x4xcomplex<f64>>
  return
}

// -----

func.func @lapack_c2(%a: tensor<4x4xf32>) {
  // expected-error@+1 {{operand 0 of dpotrf is 'tensor<4x4xf32>', expected elements of 'f64'}}
  %0:2 = weft.lapack "dpotrf"(%a) options [76] : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<i32>)
  return
}

// -----

func.func @lapack_c2_result(%a: tensor<4x4xf64>) {
  // expected-error@+1 {{result 1 of dpotrf is 'tensor<i64>', expected elements of 'i32'}}
  %0:2 = weft.lapack "dpotrf"(%a) options [76] : (tensor<4x4xf64>) -> (tensor<4x4xf64>, tensor<i64>)
  return
}

// -----

func.func @lapack_c3(%a: tensor<4x3xf64>) {
  // expected-error@+1 {{dgetrf: has vectors of 4, expected 3 for matrices of 4 x 3}}
  %0:3 = weft.lapack "dgetrf"(%a) : (tensor<4x3xf64>) -> (tensor<4x3xf64>, tensor<4xi32>, tensor<i32>)
  return
}

// -----

func.func @lapack_c3_shape(%a: tensor<4x3xf64>) {
  // expected-error@+1 {{operand 0 has matrices of shape [4, 3], which is no "nn" of the other arrays' sizes}}
  %0:2 = weft.lapack "dpotrf"(%a) options [76] : (tensor<4x3xf64>) -> (tensor<4x3xf64>, tensor<i32>)
  return
}

// -----

func.func @lapack_c3_batch(%a: tensor<2x4x4xf64>) {
  // expected-error@+1 {{dpotrf has arrays whose batch dimensions differ}}
  %0:2 = weft.lapack "dpotrf"(%a) options [76] : (tensor<2x4x4xf64>) -> (tensor<2x4x4xf64>, tensor<3xi32>)
  return
}

// -----

func.func @lapack_c3_option(%a: tensor<4x4xf64>) {
  // expected-error@+1 {{dpotrf: option "uplo" is X, expected one of L, U}}
  %0:2 = weft.lapack "dpotrf"(%a) options [88] : (tensor<4x4xf64>) -> (tensor<4x4xf64>, tensor<i32>)
  return
}

// -----

func.func @lapack_c3_options(%a: tensor<4x4xf64>) {
  // expected-error@+1 {{dpotrf: has 0 options, expected 1}}
  %0:2 = weft.lapack "dpotrf"(%a) : (tensor<4x4xf64>) -> (tensor<4x4xf64>, tensor<i32>)
  return
}

// -----

func.func @lapack_c3_count(%a: tensor<4x4xf64>) {
  // expected-error@+1 {{dpotrf has 1 operands and 1 results, expected 1 and 2}}
  %0 = weft.lapack "dpotrf"(%a) options [76] : (tensor<4x4xf64>) -> tensor<4x4xf64>
  return
}

// -----

func.func @lapack_c3_rank(%a: tensor<4xf64>) {
  // expected-error@+1 {{dpotrf has an array with fewer dimensions than one matrix}}
  %0:2 = weft.lapack "dpotrf"(%a) options [76] : (tensor<4xf64>) -> (tensor<4xf64>, tensor<i32>)
  return
}

// -----

func.func @lapack_c3_side(%a: tensor<4x4xf64>, %b: tensor<3x5xf64>) {
  // expected-error@+1 {{dtrsm: has triangles of 4 rows, expected 3 by the other matrices}}
  %0 = weft.lapack "dtrsm"(%a, %b) options [76, 76, 78, 78] : (tensor<4x4xf64>, tensor<3x5xf64>) -> tensor<3x5xf64>
  return
}
