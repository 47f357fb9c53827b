// A 3x3 convolution of 64 rows, eight on each device: a device needs one row of
// either neighbour, (k-1) * 32 * 4 * 4 = 1024 bytes. Backward it needs as much of
// the gradient, keeps the halo of the input, and the kernel's gradient is summed:
// 2(p-1)/p of 576 bytes.
#mesh = #weft.mesh<"height"=8>
#rows = #weft.layout<#mesh, [{}, {"height"}, {}, {}]>
#whole = #weft.layout<#mesh, [{}, {}, {}, {}]>
module attributes {weft.mesh = #mesh, weft.expect = "all_reduce=1, all_reduce.bytes=1008, fetch=2, fetch.bytes=2048"} {
  func.func private @loss(%k: tensor<3x3x4x4xf32>, %x: tensor<1x64x32x4xf32>) -> tensor<f32> {
    %y = weft.convolution %x, %k {lhs_dims = array<i64: 0, 3, 1, 2>, rhs_dims = array<i64: 3, 2, 0, 1>, result_dims = array<i64: 0, 3, 1, 2>, strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, base_dilation = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>} : tensor<1x64x32x4xf32>, tensor<3x3x4x4xf32> -> tensor<1x64x32x4xf32>
    %r = weft.relu %y : tensor<1x64x32x4xf32>
    %l = weft.reduce sum %r dims [0, 1, 2, 3] : tensor<1x64x32x4xf32> -> tensor<f32>
    return %l : tensor<f32>
  }
  func.func @gradients(%k: tensor<3x3x4x4xf32> {weft.name = "k", weft.layout = #whole}, %x: tensor<1x64x32x4xf32> {weft.name = "x", weft.layout = #rows}) -> (tensor<3x3x4x4xf32> {weft.layout = #whole}, tensor<1x64x32x4xf32> {weft.layout = #rows}) {
    %g:3 = weft.value_and_grad @loss(%k, %x) wrt [0, 1] : (tensor<3x3x4x4xf32>, tensor<1x64x32x4xf32>) -> (tensor<f32>, tensor<3x3x4x4xf32>, tensor<1x64x32x4xf32>)
    return %g#1, %g#2 : tensor<3x3x4x4xf32>, tensor<1x64x32x4xf32>
  }
}
