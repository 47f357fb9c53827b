// RUN: weft-opt %s --split-input-file --verify-diagnostics --weft-propagate-layouts

#mesh = #weft.mesh<"branch"=2, "data"=2>
module attributes {weft.mesh = #mesh} {
  func.func @two_parts_in_a_branch(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
    %y = weft.case %p(%x) : tensor<i1>, (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%v: tensor<4xf32>):
      %0 = weft.constrain %v to #weft.layout<#mesh, [{}], at = {"branch" = 0}> : tensor<4xf32> -> tensor<4xf32>
      // expected-error @+1 {{puts a value on "branch"=1, but the op with regions around it runs on "branch"=0; put all values of its regions on one part}}
      %1 = weft.constrain %0 to #weft.layout<#mesh, [{}], at = {"branch" = 1}> : tensor<4xf32> -> tensor<4xf32>
      weft.yield %1 : tensor<4xf32>
    }, {
    ^bb0(%v: tensor<4xf32>):
      weft.yield %v : tensor<4xf32>
    }
    return %y : tensor<4xf32>
  }
}
