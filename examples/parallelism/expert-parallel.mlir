// Experts on devices: each device sends the tokens of its part of the batch to the
// experts that %d chooses, and gets them back: two all-to-alls forward and two
// backward, each (p-1)/p of the capacity 8 * 2 * 16 * 4 = 1024 bytes.
#mesh = #weft.mesh<"expert"=8>
#tokens = #weft.layout<#mesh, [{"expert"}, {}, {}]>
#dispatch = #weft.layout<#mesh, [{"expert"}, {}, {}, {}]>
#experts = #weft.layout<#mesh, [{"expert"}, {}, {}]>
module attributes {weft.mesh = #mesh, weft.expect = "all_to_all=4, all_to_all.bytes=3584"} {
  func.func private @loss(%w: tensor<8x16x16xf32>, %x: tensor<8x8x16xf32>, %d: tensor<8x8x8x2xf32>) -> tensor<f32> {
    %s = weft.dot %d, %x batch [0] x [0] contract [1] x [1] : tensor<8x8x8x2xf32>, tensor<8x8x16xf32> -> tensor<8x8x2x16xf32>
    %o = weft.dot %w, %s batch [0] x [1] contract [1] x [3] : tensor<8x16x16xf32>, tensor<8x8x2x16xf32> -> tensor<8x16x8x2xf32>
    %r = weft.relu %o : tensor<8x16x8x2xf32>
    %y = weft.dot %d, %r batch [0] x [2] contract [2, 3] x [0, 3] : tensor<8x8x8x2xf32>, tensor<8x16x8x2xf32> -> tensor<8x8x16xf32>
    %z = weft.relu %y : tensor<8x8x16xf32>
    %l = weft.reduce sum %z dims [0, 1, 2] : tensor<8x8x16xf32> -> tensor<f32>
    return %l : tensor<f32>
  }
  func.func @gradients(%w: tensor<8x16x16xf32> {weft.name = "w", weft.layout = #experts}, %x: tensor<8x8x16xf32> {weft.name = "x", weft.layout = #tokens}, %d: tensor<8x8x8x2xf32> {weft.name = "d", weft.layout = #dispatch}) -> (tensor<8x16x16xf32> {weft.layout = #experts}, tensor<8x8x16xf32> {weft.layout = #tokens}) {
    %g:3 = weft.value_and_grad @loss(%w, %x, %d) wrt [0, 1] : (tensor<8x16x16xf32>, tensor<8x8x16xf32>, tensor<8x8x8x2xf32>) -> (tensor<f32>, tensor<8x16x16xf32>, tensor<8x8x16xf32>)
    return %g#1, %g#2 : tensor<8x16x16xf32>, tensor<8x8x16xf32>
  }
}
