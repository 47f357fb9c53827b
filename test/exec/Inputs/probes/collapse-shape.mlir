// upstream: tensor.collapse_shape has no sharding interface
// SENDS: none
#mesh = #weft.mesh<"d"=4>
#d_n_n = #weft.layout<#mesh, [{"d"}, {}, {}]>
module attributes {weft.mesh = #mesh} {
func.func @main(%x: tensor<8x3x5xf32> {weft.name = "x", weft.layout = #d_n_n}) -> (tensor<24x5xf32> {weft.name = "r"}) {
  %r = weft.reshape %x : tensor<8x3x5xf32> -> tensor<24x5xf32>
  return %r : tensor<24x5xf32>
}
}
