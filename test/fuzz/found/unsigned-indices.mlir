// RUN: weft-fuzz --program %s
// Reduced from: weft-fuzz --seed 10043400 --count 1 --ops 8 --compiled-every 100
// It differed:
//   'func.func' op result 0 differs at [0]: the global program gives 1, the devices give -3

#mesh = #weft.mesh<"b"=2>
#layout = #weft.layout<#mesh, [{"b"}]>
module attributes {weft.fuzz = "inputs=10043400", weft.mesh = #mesh} {
  func.func @main(%arg0: tensor<1xi64>, %arg1: tensor<2xf32>) -> tensor<1xf32> {
    %0 = weft.bitcast %arg0 : tensor<1xi64> -> tensor<1xui64>
    %1 = weft.constrain %arg1 to #layout : tensor<2xf32> -> tensor<2xf32>
    %2 = weft.gather %1 at %0 {collapsed_slice_dims = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1>, start_index_map = array<i64: 0>} : tensor<2xf32>, tensor<1xui64> -> tensor<1xf32>
    return %2 : tensor<1xf32>
  }
}

