// upstream: local tensors of 2 elements, the last two are dropped
// SENDS: all_gather 1 36
#mesh = #weft.mesh<"d"=4>
#d = #weft.layout<#mesh, [{"d"}]>
#n = #weft.layout<#mesh, [{}]>
module attributes {weft.mesh = #mesh} {
func.func @main(%x: tensor<10xf32> {weft.name = "x", weft.layout = #d}) -> (tensor<10xf32> {weft.name = "y", weft.layout = #d}, tensor<10xf32> {weft.name = "all", weft.layout = #n}) {
  %0 = weft.neg %x : tensor<10xf32>
  %1 = weft.abs %x : tensor<10xf32>
  return %0, %1 : tensor<10xf32>, tensor<10xf32>
}
}
