// nothing moves
// SENDS: none
#mesh = #weft.mesh<"d"=4>
module attributes {weft.mesh = #mesh} {
func.func @main(%x: tensor<10x3xf32> {weft.name = "x", weft.layout = #weft.layout<#mesh, [{"d"}, {}]>}) -> (tensor<10x3xf32> {weft.name = "r", weft.layout = #weft.layout<#mesh, [{"d"}, {}]>}) {
  %r = weft.exp %x : tensor<10x3xf32>
  return %r : tensor<10x3xf32>
}
}
