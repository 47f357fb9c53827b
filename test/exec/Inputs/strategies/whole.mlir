// only the dimension that cannot be sharded is gathered
// SENDS: all_gather 1 96
#mesh = #weft.mesh<"d"=4>
module attributes {weft.mesh = #mesh} {
func.func @main(%x: tensor<4x6xf32> {weft.name = "x", weft.layout = #weft.layout<#mesh, [{}, {"d"}]>}) -> (tensor<8x3xf32> {weft.name = "r", weft.layout = #weft.layout<#mesh, [{}, {}]>}) {
  %r = weft.reshape %x : tensor<4x6xf32> -> tensor<8x3xf32>
  return %r : tensor<8x3xf32>
}
}
