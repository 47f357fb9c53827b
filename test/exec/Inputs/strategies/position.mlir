// nothing moves: each device computes its offset from its coordinate
// SENDS: none
#mesh = #weft.mesh<"d"=4>
module attributes {weft.mesh = #mesh} {
func.func @main(%x: tensor<10xi32> {weft.name = "x", weft.layout = #weft.layout<#mesh, [{"d"}]>}) -> (tensor<10xi32> {weft.name = "r", weft.layout = #weft.layout<#mesh, [{"d"}]>}) {
  %i = weft.iota dim 0 : tensor<10xi32>
  %r = weft.add %x, %i : tensor<10xi32>
  return %r : tensor<10xi32>
}
}
