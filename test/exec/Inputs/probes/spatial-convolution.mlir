// upstream: segmentation fault
// SENDS: fetch 1 144
#mesh = #weft.mesh<"d"=4>
#n_d_n_n = #weft.layout<#mesh, [{}, {"d"}, {}, {}]>
#n_n_n_n = #weft.layout<#mesh, [{}, {}, {}, {}]>
module attributes {weft.mesh = #mesh} {
func.func @main(%x: tensor<1x9x9x2xf32> {weft.name = "x", weft.layout = #n_d_n_n}, %w: tensor<3x3x2x4xf32> {weft.name = "w", weft.layout = #n_n_n_n}) -> (tensor<1x9x9x4xf32> {weft.name = "r", weft.layout = #n_d_n_n}) {
  %r = weft.convolution %x, %w {lhs_dims = array<i64: 0, 3, 1, 2>, rhs_dims = array<i64: 3, 2, 0, 1>, result_dims = array<i64: 0, 3, 1, 2>, strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, base_dilation = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>} : tensor<1x9x9x2xf32>, tensor<3x3x2x4xf32> -> tensor<1x9x9x4xf32>
  return %r : tensor<1x9x9x4xf32>
}
}
