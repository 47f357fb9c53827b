// a few elements are gathered: samples would be more
// SENDS: all_gather 1 36
#mesh = #weft.mesh<"d"=4>
module attributes {weft.mesh = #mesh} {
func.func @main(%x: tensor<10xf32> {weft.name = "x", weft.layout = #weft.layout<#mesh, [{"d"}]>}) -> (tensor<10xf32> {weft.name = "r", weft.layout = #weft.layout<#mesh, [{"d"}]>}) {
  %r = weft.sort %x dim 0 keys 1 : (tensor<10xf32>) -> tensor<10xf32>
  return %r : tensor<10xf32>
}
}
