// Data parallelism: the batch is split, weights are copies. Their gradients are
// summed in one all-reduce of P = 2 * 32 * 128 * 4 = 32768 bytes: 2(p-1)/p P.
#mesh = #weft.mesh<"data"=8>
#rows = #weft.layout<#mesh, [{"data"}, {}]>
#whole = #weft.layout<#mesh, [{}, {}]>
module attributes {weft.mesh = #mesh, weft.expect = "all_reduce=1, all_reduce.bytes=57344"} {
  func.func private @loss(%w1: tensor<32x128xf32>, %w2: tensor<128x32xf32>, %x: tensor<64x32xf32>) -> tensor<f32> {
    %h = weft.dot %x, %w1 contract [1] x [0] : tensor<64x32xf32>, tensor<32x128xf32> -> tensor<64x128xf32>
    %r = weft.relu %h : tensor<64x128xf32>
    %y = weft.dot %r, %w2 contract [1] x [0] : tensor<64x128xf32>, tensor<128x32xf32> -> tensor<64x32xf32>
    %l = weft.reduce sum %y dims [0, 1] : tensor<64x32xf32> -> tensor<f32>
    return %l : tensor<f32>
  }
  func.func @train(%w1: tensor<32x128xf32> {weft.name = "w1", weft.role = "weight", weft.donated = 0 : i64, weft.layout = #whole}, %w2: tensor<128x32xf32> {weft.name = "w2", weft.role = "weight", weft.donated = 1 : i64, weft.layout = #whole}, %x: tensor<64x32xf32> {weft.name = "x", weft.layout = #rows}) -> (tensor<32x128xf32> {weft.name = "w1"}, tensor<128x32xf32> {weft.name = "w2"}) {
    %v:3 = weft.value_and_grad @loss(%w1, %w2, %x) wrt [0, 1] : (tensor<32x128xf32>, tensor<128x32xf32>, tensor<64x32xf32>) -> (tensor<f32>, tensor<32x128xf32>, tensor<128x32xf32>)
    %new_w1 = weft.sub %w1, %v#1 : tensor<32x128xf32>
    %new_w2 = weft.sub %w2, %v#2 : tensor<128x32xf32>
    return %new_w1, %new_w2 : tensor<32x128xf32>, tensor<128x32xf32>
  }
}
