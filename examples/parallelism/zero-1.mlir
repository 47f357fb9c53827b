// ZeRO-1 and 2: weights are copies, the optimizer's slots are sharded over the
// axis of the batch. The gradient is reduce-scattered to its slot's layout,
// and the updated weight is gathered: 2(p-1)/p P of P = 64 * 32 * 4 = 8192 bytes.
#mesh = #weft.mesh<"data"=8>
#rows = #weft.layout<#mesh, [{"data"}, {}]>
#whole = #weft.layout<#mesh, [{}, {}]>
module attributes {weft.mesh = #mesh, weft.expect = "all_gather=1, all_gather.bytes=7168, reduce_scatter=1, reduce_scatter.bytes=7168"} {
  func.func private @loss(%w: tensor<64x32xf32>, %x: tensor<512x64xf32>) -> tensor<f32> {
    %y = weft.dot %x, %w contract [1] x [0] : tensor<512x64xf32>, tensor<64x32xf32> -> tensor<512x32xf32>
    %r = weft.relu %y : tensor<512x32xf32>
    %l = weft.reduce sum %r dims [0, 1] : tensor<512x32xf32> -> tensor<f32>
    return %l : tensor<f32>
  }
  func.func @train(%w: tensor<64x32xf32> {weft.name = "w", weft.role = "weight", weft.donated = 0 : i64, weft.layout = #whole}, %m: tensor<64x32xf32> {weft.name = "m", weft.role = "slot", weft.donated = 1 : i64, weft.layout = #rows}, %x: tensor<512x64xf32> {weft.name = "x", weft.layout = #rows}) -> (tensor<64x32xf32> {weft.name = "w"}, tensor<64x32xf32> {weft.name = "m"}) {
    %v:2 = weft.value_and_grad @loss(%w, %x) wrt [0] : (tensor<64x32xf32>, tensor<512x64xf32>) -> (tensor<f32>, tensor<64x32xf32>)
    %m1 = weft.add %m, %v#1 : tensor<64x32xf32>
    %w1 = weft.sub %w, %m1 : tensor<64x32xf32>
    return %w1, %m1 : tensor<64x32xf32>, tensor<64x32xf32>
  }
}
