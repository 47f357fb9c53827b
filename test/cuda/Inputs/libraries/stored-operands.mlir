// Keys that two heads share are repeated for each of them, which no stride expresses: a kernel stores them, and the library
// computes the scores.
func.func public @main(%q: tensor<8x4x128x32xf32>, %k: tensor<8x2x128x32xf32>) -> tensor<8x4x128x128xf32> {
  %0 = stablehlo.broadcast_in_dim %k, dims = [0, 1, 3, 4] : (tensor<8x2x128x32xf32>) -> tensor<8x2x2x128x32xf32>
  %1 = stablehlo.reshape %0 : (tensor<8x2x2x128x32xf32>) -> tensor<8x4x128x32xf32>
  %2 = stablehlo.dot_general %q, %1, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<8x4x128x32xf32>, tensor<8x4x128x32xf32>) -> tensor<8x4x128x128xf32>
  return %2 : tensor<8x4x128x128xf32>
}
