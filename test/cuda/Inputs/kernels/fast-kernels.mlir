// Kernels as large as those of models, for fast-kernels.test: a layer, its weight's gradient, an attention's scores, a convolution,
// a softmax of a warp and of a block, a bias gradient, a gelu.

func.func private @layer(%x: tensor<4096x1024xbf16>, %w: tensor<1024x4096xbf16>, %b: tensor<4096xf32>) -> tensor<4096x4096xbf16> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<4096x1024xbf16>, tensor<1024x4096xbf16> -> tensor<4096x4096xf32>
  %1 = weft.broadcast %b dims [1] : tensor<4096xf32> -> tensor<4096x4096xf32>
  %2 = weft.add %0, %1 : tensor<4096x4096xf32>
  %3 = weft.relu %2 : tensor<4096x4096xf32>
  %4 = weft.convert %3 : tensor<4096x4096xf32> -> tensor<4096x4096xbf16>
  return %4 : tensor<4096x4096xbf16>
}
func.func private @weight_gradient(%x: tensor<512x784xf32>, %g: tensor<512x2048xf32>) -> tensor<784x2048xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %x, %g contract [0] x [0] : tensor<512x784xf32>, tensor<512x2048xf32> -> tensor<784x2048xf32>
  return %0 : tensor<784x2048xf32>
}
func.func private @scores(%q: tensor<16x256x12x64xf16>, %k: tensor<16x256x12x64xf16>) -> tensor<16x12x256x256xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %q, %k batch [0, 2] x [0, 2] contract [3] x [3] : tensor<16x256x12x64xf16>, tensor<16x256x12x64xf16> -> tensor<16x12x256x256xf32>
  return %0 : tensor<16x12x256x256xf32>
}
func.func private @convolution(%x: tensor<32x28x28x64xf32>, %w: tensor<3x3x64x64xf32>) -> tensor<32x28x28x64xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.convolution %x, %w {lhs_dims = array<i64: 0, 3, 1, 2>, rhs_dims = array<i64: 3, 2, 0, 1>, result_dims = array<i64: 0, 3, 1, 2>, strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, base_dilation = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>} : tensor<32x28x28x64xf32>, tensor<3x3x64x64xf32> -> tensor<32x28x28x64xf32>
  return %0 : tensor<32x28x28x64xf32>
}
func.func private @softmax(%x: tensor<32768x512xf32>) -> tensor<32768x512xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.reduce max %x dims [1] : tensor<32768x512xf32> -> tensor<32768xf32>
  %1 = weft.broadcast %0 dims [0] : tensor<32768xf32> -> tensor<32768x512xf32>
  %2 = weft.sub %x, %1 : tensor<32768x512xf32>
  %3 = weft.exp %2 : tensor<32768x512xf32>
  %4 = weft.reduce sum %3 dims [1] : tensor<32768x512xf32> -> tensor<32768xf32>
  %5 = weft.broadcast %4 dims [0] : tensor<32768xf32> -> tensor<32768x512xf32>
  %6 = weft.div %3, %5 : tensor<32768x512xf32>
  return %6 : tensor<32768x512xf32>
}
func.func private @softmax_of_block(%x: tensor<8192x8192xf32>) -> tensor<8192x8192xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.reduce max %x dims [1] : tensor<8192x8192xf32> -> tensor<8192xf32>
  %1 = weft.broadcast %0 dims [0] : tensor<8192xf32> -> tensor<8192x8192xf32>
  %2 = weft.sub %x, %1 : tensor<8192x8192xf32>
  %3 = weft.exp %2 : tensor<8192x8192xf32>
  %4 = weft.reduce sum %3 dims [1] : tensor<8192x8192xf32> -> tensor<8192xf32>
  %5 = weft.broadcast %4 dims [0] : tensor<8192xf32> -> tensor<8192x8192xf32>
  %6 = weft.div %3, %5 : tensor<8192x8192xf32>
  return %6 : tensor<8192x8192xf32>
}
func.func private @bias_gradient(%g: tensor<4096x3072xbf16>) -> tensor<3072xf32> attributes {weft.kernel = #weft.kernel<reduce>} {
  %0 = weft.reduce sum %g dims [0] : tensor<4096x3072xbf16> -> tensor<3072xf32>
  return %0 : tensor<3072xf32>
}
func.func private @gelu(%x: tensor<4096x3072xbf16>) -> tensor<4096x3072xbf16> attributes {weft.kernel = #weft.kernel<elementwise>} {
  %0 = weft.convert %x : tensor<4096x3072xbf16> -> tensor<4096x3072xf32>
  %1 = weft.erf %0 : tensor<4096x3072xf32>
  %2 = weft.mul %0, %1 : tensor<4096x3072xf32>
  %3 = weft.convert %2 : tensor<4096x3072xf32> -> tensor<4096x3072xbf16>
  return %3 : tensor<4096x3072xbf16>
}
func.func private @turned(%x: tensor<2048x4096xf32>, %y: tensor<4096x2048xf32>) -> tensor<4096x2048xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.transpose %x [1, 0] : tensor<2048x4096xf32> -> tensor<4096x2048xf32>
  %1 = weft.add %0, %y : tensor<4096x2048xf32>
  return %1 : tensor<4096x2048xf32>
}
func.func private @windows(%x: tensor<32x28x28x64xbf16>, %w: tensor<3x3x64x64xbf16>) -> tensor<32x28x28x64xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.convolution %x, %w {lhs_dims = array<i64: 0, 3, 1, 2>, rhs_dims = array<i64: 3, 2, 0, 1>, result_dims = array<i64: 0, 3, 1, 2>, strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, base_dilation = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>} : tensor<32x28x28x64xbf16>, tensor<3x3x64x64xbf16> -> tensor<32x28x28x64xf32>
  return %0 : tensor<32x28x28x64xf32>
}
