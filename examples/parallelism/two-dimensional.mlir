// Batch and features are both sharded, and weights over both axes (GSPMD's
// "finalised" layout): weights are gathered over "data" and kept, the input over
// "model", gradients reduce-scattered over "data". With W = 32 * 128 * 4 bytes of
// each weight on "model" halves, and X = 64 * 32 * 4 of the input: 2 * 3/4 W/2 + 1/2 X
// gathered, 2 * 3/4 W/2 scattered. The loss is a sum, so nothing else moves.
#mesh = #weft.mesh<"data"=4, "model"=2>
#x = #weft.layout<#mesh, [{"data"}, {"model"}]>
#up = #weft.layout<#mesh, [{"data"}, {"model"}]>
#down = #weft.layout<#mesh, [{"model"}, {"data"}]>
module attributes {weft.mesh = #mesh, weft.expect = "all_gather=3, all_gather.bytes=16384, reduce_scatter=2, reduce_scatter.bytes=12288"} {
  func.func private @loss(%w1: tensor<32x128xf32>, %w2: tensor<128x32xf32>, %x: tensor<256x32xf32>) -> tensor<f32> {
    %h = weft.dot %x, %w1 contract [1] x [0] : tensor<256x32xf32>, tensor<32x128xf32> -> tensor<256x128xf32>
    %r = weft.relu %h : tensor<256x128xf32>
    %y = weft.dot %r, %w2 contract [1] x [0] : tensor<256x128xf32>, tensor<128x32xf32> -> tensor<256x32xf32>
    %l = weft.reduce sum %y dims [0, 1] : tensor<256x32xf32> -> tensor<f32>
    return %l : tensor<f32>
  }
  func.func @train(%w1: tensor<32x128xf32> {weft.name = "w1", weft.role = "weight", weft.donated = 0 : i64, weft.layout = #up}, %w2: tensor<128x32xf32> {weft.name = "w2", weft.role = "weight", weft.donated = 1 : i64, weft.layout = #down}, %x: tensor<256x32xf32> {weft.name = "x", weft.layout = #x}) -> (tensor<32x128xf32> {weft.name = "w1"}, tensor<128x32xf32> {weft.name = "w2"}) {
    %v:3 = weft.value_and_grad @loss(%w1, %w2, %x) wrt [0, 1] : (tensor<32x128xf32>, tensor<128x32xf32>, tensor<256x32xf32>) -> (tensor<f32>, tensor<32x128xf32>, tensor<128x32xf32>)
    %new_w1 = weft.sub %w1, %v#1 : tensor<32x128xf32>
    %new_w2 = weft.sub %w2, %v#2 : tensor<128x32xf32>
    return %new_w1, %new_w2 : tensor<32x128xf32>, tensor<128x32xf32>
  }
}
