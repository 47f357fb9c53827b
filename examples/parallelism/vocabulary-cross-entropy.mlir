// Cross entropy over a vocabulary that is split: only the largest logit, the sum
// of the exponentials and the logit of the label are combined, each by an
// all-reduce of 2 * 16 * 4 = 128 bytes; the last two are one collective. The
// gradient needs no collective, as the largest logit is a constant to it.
// TOLERANCE: 1e-5
#mesh = #weft.mesh<"model"=8>
#split = #weft.layout<#mesh, [{}, {}, {"model"}]>
#rows = #weft.layout<#mesh, [{}, {}]>
module attributes {weft.mesh = #mesh, weft.expect = "all_reduce=2, all_reduce.bytes=672"} {
  func.func private @loss(%z: tensor<2x16x64xf32>, %i: tensor<2x16xi32>) -> tensor<f32> {
    %k = weft.stop_gradient %z : tensor<2x16x64xf32>
    %m0 = weft.reduce max %k dims [2] : tensor<2x16x64xf32> -> tensor<2x16xf32>
    %m = weft.broadcast %m0 dims [0, 1] : tensor<2x16xf32> -> tensor<2x16x64xf32>
    %c = weft.sub %z, %m : tensor<2x16x64xf32>
    %e = weft.exp %c : tensor<2x16x64xf32>
    %s = weft.reduce sum %e dims [2] : tensor<2x16x64xf32> -> tensor<2x16xf32>
    %n = weft.log %s : tensor<2x16xf32>
    %h = weft.one_hot %i dim 2 : tensor<2x16xi32> -> tensor<2x16x64xf32>
    %p = weft.mul %h, %c : tensor<2x16x64xf32>
    %q = weft.reduce sum %p dims [2] : tensor<2x16x64xf32> -> tensor<2x16xf32>
    %r = weft.sub %n, %q : tensor<2x16xf32>
    %l = weft.reduce sum %r dims [0, 1] : tensor<2x16xf32> -> tensor<f32>
    return %l : tensor<f32>
  }
  func.func @gradient(%z: tensor<2x16x64xf32> {weft.name = "logits", weft.layout = #split}, %i: tensor<2x16xi32> {weft.name = "labels", weft.layout = #rows}) -> (tensor<f32>, tensor<2x16x64xf32> {weft.layout = #split}) {
    %g:2 = weft.value_and_grad @loss(%z, %i) wrt [0] : (tensor<2x16x64xf32>, tensor<2x16xi32>) -> (tensor<f32>, tensor<2x16x64xf32>)
    return %g#0, %g#1 : tensor<f32>, tensor<2x16x64xf32>
  }
}
