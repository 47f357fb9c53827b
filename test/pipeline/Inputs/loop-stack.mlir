// Each of 6 rounds multiplies by a weight of its own, one of a stack that lies in parts on four devices.
#m = #weft.mesh<"d"=4>
module attributes {weft.mesh = #m} {
  func.func @main(%x: tensor<1024x64xf32> {weft.layout = #weft.layout<#m, [{"d"}, {}]>, weft.name = "x"}, %w: tensor<6x64x64xf32> {weft.layout = #weft.layout<#m, [{}, {"d"}, {}]>, weft.name = "w"}) -> (tensor<1024x64xf32> {weft.name = "y", weft.layout = #weft.layout<#m, [{"d"}, {}]>}) {
    %r:2 = weft.for 6 (%x, %w) : (tensor<1024x64xf32>, tensor<6x64x64xf32>) -> (tensor<1024x64xf32>, tensor<6x64x64xf32>) {
    ^bb0(%i: tensor<i32>, %c: tensor<1024x64xf32>, %v: tensor<6x64x64xf32>):
      %z = weft.constant dense<0> : tensor<i32>
      %s = weft.dynamic_slice %v at (%i, %z, %z) : (tensor<6x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x64xf32>
      %u = weft.reshape %s : tensor<1x64x64xf32> -> tensor<64x64xf32>
      %0 = weft.dot %c, %u contract [1] x [0] : tensor<1024x64xf32>, tensor<64x64xf32> -> tensor<1024x64xf32>
      %1 = weft.tanh %0 : tensor<1024x64xf32>
      weft.yield %1, %v : tensor<1024x64xf32>, tensor<6x64x64xf32>
    }
    return %r#0 : tensor<1024x64xf32>
  }
}
