// REQUIRES: nvptx
// RUN: env LD_LIBRARY_PATH=%weft_build/lib/fake-cuda weft-fuzz --program %s
// Elementwise ops on a scalar sum stood in front of the sum's loop (weft-fuzz --gpu --seed 55 --count 1 --compiled-every 1); the second sum is a tile.

#mesh = #weft.mesh<"a"=2>
module attributes {weft.fuzz = "inputs=55 compiled gpu", weft.mesh = #mesh} {
  func.func @main(%arg0: tensor<f32>, %x: tensor<2048xf32>, %y: tensor<2048xf32>) -> (tensor<f32>, tensor<f32>) {
    %0 = weft.constant dense<1.000000e+00> : tensor<f32>
    %1 = weft.reduce_window sum %0 {base_dilation = array<i64>, high = array<i64>, low = array<i64>, strides = array<i64>, window = array<i64>, window_dilation = array<i64>} : tensor<f32> -> tensor<f32>
    %2 = weft.round %1 : tensor<f32>
    %3 = weft.dot %x, %y contract [0] x [0] : tensor<2048xf32>, tensor<2048xf32> -> tensor<f32>
    %4 = weft.abs %3 : tensor<f32>
    return %2, %4 : tensor<f32>, tensor<f32>
  }
}
