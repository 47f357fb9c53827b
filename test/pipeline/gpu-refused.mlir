// Kernels that the GPU generator does not take are refused by name.
// REQUIRES: nvptx
// RUN: weft-opt %s --split-input-file --verify-diagnostics --weft-choose-nests=target=cuda:sm_90a --weft-print-assembly=target=cuda:sm_90a -o /dev/null

// expected-error @+1 {{kernel 'two' has no code for cuda:sm_90a: its reductions give tensor<8xf32> and tensor<f32>, rows of two kinds}}
func.func private @two(%x: tensor<8x16xf32>) -> tensor<f32> attributes {weft.kernel = #weft.kernel<reduce>} {
  %0 = weft.reduce sum %x dims [1] : tensor<8x16xf32> -> tensor<8xf32>
  %1 = weft.reduce sum %0 dims [0] : tensor<8xf32> -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

// expected-error @+1 {{kernel 'turned' has no code for cuda:sm_90a: weft.transpose reads results of a reduction in other rows}}
func.func private @turned(%x: tensor<8x8x4xf32>) -> tensor<8x8xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.reduce sum %x dims [2] : tensor<8x8x4xf32> -> tensor<8x8xf32>
  %1 = weft.transpose %0 [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// -----

// expected-error @+1 {{kernel 'across' has no code for cuda:sm_90a: weft.broadcast reads results of a reduction in other rows}}
func.func private @across(%x: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.reduce sum %x dims [1] : tensor<8x8xf32> -> tensor<8xf32>
  %1 = weft.broadcast %0 dims [1] : tensor<8xf32> -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// -----

// expected-error @+1 {{kernel 'shapes' has no code for cuda:sm_90a: its result tensor<4xf32> has another shape than its first}}
func.func private @shapes(%x: tensor<8xf32>, %y: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>) attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.exp %x : tensor<8xf32>
  %1 = weft.exp %y : tensor<4xf32>
  return %0, %1 : tensor<8xf32>, tensor<4xf32>
}

// -----

// expected-error @+1 {{kernel 'inside' has no code for cuda:sm_90a: its result tensor<16x8xf32> does not begin with the dimensions of the rows}}
func.func private @inside(%x: tensor<8x4xf32>, %y: tensor<16x8xf32>) -> (tensor<8xf32>, tensor<16x8xf32>) attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.reduce sum %x dims [1] : tensor<8x4xf32> -> tensor<8xf32>
  %1 = weft.exp %y : tensor<16x8xf32>
  return %0, %1 : tensor<8xf32>, tensor<16x8xf32>
}
