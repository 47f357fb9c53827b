// An embedding table of 1,024 words, split by words: each device looks up its
// own words, and the sum over the devices is the result. With BSD = 4 * 8 * 16
// elements of 4 bytes, 2048 bytes, an all-reduce would send 2(p-1)/p BSD = 3584.
// Weft scatters the sum, 7/8 * 2048 = 1792, and gathers the sign that the
// derivative of relu needs, a byte an element: 7/8 * 512 = 448. The gradient of
// the table needs no collective.
#mesh = #weft.mesh<"model"=8>
#words = #weft.layout<#mesh, [{"model"}, {}]>
#ids = #weft.layout<#mesh, [{}, {}]>
#whole = #weft.layout<#mesh, [{}, {}, {}]>
module attributes {weft.mesh = #mesh, weft.expect = "all_gather=1, all_gather.bytes=448, reduce_scatter=1, reduce_scatter.bytes=1792"} {
  func.func private @loss(%t: tensor<1024x16xf32>, %i: tensor<4x8xi32>, %w: tensor<4x8x16xf32>) -> tensor<f32> {
    %e = weft.gather %t at %i {offset_dims = array<i64: 2>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 16>, index_vector_dim = 2 : i64} : tensor<1024x16xf32>, tensor<4x8xi32> -> tensor<4x8x16xf32>
    %r = weft.relu %e : tensor<4x8x16xf32>
    %p = weft.mul %r, %w : tensor<4x8x16xf32>
    %l = weft.reduce sum %p dims [0, 1, 2] : tensor<4x8x16xf32> -> tensor<f32>
    return %l : tensor<f32>
  }
  func.func @gradient(%t: tensor<1024x16xf32> {weft.name = "table", weft.layout = #words}, %i: tensor<4x8xi32> {weft.name = "ids", weft.layout = #ids}, %w: tensor<4x8x16xf32> {weft.name = "w", weft.layout = #whole}) -> (tensor<1024x16xf32> {weft.layout = #words}) {
    %g:2 = weft.value_and_grad @loss(%t, %i, %w) wrt [0] : (tensor<1024x16xf32>, tensor<4x8xi32>, tensor<4x8x16xf32>) -> (tensor<f32>, tensor<1024x16xf32>)
    return %g#1 : tensor<1024x16xf32>
  }
}
