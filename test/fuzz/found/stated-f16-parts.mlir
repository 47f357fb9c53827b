// RUN: weft-fuzz --program %s
// Reduced from: weft-fuzz --seed 53942 --count 1 --ops 8 --compiled-every 20
// Parts of f16 that a result states were computed in f32 and rounded, part by
// part, at the end; the verifier of layouts refused it.

#mesh = #weft.mesh<"a"=2, "b"=2>
#layout = #weft.layout<#mesh, [{"a"}, {}], partial = sum{"b"}>
module attributes {weft.fuzz = "inputs=53942", weft.mesh = #mesh} {
  func.func @main(%arg0: tensor<1xf16> {weft.layout = #weft.layout<#mesh, [{"b"}]>}, %arg1: tensor<1x1xi32>) -> (tensor<1x1xf16> {weft.layout = #layout}) {
    %0 = weft.gather %arg0 at %arg1 {index_vector_dim = 0 : i64, offset_dims = array<i64: 0>, slice_sizes = array<i64: 1>, start_index_map = array<i64: 0>, zero_outside} : tensor<1xf16>, tensor<1x1xi32> -> tensor<1x1xf16>
    return %0 : tensor<1x1xf16>
  }
}

