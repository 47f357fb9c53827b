// Attention from one array of queries, keys and values, its output projection and their gradients, of f32: slices, heads that
// are transposed and joined, and one array for two operands.
func.func public @main(%qkv: tensor<2x64x192xf32>, %w: tensor<64x64xf32>, %g: tensor<2x64x64xf32>)
    -> (tensor<2x4x64x64xf32>, tensor<2x64x64xf32>, tensor<64x64xf32>, tensor<2x64x4x16xf32>) {
  %0 = stablehlo.reshape %qkv : (tensor<2x64x192xf32>) -> tensor<2x64x3x4x16xf32>
  %1 = stablehlo.slice %0 [0:2, 0:64, 0:1, 0:4, 0:16] : (tensor<2x64x3x4x16xf32>) -> tensor<2x64x1x4x16xf32>
  %q = stablehlo.reshape %1 : (tensor<2x64x1x4x16xf32>) -> tensor<2x64x4x16xf32>
  %2 = stablehlo.slice %0 [0:2, 0:64, 1:2, 0:4, 0:16] : (tensor<2x64x3x4x16xf32>) -> tensor<2x64x1x4x16xf32>
  %k = stablehlo.reshape %2 : (tensor<2x64x1x4x16xf32>) -> tensor<2x64x4x16xf32>
  %3 = stablehlo.slice %0 [0:2, 0:64, 2:3, 0:4, 0:16] : (tensor<2x64x3x4x16xf32>) -> tensor<2x64x1x4x16xf32>
  %v = stablehlo.reshape %3 : (tensor<2x64x1x4x16xf32>) -> tensor<2x64x4x16xf32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x64x4x16xf32>, tensor<2x64x4x16xf32>) -> tensor<2x4x64x64xf32>
  %c = stablehlo.constant dense<0.0625> : tensor<2x4x64x64xf32>
  %m = stablehlo.multiply %s, %c : tensor<2x4x64x64xf32>
  %p = stablehlo.logistic %m : tensor<2x4x64x64xf32>
  %o = stablehlo.dot_general %v, %p, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x64x4x16xf32>, tensor<2x4x64x64xf32>) -> tensor<2x4x16x64xf32>
  %t = stablehlo.transpose %o, dims = [0, 3, 1, 2] : (tensor<2x4x16x64xf32>) -> tensor<2x64x4x16xf32>
  %h = stablehlo.reshape %t : (tensor<2x64x4x16xf32>) -> tensor<2x64x64xf32>
  %y = stablehlo.dot_general %h, %w, contracting_dims = [2] x [0] : (tensor<2x64x64xf32>, tensor<64x64xf32>) -> tensor<2x64x64xf32>
  %dw = stablehlo.dot_general %h, %g, contracting_dims = [0, 1] x [0, 1] : (tensor<2x64x64xf32>, tensor<2x64x64xf32>) -> tensor<64x64xf32>
  %dh = stablehlo.dot_general %g, %w, contracting_dims = [2] x [1] : (tensor<2x64x64xf32>, tensor<64x64xf32>) -> tensor<2x64x64xf32>
  %do = stablehlo.reshape %dh : (tensor<2x64x64xf32>) -> tensor<2x64x4x16xf32>
  %dp = stablehlo.dot_general %do, %v, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x64x4x16xf32>, tensor<2x64x4x16xf32>) -> tensor<2x4x64x64xf32>
  %dv = stablehlo.dot_general %dp, %do, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1] : (tensor<2x4x64x64xf32>, tensor<2x64x4x16xf32>) -> tensor<2x4x64x16xf32>
  %dq = stablehlo.dot_general %dv, %p, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2] : (tensor<2x4x64x16xf32>, tensor<2x4x64x64xf32>) -> tensor<2x4x16x64xf32>
  %u = stablehlo.transpose %dq, dims = [0, 3, 1, 2] : (tensor<2x4x16x64xf32>) -> tensor<2x64x4x16xf32>
  return %m, %y, %dw, %u : tensor<2x4x64x64xf32>, tensor<2x64x64xf32>, tensor<64x64xf32>, tensor<2x64x4x16xf32>
}
