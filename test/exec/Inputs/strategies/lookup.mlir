// a sum of the rows that each device has found
// SENDS: all_reduce 1 108
#mesh = #weft.mesh<"d"=4>
module attributes {weft.mesh = #mesh} {
func.func @main(%x: tensor<10x3xf32> {weft.name = "x", weft.layout = #weft.layout<#mesh, [{"d"}, {}]>}, %i: tensor<6xi32> {weft.name = "i", weft.layout = #weft.layout<#mesh, [{}]>}) -> (tensor<6x3xf32> {weft.name = "r", weft.layout = #weft.layout<#mesh, [{}, {}]>}) {
  %r = weft.gather %x at %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 3>} : tensor<10x3xf32>, tensor<6xi32> -> tensor<6x3xf32>
  return %r : tensor<6x3xf32>
}
}
