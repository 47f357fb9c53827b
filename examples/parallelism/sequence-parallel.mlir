// Tensor and sequence parallelism: between the blocks the sequence is sharded. The
// all-reduces become gathers in front of the block and reduce-scatters behind it:
// the bytes are those of tensor-parallel.mlir, the memory between is an eighth.
#mesh = #weft.mesh<"model"=8>
#columns = #weft.layout<#mesh, [{}, {"model"}]>
#rows = #weft.layout<#mesh, [{"model"}, {}]>
#sequence = #weft.layout<#mesh, [{}, {"model"}, {}]>
module attributes {weft.mesh = #mesh, weft.expect = "all_gather=2, all_gather.bytes=7168, reduce_scatter=2, reduce_scatter.bytes=7168"} {
  func.func private @loss(%up: tensor<32x128xf32>, %down: tensor<128x32xf32>, %x: tensor<2x16x32xf32>) -> tensor<f32> {
    %x1 = weft.relu %x : tensor<2x16x32xf32>
    %h = weft.dot %x1, %up contract [2] x [0] : tensor<2x16x32xf32>, tensor<32x128xf32> -> tensor<2x16x128xf32>
    %r = weft.relu %h : tensor<2x16x128xf32>
    %y = weft.dot %r, %down contract [2] x [0] : tensor<2x16x128xf32>, tensor<128x32xf32> -> tensor<2x16x32xf32>
    %c = weft.constrain %y to #sequence : tensor<2x16x32xf32> -> tensor<2x16x32xf32>
    %z = weft.relu %c : tensor<2x16x32xf32>
    %l = weft.reduce sum %z dims [0, 1, 2] : tensor<2x16x32xf32> -> tensor<f32>
    return %l : tensor<f32>
  }
  func.func @gradients(%up: tensor<32x128xf32> {weft.name = "up", weft.layout = #columns}, %down: tensor<128x32xf32> {weft.name = "down", weft.layout = #rows}, %x: tensor<2x16x32xf32> {weft.name = "x", weft.layout = #sequence}) -> (tensor<32x128xf32>, tensor<128x32xf32>, tensor<2x16x32xf32>) {
    %v:4 = weft.value_and_grad @loss(%up, %down, %x) wrt [0, 1, 2] : (tensor<32x128xf32>, tensor<128x32xf32>, tensor<2x16x32xf32>) -> (tensor<f32>, tensor<32x128xf32>, tensor<128x32xf32>, tensor<2x16x32xf32>)
    return %v#1, %v#2, %v#3 : tensor<32x128xf32>, tensor<128x32xf32>, tensor<2x16x32xf32>
  }
}
