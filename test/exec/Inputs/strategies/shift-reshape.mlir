// a reshape that does not align: each device fetches the elements that it lacks
// SENDS: fetch 1 72
#mesh = #weft.mesh<"d"=4>
module attributes {weft.mesh = #mesh} {
func.func @main(%x: tensor<25x8xf32> {weft.name = "x", weft.layout = #weft.layout<#mesh, [{"d"}, {}]>}) -> (tensor<8x5x5xf32> {weft.name = "r", weft.layout = #weft.layout<#mesh, [{"d"}, {}, {}]>}) {
  %r = weft.reshape %x : tensor<25x8xf32> -> tensor<8x5x5xf32>
  return %r : tensor<8x5x5xf32>
}
}
