// A result of a kernel for GPUs was read at another position by a second result,
// which one nest does not do.
// REQUIRES: nvptx
// RUN: env LD_LIBRARY_PATH=%weft_build/lib/fake-cuda weft-fuzz --program %s

#mesh = #weft.mesh<"a"=3>
#layout = #weft.layout<#mesh, [{"a"}]>
module attributes {weft.fuzz = "inputs=65 compiled gpu explained", weft.mesh = #mesh} {
  func.func @main(%arg0: tensor<2xui16> {weft.layout = #layout}, %arg1: tensor<1x1xi32>) -> (tensor<1xf64> {weft.error_bound = 4.800000e-16 : f64}, tensor<1xf64> {weft.error_bound = 4.320000e-15 : f64, weft.layout = #layout}) {
    %0 = weft.constant dense<1.000000e+00> : tensor<1x1xf64>
    %1 = weft.gather %arg0 at %arg1 {collapsed_slice_dims = array<i64: 0>, index_vector_dim = 2 : i64, slice_sizes = array<i64: 1>, start_index_map = array<i64: 0>} : tensor<2xui16>, tensor<1x1xi32> -> tensor<1x1xui16>
    %2 = weft.constant dense<-1.000000e+02> : tensor<f64>
    %3 = weft.constant dense<0> : tensor<ui16>
    %4:2 = weft.fold %0, %1 from %2, %3 dims [0] : (tensor<1x1xf64>, tensor<1x1xui16>, tensor<f64>, tensor<ui16>) -> (tensor<1xf64>, tensor<1xui16>) {
    ^bb0(%arg2: tensor<f64>, %arg3: tensor<ui16>, %arg4: tensor<f64>, %arg5: tensor<ui16>):
      weft.yield %arg4, %arg5 : tensor<f64>, tensor<ui16>
    }
    %5 = weft.abs %4#0 : tensor<1xf64>
    %6 = weft.log1p %5 : tensor<1xf64>
    return %5, %6 : tensor<1xf64>, tensor<1xf64>
  }
}

