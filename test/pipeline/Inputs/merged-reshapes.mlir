// Reshapes that split a dimension and merge others, between movements: the rows are exchanged within blocks.
#m = #weft.mesh<"a"=2, "b"=4>
module attributes {weft.mesh = #m} {
  func.func @blocks(%x: tensor<32x64xf32> {weft.name = "x", weft.role = "input", weft.layout = #weft.layout<#m, [{"a"}, {"b"}]>})
      -> (tensor<32x64xf32> {weft.name = "y", weft.role = "output", weft.layout = #weft.layout<#m, [{}, {"a", "b"}]>}) {
    %0 = weft.slice %x from [16, 0] to [32, 64] by [1, 1] : tensor<32x64xf32> -> tensor<16x64xf32>
    %1 = weft.slice %x from [0, 0] to [16, 64] by [1, 1] : tensor<32x64xf32> -> tensor<16x64xf32>
    %2 = weft.concatenate %0, %1 dim 0 : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<32x64xf32>
    %3 = weft.reshape %2 : tensor<32x64xf32> -> tensor<32x4x16xf32>
    %4 = weft.transpose %3 [0, 2, 1] : tensor<32x4x16xf32> -> tensor<32x16x4xf32>
    %5 = weft.reshape %4 : tensor<32x16x4xf32> -> tensor<32x64xf32>
    return %5 : tensor<32x64xf32>
  }
}
