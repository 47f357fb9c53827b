// a sum of partial results
// SENDS: all_reduce 1 18
#mesh = #weft.mesh<"d"=4>
module attributes {weft.mesh = #mesh} {
func.func @main(%x: tensor<10x3xf32> {weft.name = "x", weft.layout = #weft.layout<#mesh, [{"d"}, {}]>}) -> (tensor<3xf32> {weft.name = "r", weft.layout = #weft.layout<#mesh, [{}]>}) {
  %r = weft.reduce sum %x dims [0] : tensor<10x3xf32> -> tensor<3xf32>
  return %r : tensor<3xf32>
}
}
