// Gradients of depthwise kernels become sums, one for each position, on targets whose kernels are launches.
// RUN: weft-opt %s --weft-sum-depthwise=target=cuda:sm_90a | FileCheck %s
// RUN: weft-opt %s --weft-sum-depthwise=target=cpu:avx2 | FileCheck %s --check-prefix=CPU
// CPU-NOT: weft.reduce

// CHECK-LABEL: @kernel
// CHECK-DAG: %[[P:.*]] = weft.pad %arg0 low [0, 1, 1, 0] high [0, 1, 1, 0] interior [0, 0, 0, 0]
// CHECK-DAG: %[[G:.*]] = weft.convert %arg1 : tensor<64x14x14x96xbf16> -> tensor<64x14x14x96xf32>
// CHECK: %[[S:.*]] = weft.slice %[[P]] from [0, 0, 0, 0] to [64, 14, 14, 96] by [1, 1, 1, 1]
// CHECK: %[[X:.*]] = weft.convert %[[S]] : tensor<64x14x14x96xbf16> -> tensor<64x14x14x96xf32>
// CHECK: %[[M:.*]] = weft.mul %[[X]], %[[G]]
// CHECK: weft.reduce sum %[[M]] dims [0, 1, 2] : tensor<64x14x14x96xf32> -> tensor<96xf32>
// CHECK: weft.slice %[[P]] from [0, 0, 1, 0] to [64, 14, 15, 96] by [1, 1, 1, 1]
// CHECK-COUNT-8: weft.reduce sum
// CHECK: weft.concatenate {{.*}} dim 0
// CHECK: weft.reshape {{.*}} -> tensor<3x3x96xf32>
// CHECK: weft.reshape {{.*}} -> tensor<3x3x1x96xf32>
func.func @kernel(%x: tensor<64x14x14x96xbf16>, %g: tensor<64x14x14x96xbf16>) -> tensor<3x3x1x96xf32> {
  %0 = weft.convolution %x, %g {base_dilation = array<i64: 1, 1>, batch_groups = 96 : i64, high = array<i64: 1, 1>, lhs_dims = array<i64: 3, 0, 1, 2>, low = array<i64: 1, 1>, result_dims = array<i64: 2, 3, 0, 1>, rhs_dims = array<i64: 3, 0, 1, 2>, strides = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>} : tensor<64x14x14x96xbf16>, tensor<64x14x14x96xbf16> -> tensor<3x3x1x96xf32>
  return %0 : tensor<3x3x1x96xf32>
}

// The forward convolution had steps of two, and its last row was not reached.
// CHECK-LABEL: @steps
// CHECK: %[[P:.*]] = weft.pad %arg0 low [0, 0, 0, 0] high [0, -1, 0, 0] interior [0, 0, 0, 0]
// CHECK: weft.slice %[[P]] from [0, 2, 1, 0] to [64, 15, 14, 96] by [1, 2, 2, 1]
func.func @steps(%x: tensor<64x16x15x96xf32>, %g: tensor<64x7x7x96xf32>) -> tensor<3x3x1x96xf32> {
  %0 = weft.convolution %x, %g {base_dilation = array<i64: 1, 1>, batch_groups = 96 : i64, high = array<i64: -1, 0>, lhs_dims = array<i64: 3, 0, 1, 2>, low = array<i64: 0, 0>, result_dims = array<i64: 2, 3, 0, 1>, rhs_dims = array<i64: 3, 0, 1, 2>, strides = array<i64: 1, 1>, window_dilation = array<i64: 2, 2>} : tensor<64x16x15x96xf32>, tensor<64x7x7x96xf32> -> tensor<3x3x1x96xf32>
  return %0 : tensor<3x3x1x96xf32>
}

// Groups of several channels, and the forward convolution, stay.
// CHECK-LABEL: @stay
// CHECK-NOT: weft.reduce
// CHECK: return
func.func @stay(%x: tensor<64x14x14x96xf32>, %g: tensor<64x14x14x96xf32>, %w: tensor<3x3x1x96xf32>) -> (tensor<3x3x2x96xf32>, tensor<64x14x14x96xf32>) {
  %0 = weft.convolution %x, %g {base_dilation = array<i64: 1, 1>, batch_groups = 48 : i64, high = array<i64: 1, 1>, lhs_dims = array<i64: 3, 0, 1, 2>, low = array<i64: 1, 1>, result_dims = array<i64: 2, 3, 0, 1>, rhs_dims = array<i64: 3, 0, 1, 2>, strides = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>} : tensor<64x14x14x96xf32>, tensor<64x14x14x96xf32> -> tensor<3x3x2x96xf32>
  %1 = weft.convolution %x, %w {base_dilation = array<i64: 1, 1>, feature_groups = 96 : i64, high = array<i64: 1, 1>, lhs_dims = array<i64: 0, 3, 1, 2>, low = array<i64: 1, 1>, result_dims = array<i64: 0, 3, 1, 2>, rhs_dims = array<i64: 3, 2, 0, 1>, strides = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>} : tensor<64x14x14x96xf32>, tensor<3x3x1x96xf32> -> tensor<64x14x14x96xf32>
  return %0, %1 : tensor<3x3x2x96xf32>, tensor<64x14x14x96xf32>
}
