// samples are exchanged, then parts of the sorted blocks: 3,032 bytes instead of 6,024 for a gather
// SENDS: fetch 1 32, pick 4 3000
#mesh = #weft.mesh<"d"=4>
module attributes {weft.mesh = #mesh} {
func.func @main(%x: tensor<1001xf32> {weft.name = "x", weft.layout = #weft.layout<#mesh, [{"d"}]>}, %y: tensor<1001xi32> {weft.name = "y", weft.layout = #weft.layout<#mesh, [{"d"}]>}) -> (tensor<1001xf32> {weft.name = "r", weft.layout = #weft.layout<#mesh, [{"d"}]>}, tensor<1001xi32> {weft.name = "p", weft.layout = #weft.layout<#mesh, [{"d"}]>}) {
  %r, %p = weft.sort %x, %y dim 0 keys 1 : (tensor<1001xf32>, tensor<1001xi32>) -> (tensor<1001xf32>, tensor<1001xi32>)
  return %r, %p : tensor<1001xf32>, tensor<1001xi32>
}
}
