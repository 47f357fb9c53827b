// Ulysses: the sequence is sharded, and attention wants whole sequences of some
// heads. Queries, keys, values and the result change places by all-to-alls, and
// their gradients back: 8(p-1)/p of 1 * 16 * 8 * 4 * 4 / p = 256 bytes each.
#mesh = #weft.mesh<"sequence"=8>
#sequence = #weft.layout<#mesh, [{}, {"sequence"}, {}, {}]>
#heads = #weft.layout<#mesh, [{}, {}, {"sequence"}, {}]>
module attributes {weft.mesh = #mesh, weft.expect = "all_to_all=8, all_to_all.bytes=1792"} {
  func.func private @loss(%q: tensor<1x16x8x4xf32>, %k: tensor<1x16x8x4xf32>, %v: tensor<1x16x8x4xf32>) -> tensor<f32> {
    %q1 = weft.constrain %q to #heads : tensor<1x16x8x4xf32> -> tensor<1x16x8x4xf32>
    %k1 = weft.constrain %k to #heads : tensor<1x16x8x4xf32> -> tensor<1x16x8x4xf32>
    %v1 = weft.constrain %v to #heads : tensor<1x16x8x4xf32> -> tensor<1x16x8x4xf32>
    %a = weft.dot %q1, %k1 batch [0, 2] x [0, 2] contract [3] x [3] : tensor<1x16x8x4xf32>, tensor<1x16x8x4xf32> -> tensor<1x8x16x16xf32>
    %r = weft.relu %a : tensor<1x8x16x16xf32>
    %o = weft.dot %r, %v1 batch [0, 1] x [0, 2] contract [3] x [1] : tensor<1x8x16x16xf32>, tensor<1x16x8x4xf32> -> tensor<1x8x16x4xf32>
    %t = weft.transpose %o [0, 2, 1, 3] : tensor<1x8x16x4xf32> -> tensor<1x16x8x4xf32>
    %y = weft.constrain %t to #sequence : tensor<1x16x8x4xf32> -> tensor<1x16x8x4xf32>
    %z = weft.mul %y, %y : tensor<1x16x8x4xf32>
    %l = weft.reduce sum %z dims [0, 1, 2, 3] : tensor<1x16x8x4xf32> -> tensor<f32>
    return %l : tensor<f32>
  }
  func.func @gradients(%q: tensor<1x16x8x4xf32> {weft.name = "q", weft.layout = #sequence}, %k: tensor<1x16x8x4xf32> {weft.name = "k", weft.layout = #sequence}, %v: tensor<1x16x8x4xf32> {weft.name = "v", weft.layout = #sequence}) -> (tensor<1x16x8x4xf32> {weft.layout = #sequence}, tensor<1x16x8x4xf32> {weft.layout = #sequence}, tensor<1x16x8x4xf32> {weft.layout = #sequence}) {
    %g:4 = weft.value_and_grad @loss(%q, %k, %v) wrt [0, 1, 2] : (tensor<1x16x8x4xf32>, tensor<1x16x8x4xf32>, tensor<1x16x8x4xf32>) -> (tensor<f32>, tensor<1x16x8x4xf32>, tensor<1x16x8x4xf32>, tensor<1x16x8x4xf32>)
    return %g#1, %g#2, %g#3 : tensor<1x16x8x4xf32>, tensor<1x16x8x4xf32>, tensor<1x16x8x4xf32>
  }
}
