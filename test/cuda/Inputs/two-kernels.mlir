// Two kernels: a row kernel, which reads a constant, and an elementwise one that works in place.
func.func public @main(%x: tensor<64x70xf32>, %v: tensor<70xf32>) -> (tensor<64x70xf32>, tensor<70xf32>) {
  %scale = stablehlo.constant dense<0.9> : tensor<70xf32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %max = stablehlo.reduce(%x init: %least) applies stablehlo.maximum across dimensions = [1] : (tensor<64x70xf32>, tensor<f32>) -> tensor<64xf32>
  %maxes = stablehlo.broadcast_in_dim %max, dims = [0] : (tensor<64xf32>) -> tensor<64x70xf32>
  %less = stablehlo.subtract %x, %maxes : tensor<64x70xf32>
  %e = stablehlo.exponential %less : tensor<64x70xf32>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x70xf32>, tensor<f32>) -> tensor<64xf32>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<64xf32>) -> tensor<64x70xf32>
  %y = stablehlo.divide %e, %sums : tensor<64x70xf32>
  %w = stablehlo.multiply %v, %scale : tensor<70xf32>
  return %y, %w : tensor<64x70xf32>, tensor<70xf32>
}
