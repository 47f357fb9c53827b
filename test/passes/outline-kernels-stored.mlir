// Operands that a convolution reads many times are stored before it (CopiedOps.cpp).
// RUN: weft-opt %s --weft-outline-kernels=target=cpu:avx512 | FileCheck %s

// Repeated rows and columns are no view of memory: each element is read by 9 x 32 products, so that a kernel stores them.
// CHECK-LABEL: func.func @upsampled
// CHECK-NEXT: %[[UP:.*]] = call @elementwise_broadcast_2x32x16x2x64(%arg0)
// CHECK-NEXT: call @general_convolution_2x32x32x32(%[[UP]], %arg1)
func.func @upsampled(%x: tensor<2x16x16x64xf32>, %w: tensor<3x3x64x32xf32>) -> tensor<2x32x32x32xf32> {
  %0 = weft.broadcast %x dims [0, 1, 3, 4] : tensor<2x16x16x64xf32> -> tensor<2x16x2x16x64xf32>
  %1 = weft.reshape %0 : tensor<2x16x2x16x64xf32> -> tensor<2x32x16x64xf32>
  %2 = weft.broadcast %1 dims [0, 1, 2, 4] : tensor<2x32x16x64xf32> -> tensor<2x32x16x2x64xf32>
  %3 = weft.reshape %2 : tensor<2x32x16x2x64xf32> -> tensor<2x32x32x64xf32>
  %4 = weft.convolution %3, %w {lhs_dims = array<i64: 0, 3, 1, 2>, rhs_dims = array<i64: 3, 2, 0, 1>, result_dims = array<i64: 0, 3, 1, 2>, strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, base_dilation = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>} : tensor<2x32x32x64xf32>, tensor<3x3x64x32xf32> -> tensor<2x32x32x32xf32>
  return %4 : tensor<2x32x32x32xf32>
}

// The derivative of a convolution's input: the kernel's output features are far apart, and each element has 128 products.
// CHECK-LABEL: func.func @to_input
// CHECK-NEXT: %[[TURNED:.*]] = call @elementwise_transpose_3x3x128x256(%arg1)
// CHECK-NEXT: call @general_convolution_2x8x8x256(%arg0, %[[TURNED]])
func.func @to_input(%g: tensor<2x8x8x128xf32>, %w: tensor<3x3x256x128xf32>) -> tensor<2x8x8x256xf32> {
  %0 = weft.reverse %w dims [0, 1] : tensor<3x3x256x128xf32>
  %1 = weft.convolution %g, %0 {lhs_dims = array<i64: 0, 3, 1, 2>, rhs_dims = array<i64: 2, 3, 0, 1>, result_dims = array<i64: 0, 3, 1, 2>, strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, base_dilation = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>} : tensor<2x8x8x128xf32>, tensor<3x3x256x128xf32> -> tensor<2x8x8x256xf32>
  return %1 : tensor<2x8x8x256xf32>
}

// With 8 products for an element a copy costs more than it saves.
// CHECK-LABEL: func.func @few_places
// CHECK-NEXT: call @general_convolution_1x3x3x256(%arg0, %arg1)
func.func @few_places(%g: tensor<1x3x3x128xf32>, %w: tensor<3x3x256x128xf32>) -> tensor<1x3x3x256xf32> {
  %0 = weft.reverse %w dims [0, 1] : tensor<3x3x256x128xf32>
  %1 = weft.convolution %g, %0 {lhs_dims = array<i64: 0, 3, 1, 2>, rhs_dims = array<i64: 2, 3, 0, 1>, result_dims = array<i64: 0, 3, 1, 2>, strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, base_dilation = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>} : tensor<1x3x3x128xf32>, tensor<3x3x256x128xf32> -> tensor<1x3x3x256xf32>
  return %1 : tensor<1x3x3x256xf32>
}

// Four columns fill a quarter of a vector: vectors run along the contraction, for which the columns are copied.
// CHECK-LABEL: func.func @thin
// CHECK-NEXT: %[[TURNED:.*]] = call @elementwise_transpose_4x512(%arg1)
// CHECK-NEXT: call @dot_8192x512x4(%arg0, %[[TURNED]])
func.func @thin(%x: tensor<8192x512xf32>, %w: tensor<512x4xf32>) -> tensor<8192x4xf32> {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<8192x512xf32>, tensor<512x4xf32> -> tensor<8192x4xf32>
  return %0 : tensor<8192x4xf32>
}
