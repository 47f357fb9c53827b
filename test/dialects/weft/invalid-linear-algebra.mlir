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
