// Upstream: "sharding interface is not implemented" for scf.for. Here gradients
// of five batches are added up: one all-reduce behind the loop, not five.
// SENDS: all_reduce 1 48
#mesh = #weft.mesh<"d"=2>
#rows = #weft.layout<#mesh, [{}, {"d"}, {}]>
module attributes {weft.mesh = #mesh} {
  func.func @main(%x: tensor<5x8x4xf32> {weft.layout = #rows}, %d: tensor<5x8x3xf32> {weft.layout = #rows}) -> tensor<4x3xf32> {
    %zero = weft.constant dense<0.0> : tensor<4x3xf32>
    %origin = weft.constant dense<0> : tensor<i32>
    %r:4 = weft.for 5 (%zero, %x, %d, %origin) : (tensor<4x3xf32>, tensor<5x8x4xf32>, tensor<5x8x3xf32>, tensor<i32>) -> (tensor<4x3xf32>, tensor<5x8x4xf32>, tensor<5x8x3xf32>, tensor<i32>) {
    ^bb0(%i: tensor<i32>, %sum: tensor<4x3xf32>, %xs: tensor<5x8x4xf32>, %ds: tensor<5x8x3xf32>, %o: tensor<i32>):
      %x1 = weft.dynamic_slice %xs at (%i, %o, %o) : (tensor<5x8x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x4xf32>
      %d1 = weft.dynamic_slice %ds at (%i, %o, %o) : (tensor<5x8x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x3xf32>
      %x2 = weft.reshape %x1 : tensor<1x8x4xf32> -> tensor<8x4xf32>
      %d2 = weft.reshape %d1 : tensor<1x8x3xf32> -> tensor<8x3xf32>
      %g = weft.dot %x2, %d2 contract [0] x [0] : tensor<8x4xf32>, tensor<8x3xf32> -> tensor<4x3xf32>
      %s = weft.add %sum, %g : tensor<4x3xf32>
      weft.yield %s, %xs, %ds, %o : tensor<4x3xf32>, tensor<5x8x4xf32>, tensor<5x8x3xf32>, tensor<i32>
    }
    return %r#0 : tensor<4x3xf32>
  }
}
