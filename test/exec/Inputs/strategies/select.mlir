// all elements are gathered, which are fewer bytes than the best of each device and its position
// SENDS: all_gather 1 36
#mesh = #weft.mesh<"d"=4>
module attributes {weft.mesh = #mesh} {
func.func @main(%x: tensor<10xf32> {weft.name = "x", weft.layout = #weft.layout<#mesh, [{"d"}]>}) -> (tensor<2xf32> {weft.name = "r", weft.layout = #weft.layout<#mesh, [{}]>}, tensor<2xi32> {weft.name = "p", weft.layout = #weft.layout<#mesh, [{}]>}) {
  %r, %p = weft.top_k %x dim 0 : tensor<10xf32> -> tensor<2xf32>, tensor<2xi32>
  return %r, %p : tensor<2xf32>, tensor<2xi32>
}
}
