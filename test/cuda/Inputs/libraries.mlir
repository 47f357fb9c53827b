// Contractions that cuBLASLt computes: plain, its gradients (other transpositions), a batch of heads whose strides join to no
// one dimension, short floats with sums of f32, doubles, and a matrix times a vector.
func.func public @main(%x: tensor<32x128xf32>, %w: tensor<128x64xf32>, %q: tensor<2x64x4x24xf32>, %k: tensor<2x64x4x24xf32>,
                       %g: tensor<32x64xf32>, %v: tensor<1024xf32>, %m: tensor<1024x96xf32>,
                       %xd: tensor<32x128xf64>, %wd: tensor<128x64xf64>)
    -> (tensor<32x64xf32>, tensor<128x64xf32>, tensor<32x128xf32>, tensor<2x4x64x64xf32>, tensor<32x64xf32>, tensor<32x64xf64>, tensor<96xf32>) {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<32x128xf32>, tensor<128x64xf32>) -> tensor<32x64xf32>
  %dw = stablehlo.dot_general %x, %g, contracting_dims = [0] x [0] : (tensor<32x128xf32>, tensor<32x64xf32>) -> tensor<128x64xf32>
  %dx = stablehlo.dot_general %g, %w, contracting_dims = [1] x [1] : (tensor<32x64xf32>, tensor<128x64xf32>) -> tensor<32x128xf32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x64x4x24xf32>, tensor<2x64x4x24xf32>) -> tensor<2x4x64x64xf32>
  %xb = stablehlo.convert %x : (tensor<32x128xf32>) -> tensor<32x128xbf16>
  %wb = stablehlo.convert %w : (tensor<128x64xf32>) -> tensor<128x64xbf16>
  %b = stablehlo.dot_general %xb, %wb, contracting_dims = [1] x [0] : (tensor<32x128xbf16>, tensor<128x64xbf16>) -> tensor<32x64xf32>
  %d = stablehlo.dot_general %xd, %wd, contracting_dims = [1] x [0] : (tensor<32x128xf64>, tensor<128x64xf64>) -> tensor<32x64xf64>
  %mv = stablehlo.dot_general %v, %m, contracting_dims = [0] x [0] : (tensor<1024xf32>, tensor<1024x96xf32>) -> tensor<96xf32>
  return %y, %dw, %dx, %s, %b, %d, %mv : tensor<32x64xf32>, tensor<128x64xf32>, tensor<32x128xf32>, tensor<2x4x64x64xf32>, tensor<32x64xf32>, tensor<32x64xf64>, tensor<96xf32>
}
