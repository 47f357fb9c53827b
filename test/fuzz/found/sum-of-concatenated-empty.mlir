// The loop of a sum over no elements has code, which read an element of concatenated tensors that have none.
// RUN: weft-fuzz --program %s

#mesh = #weft.mesh<"a"=2>
module attributes {weft.fuzz = "inputs=90093 compiled", weft.mesh = #mesh} {
  func.func @main(%arg0: tensor<4x0xf32>, %arg1: tensor<4x0xf32>) -> tensor<4xf32> {
    %0 = weft.concatenate %arg1, %arg0 dim 1 : (tensor<4x0xf32>, tensor<4x0xf32>) -> tensor<4x0xf32>
    %1 = weft.reduce sum %0 dims [1] : tensor<4x0xf32> -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}
