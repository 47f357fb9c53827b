// upstream, [[0, 1]] to [[1, 0]]: segmentation fault
// SENDS: permute 1 32
#mesh = #weft.mesh<"a"=2, "b"=2>
#a_b_n = #weft.layout<#mesh, [{"a", "b"}, {}]>
#b_a_n = #weft.layout<#mesh, [{"b", "a"}, {}]>
module attributes {weft.mesh = #mesh} {
func.func @main(%x: tensor<8x4xf32> {weft.name = "x", weft.layout = #a_b_n}) -> (tensor<8x4xf32> {weft.name = "r", weft.layout = #b_a_n}) {
  %r = weft.neg %x : tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}
}
