// Each round needs the whole sum.
#mesh = #weft.mesh<"d"=2>
module attributes {weft.mesh = #mesh} {
  func.func @main(%x: tensor<8x4xf32> {weft.name = "x", weft.layout = #weft.layout<#mesh, [{}, {"d"}]>},
                  %w: tensor<4x8xf32> {weft.name = "w", weft.layout = #weft.layout<#mesh, [{"d"}, {}]>}) -> (tensor<8x4xf32> {weft.name = "y"}) {
    %0:2 = weft.for 5 (%x, %w) : (tensor<8x4xf32>, tensor<4x8xf32>) -> (tensor<8x4xf32>, tensor<4x8xf32>) {
    ^bb0(%i: tensor<i32>, %v: tensor<8x4xf32>, %u: tensor<4x8xf32>):
      %1 = weft.dot %v, %u contract [1] x [0] : tensor<8x4xf32>, tensor<4x8xf32> -> tensor<8x8xf32>
      %2 = weft.tanh %1 : tensor<8x8xf32>
      %3 = weft.dot %2, %u contract [1] x [1] : tensor<8x8xf32>, tensor<4x8xf32> -> tensor<8x4xf32>
      weft.yield %3, %u : tensor<8x4xf32>, tensor<4x8xf32>
    }
    return %0#0 : tensor<8x4xf32>
  }
}
