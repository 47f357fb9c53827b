// each device fetches the elements that it lacks
// SENDS: fetch 1 8
#mesh = #weft.mesh<"d"=4>
module attributes {weft.mesh = #mesh} {
func.func @main(%x: tensor<10xf32> {weft.name = "x", weft.layout = #weft.layout<#mesh, [{"d"}]>}) -> (tensor<7xf32> {weft.name = "r", weft.layout = #weft.layout<#mesh, [{"d"}]>}) {
  %r = weft.slice %x from [3] to [10] by [1] : tensor<10xf32> -> tensor<7xf32>
  return %r : tensor<7xf32>
}
}
