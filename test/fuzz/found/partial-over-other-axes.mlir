// RUN: weft-fuzz --program %s
// Reduced from: weft-fuzz --seed 92000813 --count 1 --ops 8 --compiled-every 20
// Sums over one pair of axes that are constrained to summands over another were
// not reduced in between: only copies can become partial.

#mesh = #weft.mesh<"a"=2, "b"=2, "c"=2, "d"=2, "e"=2>
#layout = #weft.layout<#mesh, [{"a"}, {"c"}, {"e"}, {}], partial = sum{"b", "d"}>
module attributes {weft.fuzz = "inputs=92000813 explained", weft.mesh = #mesh} {
  func.func @main(%arg0: tensor<3x2x4xbf16> {weft.layout = #weft.layout<#mesh, [{"d"}, {"e"}, {"a", "b"}]>}, %arg1: tensor<2x2x3xi32>) -> tensor<2x3x2x2xbf16> {
    %0 = weft.gather %arg0 at %arg1 {collapsed_slice_dims = array<i64: 2>, index_vector_dim = 2 : i64, offset_dims = array<i64: 1, 3>, slice_sizes = array<i64: 3, 2, 1>, start_index_map = array<i64: 1, 0, 2>} : tensor<3x2x4xbf16>, tensor<2x2x3xi32> -> tensor<2x3x2x2xbf16>
    %1 = weft.constrain %0 to #layout  : tensor<2x3x2x2xbf16> -> tensor<2x3x2x2xbf16>
    return %1 : tensor<2x3x2x2xbf16>
  }
}

