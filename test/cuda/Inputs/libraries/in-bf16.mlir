// Computes @attention in bf16, from and to f32.
func.func public @main(%qkv: tensor<2x64x192xf32>, %w: tensor<64x64xf32>, %g: tensor<2x64x64xf32>)
    -> (tensor<2x4x64x64xf32>, tensor<2x64x64xf32>, tensor<64x64xf32>, tensor<2x64x4x16xf32>) {
  %0 = stablehlo.convert %qkv : (tensor<2x64x192xf32>) -> tensor<2x64x192xbf16>
  %1 = stablehlo.convert %w : (tensor<64x64xf32>) -> tensor<64x64xbf16>
  %2 = stablehlo.convert %g : (tensor<2x64x64xf32>) -> tensor<2x64x64xbf16>
  %3:4 = call @attention(%0, %1, %2) : (tensor<2x64x192xbf16>, tensor<64x64xbf16>, tensor<2x64x64xbf16>) -> (tensor<2x4x64x64xbf16>, tensor<2x64x64xbf16>, tensor<64x64xbf16>, tensor<2x64x4x16xbf16>)
  %4 = stablehlo.convert %3#0 : (tensor<2x4x64x64xbf16>) -> tensor<2x4x64x64xf32>
  %5 = stablehlo.convert %3#1 : (tensor<2x64x64xbf16>) -> tensor<2x64x64xf32>
  %6 = stablehlo.convert %3#2 : (tensor<64x64xbf16>) -> tensor<64x64xf32>
  %7 = stablehlo.convert %3#3 : (tensor<2x64x4x16xbf16>) -> tensor<2x64x4x16xf32>
  return %4, %5, %6, %7 : tensor<2x4x64x64xf32>, tensor<2x64x64xf32>, tensor<64x64xf32>, tensor<2x64x4x16xf32>
}
