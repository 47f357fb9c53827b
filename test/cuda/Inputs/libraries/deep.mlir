// A product whose few tiles share its depth: a library call, whose fallback is a sequence of two launches.
func.func public @main(%x: tensor<32x4096xf32>, %w: tensor<4096x32xf32>) -> tensor<32x32xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<32x4096xf32>, tensor<4096x32xf32>) -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}
