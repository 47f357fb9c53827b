// the gradient of a kernel: a halo, and a sum of small partial results
// SENDS: all_reduce 1 216, fetch 1 48
#mesh = #weft.mesh<"d"=4>
module attributes {weft.mesh = #mesh} {
func.func @main(%x: tensor<2x24x3xf32> {weft.name = "x", weft.layout = #weft.layout<#mesh, [{}, {"d"}, {}]>}, %g: tensor<2x24x4xf32> {weft.name = "g", weft.layout = #weft.layout<#mesh, [{}, {"d"}, {}]>}) -> (tensor<3x3x4xf32> {weft.name = "r", weft.layout = #weft.layout<#mesh, [{}, {}, {}]>}) {
  %r = weft.convolution %x, %g {lhs_dims = array<i64: 2, 0, 1>, rhs_dims = array<i64: 2, 0, 1>, result_dims = array<i64: 1, 2, 0>, strides = array<i64: 1>, low = array<i64: 1>, high = array<i64: 1>, base_dilation = array<i64: 1>, window_dilation = array<i64: 1>} : tensor<2x24x3xf32>, tensor<2x24x4xf32> -> tensor<3x3x4xf32>
  return %r : tensor<3x3x4xf32>
}
}
