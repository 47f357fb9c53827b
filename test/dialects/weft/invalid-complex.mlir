// RUN: weft-opt --split-input-file --verify-diagnostics %s

func.func @abs_c1(%x: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{parts of 'complex<f32>' are 'f32', not 'f64'}}
  %0 = weft.abs %x : (tensor<4xcomplex<f32>>) -> tensor<4xf64>
  return
}

// -----

func.func @real_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{only complex numbers have parts, not 'f32'}}
  %0 = weft.real %x : tensor<4xf32>
  return
}

// -----

func.func @imag_c1(%x: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{parts of 'complex<f32>' are 'f32', not 'f16'}}
  %0 = weft.imag %x : (tensor<4xcomplex<f32>>) -> tensor<4xf16>
  return
}

// -----

func.func @complex_c1(%x: tensor<4xf64>) {
  // expected-error@+1 {{parts of 'complex<f32>' are 'f32', not 'f64'}}
  %0 = weft.complex %x, %x : tensor<4xf64>, tensor<4xf64> -> tensor<4xcomplex<f32>>
  return
}

// -----

func.func @compare_c2(%x: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{complex numbers have no order; compare them by eq or ne, not by lt}}
  %0 = weft.compare lt %x, %x : tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>> -> tensor<4xi1>
  return
}

// -----

func.func @max_of_complex(%x: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{must be ranked tensor of integer or floating-point values, but got}}
  %0 = weft.max %x, %x : tensor<4xcomplex<f32>>
  return
}

// -----

func.func @reduce_c3(%x: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{complex numbers have no max; combine them by sum or prod}}
  %0 = weft.reduce max %x dims [0] : tensor<4xcomplex<f32>> -> tensor<complex<f32>>
  return
}

// -----

func.func @reduce_window_c4(%x: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{complex numbers have no min; combine them by sum or prod}}
  %0 = weft.reduce_window min %x {window = array<i64: 2>, strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, base_dilation = array<i64: 1>, window_dilation = array<i64: 1>} : tensor<4xcomplex<f32>> -> tensor<3xcomplex<f32>>
  return
}

// -----

func.func @scatter_c3(%x: tensor<4xcomplex<f32>>, %i: tensor<2x1xi32>, %u: tensor<2xcomplex<f32>>) {
  // expected-error@+1 {{complex numbers have no max; combine them by sum or prod}}
  %0 = weft.scatter max %x at %i with %u {inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : tensor<4xcomplex<f32>>, tensor<2x1xi32>, tensor<2xcomplex<f32>> -> tensor<4xcomplex<f32>>
  return
}

// -----

func.func @cumulative_c3(%x: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{complex numbers have no max; combine them by sum or prod}}
  %0 = weft.cumulative max %x dim 0 : tensor<4xcomplex<f32>>
  return
}

// -----

func.func @sort_c3(%x: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{complex numbers have no order, but a key is}}
  %0 = weft.sort %x dim 0 keys 1 : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return
}
