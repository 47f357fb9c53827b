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
