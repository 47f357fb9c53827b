// RUN: weft-fuzz --program %s
// Reduced from: weft-fuzz --seed 97001442 --count 1 --ops 8 --compiled-every 20
// The way of a reshard that was found without search sliced dimension 0, gathered
// it again, and had the gather of dimension 1 follow the slice:
//   'coll.all_gather' op dim 0 should keep its size 1, but the result has 2

#mesh = #weft.mesh<"a"=2, "b"=2, "c"=2, "d"=2, "e"=2>
#layout = #weft.layout<#mesh, [{}, {"c", "d"}], partial = max{"b", "e"}>
module attributes {weft.fuzz = "inputs=97001442 detours=97001442", weft.mesh = #mesh} {
  func.func @main(%arg0: tensor<2x9xf32>, %arg1: tensor<2x9xf32>) -> (tensor<f32>, tensor<2x9xf32> {weft.layout = #layout}, tensor<f16>) {
    %0 = weft.constant dense<1.000000e+00> : tensor<f16>
    %1 = weft.reduce_window sum %arg0 {base_dilation = array<i64: 1, 1>, high = array<i64: 0, 0>, low = array<i64: 1, 0>, strides = array<i64: 2, 1>, window = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>} : tensor<2x9xf32> -> tensor<2x9xf32>
    %2 = weft.constant dense<2.000000e+00> : tensor<f32>
    %3 = weft.pad %1 with %2 low [0, 0] high [2, 2] interior [0, 0] : tensor<2x9xf32>, tensor<f32> -> tensor<4x11xf32>
    %4 = weft.reduce sum %3 dims [0, 1] : tensor<4x11xf32> -> tensor<f32>
    %5 = weft.slice %arg1 from [0, 0] to [2, 9] by [1, 1] : tensor<2x9xf32> -> tensor<2x9xf32>
    %6 = weft.reduce_window sum %5 {base_dilation = array<i64: 3, 1>, high = array<i64: 0, 0>, low = array<i64: -1, 0>, strides = array<i64: 1, 1>, window = array<i64: 2, 1>, window_dilation = array<i64: 1, 1>} : tensor<2x9xf32> -> tensor<2x9xf32>
    return %4, %6, %0 : tensor<f32>, tensor<2x9xf32>, tensor<f16>
  }
}

