// RUN: weft-fuzz --program %s
// Reduced from: weft-fuzz --seed 100062 --count 1 --ops 8 --compiled-every 1
// It was refused:
//   kernel 'elementwise_convert_make_partial_scalar' cannot be compiled for cpu:avx2: kernel 'elementwise_convert_make_partial_scalar' is called elementwise but needs 2 loop nests instead of 1; its results must have one shape
//   the program is not compiled

#mesh = #weft.mesh<"a"=2>
#layout = #weft.layout<#mesh, [{}, {}, {"a"}, {}]>
module attributes {weft.fuzz = "inputs=100062 detours=100062 compiled", weft.mesh = #mesh} {
  func.func @main(%arg0: tensor<1x1x1x1xf32>, %arg1: tensor<f32>, %arg2: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
    %0 = weft.constrain %arg2 to #layout : tensor<1x1x1x1xf32> -> tensor<1x1x1x1xf32>
    %1 = weft.convert %arg1 : tensor<f32> -> tensor<i32>
    %2 = weft.reduce max %0 dims [0, 1, 2, 3] : tensor<1x1x1x1xf32> -> tensor<f32>
    %3 = weft.convert %2 : tensor<f32> -> tensor<i32>
    %4 = weft.reduce max %0 dims [0, 1, 2, 3] : tensor<1x1x1x1xf32> -> tensor<f32>
    %5 = weft.convert %4 : tensor<f32> -> tensor<i32>
    %6 = weft.reduce max %arg2 dims [0, 1, 2, 3] : tensor<1x1x1x1xf32> -> tensor<f32>
    %7 = weft.convert %6 : tensor<f32> -> tensor<i32>
    %8 = weft.dynamic_slice %arg0 at(%1, %3, %5, %7) : (tensor<1x1x1x1xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1x1x1xf32>
    return %8 : tensor<1x1x1x1xf32>
  }
}

