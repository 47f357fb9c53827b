// ZeRO-3, FSDP: weights are sharded over the axis of the batch. Each is gathered
// before its use, kept for the backward pass, and its gradient reduce-scattered:
// 2(p-1)/p P = 57344 bytes. Gathering again in the backward pass would need no
// memory for the gathered weights, and 3(p-1)/p P = 86016.
#mesh = #weft.mesh<"data"=8>
#rows = #weft.layout<#mesh, [{"data"}, {}]>
module attributes {weft.mesh = #mesh, weft.expect = "all_gather=2, all_gather.bytes=28672, reduce_scatter=2, reduce_scatter.bytes=28672"} {
  func.func private @loss(%w1: tensor<32x128xf32>, %w2: tensor<128x32xf32>, %x: tensor<512x32xf32>) -> tensor<f32> {
    %h = weft.dot %x, %w1 contract [1] x [0] : tensor<512x32xf32>, tensor<32x128xf32> -> tensor<512x128xf32>
    %r = weft.relu %h : tensor<512x128xf32>
    %y = weft.dot %r, %w2 contract [1] x [0] : tensor<512x128xf32>, tensor<128x32xf32> -> tensor<512x32xf32>
    %l = weft.reduce sum %y dims [0, 1] : tensor<512x32xf32> -> tensor<f32>
    return %l : tensor<f32>
  }
  func.func @train(%w1: tensor<32x128xf32> {weft.name = "w1", weft.role = "weight", weft.donated = 0 : i64, weft.layout = #rows}, %w2: tensor<128x32xf32> {weft.name = "w2", weft.role = "weight", weft.donated = 1 : i64, weft.layout = #rows}, %x: tensor<512x32xf32> {weft.name = "x", weft.layout = #rows}) -> (tensor<32x128xf32> {weft.name = "w1"}, tensor<128x32xf32> {weft.name = "w2"}) {
    %v:3 = weft.value_and_grad @loss(%w1, %w2, %x) wrt [0, 1] : (tensor<32x128xf32>, tensor<128x32xf32>, tensor<512x32xf32>) -> (tensor<f32>, tensor<32x128xf32>, tensor<128x32xf32>)
    %new_w1 = weft.sub %w1, %v#1 : tensor<32x128xf32>
    %new_w2 = weft.sub %w2, %v#2 : tensor<128x32xf32>
    return %new_w1, %new_w2 : tensor<32x128xf32>, tensor<128x32xf32>
  }
}
