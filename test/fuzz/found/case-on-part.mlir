// RUN: weft-fuzz --program %s
// Reduced from: weft-fuzz --seed 3616500838 --count 1 --ops 8 --compiled-every 20
// The interpreter compared the predicate of a case with that of devices outside of
// the part that runs it, which have none.

#mesh = #weft.mesh<"a"=2, "d"=2, "e"=2>
module attributes {weft.fuzz = "inputs=3616500838", weft.mesh = #mesh} {
  func.func @main(%arg0: tensor<2xui8> {weft.layout = #weft.layout<#mesh, [{"a", "d"}], at = {"e" = 0}>}, %arg1: tensor<2xi32>) -> tensor<2xui8> {
    %0 = weft.gather %arg0 at %arg1 {collapsed_slice_dims = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1>, start_index_map = array<i64: 0>} : tensor<2xui8>, tensor<2xi32> -> tensor<2xui8>
    %1 = weft.reduce max %0 dims [0] : tensor<2xui8> -> tensor<ui8>
    %2 = weft.convert %1 : tensor<ui8> -> tensor<i32>
    %3 = weft.case %2(%arg0) : tensor<i32>, (tensor<2xui8>) -> tensor<2xui8> {
    ^bb0(%arg2: tensor<2xui8>):
      weft.yield %arg2 : tensor<2xui8>
    }, {
    ^bb0(%arg2: tensor<2xui8>):
      weft.yield %arg2 : tensor<2xui8>
    }, {
    ^bb0(%arg2: tensor<2xui8>):
      %4 = weft.constant dense<0> : tensor<2xui8>
      weft.yield %4 : tensor<2xui8>
    }
    return %3 : tensor<2xui8>
  }
}

