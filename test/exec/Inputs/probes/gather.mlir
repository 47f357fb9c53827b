// upstream: tosa.gather has no sharding interface
// SENDS: all_gather 1 72, all_to_all 1 60
#mesh = #weft.mesh<"d"=4>
#d_n = #weft.layout<#mesh, [{"d"}, {}]>
#n = #weft.layout<#mesh, [{}]>
#n_n = #weft.layout<#mesh, [{}, {}]>
module attributes {weft.mesh = #mesh} {
func.func @main(%t: tensor<17x4xf32> {weft.name = "t", weft.layout = #d_n}, %i: tensor<6xi32> {weft.name = "i", weft.layout = #n}) -> (tensor<6x4xf32> {weft.name = "r", weft.layout = #n_n}) {
  %r = weft.gather %t at %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 4>} : tensor<17x4xf32>, tensor<6xi32> -> tensor<6x4xf32>
  return %r : tensor<6x4xf32>
}
}
