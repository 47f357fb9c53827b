// upstream: tosa.reduce_max has no sharding interface
// SENDS: all_reduce 1 48
#mesh = #weft.mesh<"d"=4>
#n = #weft.layout<#mesh, [{}]>
#n_d = #weft.layout<#mesh, [{}, {"d"}]>
module attributes {weft.mesh = #mesh} {
func.func @main(%x: tensor<8x10xf32> {weft.name = "x", weft.layout = #n_d}) -> (tensor<8xf32> {weft.name = "r", weft.layout = #n}) {
  %r = weft.reduce max %x dims [1] : tensor<8x10xf32> -> tensor<8xf32>
  return %r : tensor<8xf32>
}
}
