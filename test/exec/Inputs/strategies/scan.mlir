// one row of each device is gathered
// SENDS: all_gather 1 36
#mesh = #weft.mesh<"d"=4>
module attributes {weft.mesh = #mesh} {
func.func @main(%x: tensor<10x3xf32> {weft.name = "x", weft.layout = #weft.layout<#mesh, [{"d"}, {}]>}) -> (tensor<10x3xf32> {weft.name = "r", weft.layout = #weft.layout<#mesh, [{"d"}, {}]>}) {
  %r = weft.cumulative sum %x dim 0 : tensor<10x3xf32>
  return %r : tensor<10x3xf32>
}
}
