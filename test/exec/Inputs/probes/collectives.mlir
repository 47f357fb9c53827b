// upstream: all_gather, all_slice, all_to_all, broadcast, reduce_scatter and shift are not lowered to MPI, and the exit status is 0
// SENDS: all_gather 1 192, all_reduce 1 192, all_to_all 1 48, exchange 1 64, fetch 1 16, reduce_scatter 1 96
#mesh = #weft.mesh<"a"=2, "b"=4>
#a_b = #weft.layout<#mesh, [{"a"}, {"b"}]>
#a_b_n = #weft.layout<#mesh, [{"a", "b"}, {}]>
#a_n = #weft.layout<#mesh, [{"a"}, {}]>
#b_a = #weft.layout<#mesh, [{"b"}, {"a"}]>
#b_n = #weft.layout<#mesh, [{"b"}, {}]>
module attributes {weft.mesh = #mesh} {
func.func @main(%x: tensor<8x16xf32> {weft.name = "x", weft.layout = #a_b}, %w: tensor<16x8xf32> {weft.name = "w", weft.layout = #b_n}, %y: tensor<8x16xf32> {weft.name = "y", weft.layout = #a_b}) -> (tensor<8x8xf32> {weft.name = "sum", weft.layout = #a_n}, tensor<8x8xf32> {weft.name = "scattered", weft.layout = #a_b}, tensor<8x16xf32> {weft.name = "gathered", weft.layout = #a_n}, tensor<8x16xf32> {weft.name = "turned", weft.layout = #a_b_n}, tensor<8x16xf32> {weft.name = "rolled", weft.layout = #a_b}, tensor<8x16xf32> {weft.name = "permuted", weft.layout = #b_a}, tensor<8x8xf32> {weft.name = "sliced", weft.layout = #b_n}) {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<8x16xf32>, tensor<16x8xf32> -> tensor<8x8xf32>
  %1 = weft.neg %x : tensor<8x16xf32>
  %turned = weft.neg %y : tensor<8x16xf32>
  %2 = weft.roll %y by [0, 1] : tensor<8x16xf32>
  %3 = weft.abs %x : tensor<8x16xf32>
  %4 = weft.constant dense<2.0> : tensor<8x8xf32>
  %5 = weft.dot %3, %w contract [1] x [0] : tensor<8x16xf32>, tensor<16x8xf32> -> tensor<8x8xf32>
  return %0, %5, %1, %turned, %2, %3, %4 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x8xf32>
}
}
