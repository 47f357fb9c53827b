// A thread read an element of concatenated tensors that have none.
// REQUIRES: nvptx
// RUN: env LD_LIBRARY_PATH=%weft_build/lib/fake-cuda weft-fuzz --program %s

#mesh = #weft.mesh<"a"=2>
module attributes {weft.fuzz = "inputs=90093 compiled gpu", weft.mesh = #mesh} {
  func.func @main(%arg0: tensor<1x1x1x0xf32>, %arg1: tensor<1x1x1x0xf32>) -> tensor<1x1x1x0xf32> {
    %0 = weft.concatenate %arg1, %arg0 dim 3 : (tensor<1x1x1x0xf32>, tensor<1x1x1x0xf32>) -> tensor<1x1x1x0xf32>
    return %0 : tensor<1x1x1x0xf32>
  }
}
