// RUN: weft-fuzz --program %s
// Reduced from: weft-fuzz --seed 1459 --count 1 --ops 8 --compiled-every 20
// The operands of a move became f32 as summands, the values of its region did not.

#mesh = #weft.mesh<"a"=2, "c"=2>
module attributes {weft.fuzz = "inputs=1459", weft.mesh = #mesh} {
  func.func @main(%arg0: tensor<6x1x6xf16> {weft.layout = #weft.layout<#mesh, [{}, {"c"}, {"a"}]>}, %arg1: tensor<1x4x1xf16>) -> tensor<1x12x1xf16> {
    %0 = weft.convolution %arg0, %arg1 {base_dilation = array<i64: 2>, high = array<i64: 0>, lhs_dims = array<i64: 2, 1, 0>, low = array<i64: 0>, result_dims = array<i64: 1, 2, 0>, rhs_dims = array<i64: 1, 2, 0>, strides = array<i64: 3>, window_dilation = array<i64: 1>} : tensor<6x1x6xf16>, tensor<1x4x1xf16> -> tensor<4x6x4xf16>
    %1 = weft.slice %0 from [2, 0, 0] to [3, 6, 1] by [1, 1, 1] : tensor<4x6x4xf16> -> tensor<1x6x1xf16>
    %2 = weft.concatenate %1, %1 dim 1 : (tensor<1x6x1xf16>, tensor<1x6x1xf16>) -> tensor<1x12x1xf16>
    return %2 : tensor<1x12x1xf16>
  }
}
