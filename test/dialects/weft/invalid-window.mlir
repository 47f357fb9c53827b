// RUN: weft-opt --split-input-file --verify-diagnostics %s

func.func @reduce_window_c1(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{window has 1 entries for 2 dimensions}}
  %0 = weft.reduce_window sum %x {window = array<i64: 2>, strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, base_dilation = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>} : tensor<4x6xf32> -> tensor<3x5xf32>
  return
}

// -----

func.func @reduce_window_c2(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{strides of dimension 1 is 0, the least is 1}}
  %0 = weft.reduce_window sum %x {window = array<i64: 2, 2>, strides = array<i64: 1, 0>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, base_dilation = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>} : tensor<4x6xf32> -> tensor<3x5xf32>
  return
}

// -----

func.func @reduce_window_c3(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{the result's shape should be [3, 5], not [3, 6]}}
  %0 = weft.reduce_window sum %x {window = array<i64: 2, 2>, strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, base_dilation = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>} : tensor<4x6xf32> -> tensor<3x6xf32>
  return
}

// -----

func.func @select_and_scatter_c1(%x: tensor<4x6xf32>, %s: tensor<2x3xf32>) {
  // expected-error@+1 {{window has 1 entries for 2 dimensions}}
  %0 = weft.select_and_scatter ge %x, %s {window = array<i64: 2>, strides = array<i64: 2, 2>, low = array<i64: 0, 0>, high = array<i64: 0, 0>} : tensor<4x6xf32>, tensor<2x3xf32> -> tensor<4x6xf32>
  return
}

// -----

func.func @select_and_scatter_c2(%x: tensor<4x6xf32>, %s: tensor<2x3xf32>) {
  // expected-error@+1 {{window of dimension 0 is 0, the least is 1}}
  %0 = weft.select_and_scatter ge %x, %s {window = array<i64: 0, 2>, strides = array<i64: 2, 2>, low = array<i64: 0, 0>, high = array<i64: 0, 0>} : tensor<4x6xf32>, tensor<2x3xf32> -> tensor<4x6xf32>
  return
}

// -----

func.func @select_and_scatter_c3(%x: tensor<4x6xf32>, %s: tensor<2x3xf32>) {
  // expected-error@+1 {{there are [3, 3] windows, but the source is}}
  %0 = weft.select_and_scatter ge %x, %s {window = array<i64: 2, 2>, strides = array<i64: 1, 2>, low = array<i64: 0, 0>, high = array<i64: 0, 0>} : tensor<4x6xf32>, tensor<2x3xf32> -> tensor<4x6xf32>
  return
}

// -----

func.func @select_and_scatter_c4(%x: tensor<4x6xf32>, %s: tensor<2x3xf32>) {
  // expected-error@+1 {{selects with ge or le, not with lt}}
  %0 = weft.select_and_scatter lt %x, %s {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, low = array<i64: 0, 0>, high = array<i64: 0, 0>} : tensor<4x6xf32>, tensor<2x3xf32> -> tensor<4x6xf32>
  return
}

// -----

func.func @convolution_c1(%x: tensor<2x6x2xf32>, %w: tensor<3x2x4xf32>) {
  // expected-error@+1 {{once, not [0, 1, 1]}}
  %0 = weft.convolution %x, %w {lhs_dims = array<i64: 0, 1, 1>, rhs_dims = array<i64: 2, 1, 0>, result_dims = array<i64: 0, 2, 1>, strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, base_dilation = array<i64: 1>, window_dilation = array<i64: 1>} : tensor<2x6x2xf32>, tensor<3x2x4xf32> -> tensor<2x4x4xf32>
  return
}

// -----

func.func @convolution_c2(%x: tensor<2x6x2xf32>, %w: tensor<3x2x4xf32>) {
  // expected-error@+1 {{strides of dimension 0 is 0, the least is 1}}
  %0 = weft.convolution %x, %w {lhs_dims = array<i64: 0, 2, 1>, rhs_dims = array<i64: 2, 1, 0>, result_dims = array<i64: 0, 2, 1>, strides = array<i64: 0>, low = array<i64: 0>, high = array<i64: 0>, base_dilation = array<i64: 1>, window_dilation = array<i64: 1>} : tensor<2x6x2xf32>, tensor<3x2x4xf32> -> tensor<2x4x4xf32>
  return
}

// -----

func.func @convolution_c3(%x: tensor<2x6x2xf32>, %w: tensor<3x2x4xf32>) {
  // expected-error@+1 {{3 groups do not divide 2 input features}}
  %0 = weft.convolution %x, %w {lhs_dims = array<i64: 0, 2, 1>, rhs_dims = array<i64: 2, 1, 0>, result_dims = array<i64: 0, 2, 1>, strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, base_dilation = array<i64: 1>, window_dilation = array<i64: 1>, feature_groups = 3 : i64} : tensor<2x6x2xf32>, tensor<3x2x4xf32> -> tensor<2x4x4xf32>
  return
}

// -----

func.func @convolution_c3_both(%x: tensor<2x6x2xf32>, %w: tensor<3x2x4xf32>) {
  // expected-error@+1 {{has 2 feature groups and 2 batch groups, one is 1}}
  %0 = weft.convolution %x, %w {lhs_dims = array<i64: 0, 2, 1>, rhs_dims = array<i64: 2, 1, 0>, result_dims = array<i64: 0, 2, 1>, strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, base_dilation = array<i64: 1>, window_dilation = array<i64: 1>, feature_groups = 2 : i64, batch_groups = 2 : i64} : tensor<2x6x2xf32>, tensor<3x2x4xf32> -> tensor<2x4x4xf32>
  return
}

// -----

func.func @convolution_c4(%x: tensor<2x6x2xf32>, %w: tensor<3x2x4xf32>) {
  // expected-error@+1 {{rhs has 2 input features, but lhs 1}}
  %0 = weft.convolution %x, %w {lhs_dims = array<i64: 0, 2, 1>, rhs_dims = array<i64: 2, 1, 0>, result_dims = array<i64: 0, 2, 1>, strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, base_dilation = array<i64: 1>, window_dilation = array<i64: 1>, feature_groups = 2 : i64} : tensor<2x6x2xf32>, tensor<3x2x4xf32> -> tensor<2x4x4xf32>
  return
}

// -----

func.func @convolution_c4_shape(%x: tensor<2x6x2xf32>, %w: tensor<3x2x4xf32>) {
  // expected-error@+1 {{the result's shape should be [2, 4, 4], not [2, 5, 4]}}
  %0 = weft.convolution %x, %w {lhs_dims = array<i64: 0, 2, 1>, rhs_dims = array<i64: 2, 1, 0>, result_dims = array<i64: 0, 2, 1>, strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, base_dilation = array<i64: 1>, window_dilation = array<i64: 1>} : tensor<2x6x2xf32>, tensor<3x2x4xf32> -> tensor<2x5x4xf32>
  return
}

// -----

func.func @convolution_c5(%x: tensor<2x6x2xf32>, %w: tensor<3x2x4xf32>) {
  // expected-error@+1 {{operand 0 has elements of 'f32', but the result of 'f16', which does not have all numbers of 'f32'}}
  %0 = weft.convolution %x, %w {lhs_dims = array<i64: 0, 2, 1>, rhs_dims = array<i64: 2, 1, 0>, result_dims = array<i64: 0, 2, 1>, strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, base_dilation = array<i64: 1>, window_dilation = array<i64: 1>} : tensor<2x6x2xf32>, tensor<3x2x4xf32> -> tensor<2x4x4xf16>
  return
}

// -----

func.func @reduce_window_c5(%x: tensor<4xi16>) {
  // expected-error@+1 {{operand 0 has elements of 'i16', but the result of 'i8', which does not have all numbers of 'i16'}}
  %0 = weft.reduce_window sum %x {window = array<i64: 2>, strides = array<i64: 2>, low = array<i64: 0>, high = array<i64: 0>, base_dilation = array<i64: 1>, window_dilation = array<i64: 1>} : tensor<4xi16> -> tensor<2xi8>
  return
}

// -----

func.func @reduce_window_padding(%x: tensor<4xf32>) {
  // expected-error@+1 {{windows of dimension 0 reach over 9223372036854775807 elements, a tensor has at most 9007199254740992; lower the padding, stride or dilation}}
  %0 = weft.reduce_window sum %x {window = array<i64: 1>, strides = array<i64: 1>, low = array<i64: 9223372036854775807>, high = array<i64: 9223372036854775807>, base_dilation = array<i64: 1>, window_dilation = array<i64: 1>} : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

// (4 - 1) * 2^62 would be a negative number, and the result empty.
func.func @reduce_window_dilation(%x: tensor<4xf32>) {
  // expected-error@+1 {{windows of dimension 0 reach over 9223372036854775807 elements}}
  %0 = weft.reduce_window sum %x {window = array<i64: 1>, strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, base_dilation = array<i64: 4611686018427387904>, window_dilation = array<i64: 1>} : tensor<4xf32> -> tensor<0xf32>
  return
}

// -----

func.func @select_and_scatter_padding(%x: tensor<4xf32>, %s: tensor<2xf32>) {
  // expected-error@+1 {{windows of dimension 0 reach over -9223372036854775808 elements}}
  %0 = weft.select_and_scatter ge %x, %s {window = array<i64: 1>, strides = array<i64: 1>, low = array<i64: -9223372036854775808>, high = array<i64: 0>} : tensor<4xf32>, tensor<2xf32> -> tensor<4xf32>
  return
}
