// Attention of bf16 large enough for tiles in generated code, which copy its views, with offsets and joined strides, in runs of
// 16 bytes.
func.func public @main(%x: tensor<1x256x768xf32>, %w: tensor<256x256xf32>, %g: tensor<1x256x256xf32>) -> (tensor<1x4x256x256xf32>, tensor<1x256x256xf32>, tensor<256x256xf32>) {
  %qkv = stablehlo.convert %x : (tensor<1x256x768xf32>) -> tensor<1x256x768xbf16>
  %wb = stablehlo.convert %w : (tensor<256x256xf32>) -> tensor<256x256xbf16>
  %gb = stablehlo.convert %g : (tensor<1x256x256xf32>) -> tensor<1x256x256xbf16>
  %0 = stablehlo.reshape %qkv : (tensor<1x256x768xbf16>) -> tensor<1x256x3x4x64xbf16>
  %1 = stablehlo.slice %0 [0:1, 0:256, 0:1, 0:4, 0:64] : (tensor<1x256x3x4x64xbf16>) -> tensor<1x256x1x4x64xbf16>
  %q = stablehlo.reshape %1 : (tensor<1x256x1x4x64xbf16>) -> tensor<1x256x4x64xbf16>
  %2 = stablehlo.slice %0 [0:1, 0:256, 1:2, 0:4, 0:64] : (tensor<1x256x3x4x64xbf16>) -> tensor<1x256x1x4x64xbf16>
  %k = stablehlo.reshape %2 : (tensor<1x256x1x4x64xbf16>) -> tensor<1x256x4x64xbf16>
  %3 = stablehlo.slice %0 [0:1, 0:256, 2:3, 0:4, 0:64] : (tensor<1x256x3x4x64xbf16>) -> tensor<1x256x1x4x64xbf16>
  %v = stablehlo.reshape %3 : (tensor<1x256x1x4x64xbf16>) -> tensor<1x256x4x64xbf16>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<1x256x4x64xbf16>, tensor<1x256x4x64xbf16>) -> tensor<1x4x256x256xf32>
  %p = stablehlo.convert %s : (tensor<1x4x256x256xf32>) -> tensor<1x4x256x256xbf16>
  %o = stablehlo.dot_general %v, %p, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<1x256x4x64xbf16>, tensor<1x4x256x256xbf16>) -> tensor<1x4x64x256xbf16>
  %t = stablehlo.transpose %o, dims = [0, 3, 1, 2] : (tensor<1x4x64x256xbf16>) -> tensor<1x256x4x64xbf16>
  %h = stablehlo.reshape %t : (tensor<1x256x4x64xbf16>) -> tensor<1x256x256xbf16>
  %y = stablehlo.dot_general %h, %wb, contracting_dims = [2] x [0] : (tensor<1x256x256xbf16>, tensor<256x256xbf16>) -> tensor<1x256x256xf32>
  %dw = stablehlo.dot_general %h, %gb, contracting_dims = [0, 1] x [0, 1] : (tensor<1x256x256xbf16>, tensor<1x256x256xbf16>) -> tensor<256x256xf32>
  return %s, %y, %dw : tensor<1x4x256x256xf32>, tensor<1x256x256xf32>, tensor<256x256xf32>
}
