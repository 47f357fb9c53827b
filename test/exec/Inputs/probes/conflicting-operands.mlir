// upstream: segmentation fault
// SENDS: all_to_all 1 72
#mesh = #weft.mesh<"d"=4>
#d_n = #weft.layout<#mesh, [{"d"}, {}]>
#n_d = #weft.layout<#mesh, [{}, {"d"}]>
module attributes {weft.mesh = #mesh} {
func.func @main(%x: tensor<8x12xf32> {weft.name = "x", weft.layout = #d_n}, %y: tensor<8x12xf32> {weft.name = "y", weft.layout = #n_d}) -> (tensor<8x12xf32> {weft.name = "r"}) {
  %r = weft.add %x, %y : tensor<8x12xf32>
  return %r : tensor<8x12xf32>
}
}
