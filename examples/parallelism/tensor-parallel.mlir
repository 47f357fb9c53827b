// Megatron's tensor parallelism of a feed-forward block: the first weight is split
// in columns, the second in rows. One all-reduce of the result forward and one of
// the input's gradient backward, each 2(p-1)/p of 2 * 16 * 32 * 4 = 4096 bytes.
#mesh = #weft.mesh<"model"=8>
#columns = #weft.layout<#mesh, [{}, {"model"}]>
#rows = #weft.layout<#mesh, [{"model"}, {}]>
#whole = #weft.layout<#mesh, [{}, {}, {}]>
module attributes {weft.mesh = #mesh, weft.expect = "all_reduce=2, all_reduce.bytes=14336"} {
  func.func private @loss(%up: tensor<32x128xf32>, %down: tensor<128x32xf32>, %x: tensor<2x16x32xf32>) -> tensor<f32> {
    %x1 = weft.relu %x : tensor<2x16x32xf32>
    %h = weft.dot %x1, %up contract [2] x [0] : tensor<2x16x32xf32>, tensor<32x128xf32> -> tensor<2x16x128xf32>
    %r = weft.relu %h : tensor<2x16x128xf32>
    %y = weft.dot %r, %down contract [2] x [0] : tensor<2x16x128xf32>, tensor<128x32xf32> -> tensor<2x16x32xf32>
    %c = weft.constrain %y to #whole : tensor<2x16x32xf32> -> tensor<2x16x32xf32>
    %z = weft.relu %c : tensor<2x16x32xf32>
    %l = weft.reduce sum %z dims [0, 1, 2] : tensor<2x16x32xf32> -> tensor<f32>
    return %l : tensor<f32>
  }
  func.func @gradients(%up: tensor<32x128xf32> {weft.name = "up", weft.layout = #columns}, %down: tensor<128x32xf32> {weft.name = "down", weft.layout = #rows}, %x: tensor<2x16x32xf32> {weft.name = "x", weft.layout = #whole}) -> (tensor<32x128xf32>, tensor<128x32xf32>, tensor<2x16x32xf32>) {
    %v:4 = weft.value_and_grad @loss(%up, %down, %x) wrt [0, 1, 2] : (tensor<32x128xf32>, tensor<128x32xf32>, tensor<2x16x32xf32>) -> (tensor<f32>, tensor<32x128xf32>, tensor<128x32xf32>, tensor<2x16x32xf32>)
    return %v#1, %v#2, %v#3 : tensor<32x128xf32>, tensor<128x32xf32>, tensor<2x16x32xf32>
  }
}
