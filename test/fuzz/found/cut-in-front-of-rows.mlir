// REQUIRES: nvptx
// RUN: env LD_LIBRARY_PATH=%weft_build/lib/fake-cuda weft-fuzz --program %s
// A kernel of rows was cut so that the sum's positions are computed once; the ops in front of the cut had results of two shapes, which
// is more than one launch (weft-fuzz --gpu --seed 90454 --count 1 --ops 8 --compiled-every 1). Now they are not grouped.

#mesh = #weft.mesh<"a"=2, "b"=1>
#layout = #weft.layout<#mesh, [{}, {"a"}, {}]>
module attributes {weft.fuzz = "inputs=90454 compiled gpu", weft.mesh = #mesh} {
  func.func @main(%arg0: tensor<1x9x2xf64>) -> (tensor<f64>, tensor<1x9x2xf64> {weft.layout = #layout}) {
    %0 = weft.constant dense<1> : tensor<3xi32>
    %1 = weft.gather %arg0 at %0 {index_vector_dim = 0 : i64, offset_dims = array<i64: 0, 1, 2>, slice_sizes = array<i64: 1, 1, 2>, start_index_map = array<i64: 0, 1, 2>} : tensor<1x9x2xf64>, tensor<3xi32> -> tensor<1x1x2xf64>
    %2 = weft.concatenate %1, %1, %1 dim 1 : (tensor<1x1x2xf64>, tensor<1x1x2xf64>, tensor<1x1x2xf64>) -> tensor<1x3x2xf64>
    %3 = weft.reduce sum %2 dims [0, 1, 2] : tensor<1x3x2xf64> -> tensor<f64>
    return %3, %arg0 : tensor<f64>, tensor<1x9x2xf64>
  }
}
