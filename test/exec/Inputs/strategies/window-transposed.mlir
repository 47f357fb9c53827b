// a transposed convolution: halos of the input, which base dilation spreads
// SENDS: fetch 1 48
#mesh = #weft.mesh<"d"=4>
module attributes {weft.mesh = #mesh} {
func.func @main(%x: tensor<2x10x3xf32> {weft.name = "x", weft.layout = #weft.layout<#mesh, [{}, {"d"}, {}]>}, %w: tensor<3x3x4xf32> {weft.name = "w", weft.layout = #weft.layout<#mesh, [{}, {}, {}]>}) -> (tensor<2x20x4xf32> {weft.name = "r", weft.layout = #weft.layout<#mesh, [{}, {"d"}, {}]>}) {
  %r = weft.convolution %x, %w {lhs_dims = array<i64: 0, 2, 1>, rhs_dims = array<i64: 2, 1, 0>, result_dims = array<i64: 0, 2, 1>, strides = array<i64: 1>, low = array<i64: 1>, high = array<i64: 2>, base_dilation = array<i64: 2>, window_dilation = array<i64: 1>} : tensor<2x10x3xf32>, tensor<3x3x4xf32> -> tensor<2x20x4xf32>
  return %r : tensor<2x20x4xf32>
}
}
