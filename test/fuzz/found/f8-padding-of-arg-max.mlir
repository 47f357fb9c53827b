// RUN: weft-fuzz --program %s
// Reduced from: weft-fuzz --seed 6001350 --count 1 --ops 8 --compiled-every 0
// It differed:
//   'func.func' op result 0 differs at [2, 3]: the global program gives 4.20389539e-45, the devices give 0

#mesh = #weft.mesh<"a"=2>
module attributes {weft.fuzz = "inputs=6001350", weft.mesh = #mesh} {
  func.func @main(%arg0: tensor<4x4xf8E4M3FN> {weft.layout = #weft.layout<#mesh, [{}, {"a"}]>}) -> tensor<4x4xf32> {
    %0 = weft.convert %arg0 : tensor<4x4xf8E4M3FN> -> tensor<4x4xi64>
    %1 = weft.gather %arg0 at %0 {collapsed_slice_dims = array<i64: 0>, index_vector_dim = 2 : i64, offset_dims = array<i64: 2>, slice_sizes = array<i64: 1, 4>, start_index_map = array<i64: 0>, zero_outside} : tensor<4x4xf8E4M3FN>, tensor<4x4xi64> -> tensor<4x4x4xf8E4M3FN>
    %2 = weft.arg_max %1 dim 1 : tensor<4x4x4xf8E4M3FN> -> tensor<4x4xi32>
    %3 = weft.bitcast %2 : tensor<4x4xi32> -> tensor<4x4xf32>
    return %3 : tensor<4x4xf32>
  }
}

