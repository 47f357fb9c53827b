// Each of 24 rounds multiplies by the same weight, which lies in parts on four devices.
#m = #weft.mesh<"d"=4>
module attributes {weft.mesh = #m} {
  func.func @main(%x: tensor<64x256xf32> {weft.layout = #weft.layout<#m, [{}, {}]>, weft.name = "x"}, %w: tensor<256x256xf32> {weft.layout = #weft.layout<#m, [{"d"}, {}]>, weft.name = "w"}) -> (tensor<64x256xf32> {weft.name = "y"}) {
    %r:2 = weft.for 24 (%x, %w) : (tensor<64x256xf32>, tensor<256x256xf32>) -> (tensor<64x256xf32>, tensor<256x256xf32>) {
    ^bb0(%i: tensor<i32>, %c: tensor<64x256xf32>, %v: tensor<256x256xf32>):
      %0 = weft.dot %c, %v contract [1] x [0] : tensor<64x256xf32>, tensor<256x256xf32> -> tensor<64x256xf32>
      %1 = weft.tanh %0 : tensor<64x256xf32>
      weft.yield %1, %v : tensor<64x256xf32>, tensor<256x256xf32>
    }
    return %r#0 : tensor<64x256xf32>
  }
}
