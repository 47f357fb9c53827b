// RUN: weft-opt %s --weft-deduplicate-kernels | FileCheck %s

// CHECK-LABEL: func.func @twice
// CHECK: %[[A:.*]] = call @elementwise_exp_4(%arg0)
// CHECK: %[[B:.*]] = call @elementwise_exp_4(%[[A]])
// CHECK: call @elementwise_log_4(%[[B]])
// CHECK-NOT: @elementwise_exp_4_0
func.func @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @elementwise_exp_4(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @elementwise_exp_4_0(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = call @elementwise_log_4(%1) : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
func.func private @elementwise_exp_4(%x: tensor<4xf32>) -> tensor<4xf32> attributes {weft.kernel = #weft.kernel<elementwise>} {
  %0 = weft.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @elementwise_exp_4_0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {weft.kernel = #weft.kernel<elementwise>} {
  %0 = weft.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @elementwise_log_4(%x: tensor<4xf32>) -> tensor<4xf32> attributes {weft.kernel = #weft.kernel<elementwise>} {
  %0 = weft.log %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
